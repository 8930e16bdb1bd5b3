"""The models, by the paper's names: the three initializers, Lead, and the convolutional seq2seq."""
