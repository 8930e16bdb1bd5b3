"""The convolutional seq2seq model, the one training loop and the one search."""
