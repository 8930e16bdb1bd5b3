"""Sentences of word ids as padded tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import EOS, PAD, Ids


def padded(sentences: Sequence[Ids]) -> Tensor:
    """Return (sentences, longest + 1) int64: each sentence, EOS, then PAD."""
    table = np.full((len(sentences), max((len(s) for s in sentences), default=0) + 1), PAD, dtype=np.int64)
    for row, sentence in zip(table, sentences, strict=True):
        row[: len(sentence)] = sentence
        row[len(sentence)] = EOS
    return torch.from_numpy(table)


def gathered(corpus: Corpus, indices: NDArray[np.int64]) -> Tensor:
    """Return `padded` of these sentences of a corpus, without a Python loop."""
    starts, lengths = corpus.offsets[indices], corpus.lengths[indices]
    columns = np.arange(lengths.max() + 1)
    inside = columns < lengths[:, None]
    table = np.full(inside.shape, PAD, dtype=np.int64)
    table[inside] = corpus.tokens[(starts[:, None] + columns)[inside]]
    table[np.arange(len(indices)), lengths] = EOS
    return torch.from_numpy(table)
