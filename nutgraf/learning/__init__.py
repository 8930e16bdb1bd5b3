"""Training and search that know no model: the loop, batches, the shortlisted softmax, sampling and beam search."""
