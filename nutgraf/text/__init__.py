"""Text: reading, tokenising and its way back, word lists, corpora of word ids, embeddings."""
