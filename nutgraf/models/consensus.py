"""The summary that several summarizers agree on: minimum Bayes risk (Kumar & Byrne 2004), not in the paper.

Of all candidates for a text, from the beams of several models, take the one that is most like the others:

    argmax_c sum_{c'} (ROUGE-1(c, c') + ROUGE-2(c, c') + ROUGE-L(c, c')) / 3

with F1 on word ids, without stemming. A summary that one model alone would write loses to one that all come near to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.lexicon import Ids

BATCH = 64  # texts at once

Table = NDArray[np.int64]


def agree(candidates: Sequence[Sequence[Ids]]) -> list[Ids]:
    """Return for each text the candidate that is most like the others, the first of equals; empty if there is none."""
    chosen: list[Ids] = []
    for start in range(0, len(candidates), BATCH):
        part = [[words for words in group if len(words)] for group in candidates[start : start + BATCH]]
        likeness = _mean_likeness(part)
        for group, scores in zip(part, likeness, strict=True):
            chosen.append(group[int(scores[: len(group)].argmax())] if group else np.zeros(0, dtype=np.int32))
    return chosen


def _mean_likeness(groups: Sequence[Sequence[Ids]]) -> NDArray[np.float64]:
    """Return (texts, candidates): how like the others of its text each candidate is, summed."""
    shape = (len(groups), max((len(group) for group in groups), default=0))
    lengths = np.zeros(shape, dtype=np.int64)
    table = np.full((*shape, max((len(words) for group in groups for words in group), default=0)), -1, dtype=np.int64)
    for row, group in enumerate(groups):
        for column, words in enumerate(group):
            lengths[row, column] = len(words)
            table[row, column, : len(words)] = words
    one, other = table[:, :, None], np.where(table < 0, -2, table)[:, None]  # (texts, candidates, candidates, words)
    words = lengths[:, :, None] + lengths[:, None]
    r1 = 2 * _overlap(one, other) / np.maximum(1, words)
    r2 = 2 * _overlap(_bigrams(one), _bigrams(other)) / np.maximum(1, words - 2)
    rl = 2 * _subsequence(one, other) / np.maximum(1, words)
    likeness = (r1 + r2 + rl) / 3 * (lengths > 0)[:, None]
    likeness[:, np.arange(shape[1]), np.arange(shape[1])] = 0  # all are like themselves
    return np.asarray(likeness.sum(2))


def _bigrams(table: Table) -> Table:
    """Return pairs of neighbours as one number, the filling of the table where either is."""
    first, second = table[..., :-1], table[..., 1:]
    return np.where((first < 0) | (second < 0), np.minimum(first, second), first * 2**31 + second)


def _overlap(one: Table, other: Table) -> Table:
    """Return how many places of `one` can be matched with places of `other` that have the same number."""
    same = one[..., :, None] == other[..., None, :]
    # The n-th occurrence of a word matches the n-th of the other side: clipped counts.
    nth_one, nth_other = _occurrence(one), _occurrence(other)
    return np.asarray((same & (nth_one[..., :, None] == nth_other[..., None, :])).any(-1).sum(-1))


def _occurrence(table: Table) -> Table:
    same = table[..., :, None] == table[..., None, :]
    return np.asarray(np.tril(same, -1).sum(-1))


def _subsequence(one: Table, other: Table) -> Table:
    """Return the length of the longest common subsequence of each two rows."""
    shape = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    best = np.zeros((other.shape[-1] + 1, *shape), dtype=np.int64)
    for i in range(one.shape[-1]):
        diagonal = np.zeros(shape, dtype=np.int64)
        for j in range(other.shape[-1]):
            above = best[j + 1].copy()
            best[j + 1] = np.where(one[..., i] == other[..., j], diagonal + 1, np.maximum(above, best[j]))
            diagonal = above
    return np.asarray(best[-1])
