"""nutgraf: a summariser that learns from two piles of text that were never paired."""
