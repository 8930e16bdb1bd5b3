"""Which examples are trained on together, and sentences as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nutgraf.seeds import seed_of
from nutgraf.text.corpus import pad_sentences
from nutgraf.text.lexicon import Ids
from nutgraf.text.selection import Sentences


def pad_batch(sentences: Sequence[Ids]) -> Tensor:
    """Return (sentences, longest + 1) int64: each sentence, EOS, then PAD."""
    return torch.from_numpy(pad_sentences(sentences))


def gather_batch(corpus: Sentences, indices: NDArray[np.int64]) -> Tensor:
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
        self._batches: NDArray[np.int64] = np.zeros((0, self._batch), dtype=np.int64)
        self._order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    def per_epoch(self) -> int:
        """The number of batches in an epoch; a rest too small for a batch is left out, a different one each epoch."""
        return len(self._lengths) // self._batch

    def __call__(self, step: int) -> NDArray[np.int64]:
        """Return the indices of batch number `step`."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._shuffle(epoch)
        batch: NDArray[np.int64] = self._batches[self._order[place]]
        return batch

    def _shuffle(self, epoch: int) -> None:
        """Fill in the batches of an epoch (batches, examples), and the order that they come in."""
        rng = np.random.default_rng(seed_of(self._key, "epoch", epoch))
        shuffled = rng.permutation(len(self._lengths))[: self.per_epoch * self._batch]
        for start in range(0, len(shuffled), 50 * self._batch):
            pool = shuffled[start : start + 50 * self._batch]
            pool[:] = pool[np.lexsort(self._lengths[pool].T[::-1])]
        self._batches, self._order = shuffled.reshape(-1, self._batch), rng.permutation(self.per_epoch)
