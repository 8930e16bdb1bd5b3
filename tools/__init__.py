"""What makes the project, and is not shipped with it."""
