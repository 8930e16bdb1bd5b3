"""The demo's corpus: real newswire if it can be fetched, else generated newswire."""
