"""Which examples are trained on together, and sentences as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus, pad_sentences
from nutgraf.text.lexicon import Ids


def pad_batch(sentences: Sequence[Ids]) -> Tensor:
    """Return (sentences, longest + 1) int64: each sentence, EOS, then PAD."""
    return torch.from_numpy(pad_sentences(sentences))


def gather_batch(corpus: Corpus, indices: NDArray[np.int64]) -> Tensor:
    """Return what `pad_batch` would for these sentences of a corpus."""
    return torch.from_numpy(corpus.pad(indices))


class Batches:
    """Which examples are in batch number n: shuffled each epoch, examples of similar length together.

    `lengths` is (n,) or (n, 2); examples are sorted by the first column, then the second, within pools of 50 batches.
    """

    def __init__(self, lengths: NDArray[np.int64], batch: int, key: str):
        if len(lengths) == 0:
            raise ValueError("no examples to train on")
        self._lengths = lengths.reshape(len(lengths), -1)
        self._batch = min(batch, len(lengths))
        self._key = key
        self._epoch = -1
        self._batches: list[NDArray[np.int64]] = []

    @property
    def per_epoch(self) -> int:
        """The number of batches in an epoch; a rest too small for a batch is left out, a different one each epoch."""
        return len(self._lengths) // self._batch

    def __call__(self, step: int) -> NDArray[np.int64]:
        """Return the indices of batch number `step`."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self._shuffle(epoch)
        return self._batches[place]

    def _shuffle(self, epoch: int) -> list[NDArray[np.int64]]:
        rng = np.random.default_rng(seed_of(self._key, "epoch", epoch))
        order = rng.permutation(len(self._lengths))[: self.per_epoch * self._batch]
        batches: list[NDArray[np.int64]] = []
        for pool in np.array_split(order, range(50 * self._batch, len(order), 50 * self._batch)):
            by_length = pool[np.lexsort(self._lengths[pool].T[::-1])]
            batches += np.split(by_length, len(by_length) // self._batch)
        return [batches[i] for i in rng.permutation(len(batches))]
