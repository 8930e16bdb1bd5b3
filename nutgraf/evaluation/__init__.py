"""What summarizers score: ROUGE, tables, samples."""
