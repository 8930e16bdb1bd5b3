"""Summaries of raw text by a trained model, from a run folder or an export."""
