"""Trainings that are compared with each other: LOG.md and RESULTS.md have what came of them."""
