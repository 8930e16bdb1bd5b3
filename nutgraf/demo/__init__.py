"""The demo's corpus: real newswire where it can be fetched, generated newswire where not."""
