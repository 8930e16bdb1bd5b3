"""The systems that the tables of the paper compare with (Tables 2 and 3), small and faithful."""
