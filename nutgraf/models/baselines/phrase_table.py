"""A phrase table from aligned vectors, without any pair (Lample et al. 2018): translations of words, and their scores.

A word x of the texts and a word y of the summaries translate each other where each is among the other's nearest by

    CSLS(x, y) = 2 cos(x, y) - r(x) - r(y)         r: the mean cosine to the k nearest words of the other side

so that a word that is near to everything is near to nothing. p(y | x) is the softmax of T cos(x, y) over all words of
the summaries, then shared out again among the translations of x; p(x | y) is the softmax over all words of the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nutgraf.recipe import Pbsmt

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
BLOCK = 1024  # rows whose cosines are computed at once
LEAST = np.log(1e-12)  # pairs that are less probable, either way, are left out


@dataclass(frozen=True)
class Phrases:
    """Pairs of words that translate each other, sorted by `sources`, the best translation of each first."""

    sources: Rows  # rows of the texts' words
    targets: Rows  # rows of the summaries' words
    direct: Floats  # log p(y | x)
    inverse: Floats  # log p(x | y)

    def best(self, count: int) -> Phrases:
        """Return the best translations of each word, at most this many, by the product of both probabilities."""
        order = np.lexsort((-(self.direct + self.inverse), self.sources))
        sources = self.sources[order]
        rank = np.arange(len(order)) - np.searchsorted(sources, sources)
        kept = order[rank < count]
        return Phrases(self.sources[kept], self.targets[kept], self.direct[kept], self.inverse[kept])


def make_phrases(X: Matrix, Y: Matrix, settings: Pbsmt) -> Phrases:
    """Return all pairs of words of the texts (rows of X) and of the summaries (Y) that translate each other."""
    r_X, r_Y = (average_nearest(*sides, settings.neighbours) for sides in ((X, Y), (Y, X)))
    there, to = nearest(X, Y, r_Y, settings)
    back, of = nearest(Y, X, r_X, settings)
    forth = np.repeat(np.arange(len(X)), there.shape[1]) * len(Y) + there.ravel()
    keys = back.ravel() * len(Y) + np.repeat(np.arange(len(Y)), back.shape[1])
    _, first, second = np.intersect1d(forth, keys, assume_unique=True, return_indices=True)
    sources, targets = forth[first] // len(Y), forth[first] % len(Y)
    direct, inverse = to.ravel()[first], of.ravel()[second]
    totals = np.bincount(sources, np.exp(direct), minlength=len(X))
    direct = direct - np.log(totals[sources])
    kept = (direct >= LEAST) & (inverse >= LEAST)
    return Phrases(sources[kept], targets[kept], direct[kept], inverse[kept]).best(settings.candidates)


def average_nearest(X: Matrix, Y: Matrix, count: int) -> Matrix:
    """Return r(x): the mean cosine of each row of X to its nearest rows of Y."""
    count = min(count, len(Y))
    means = [np.partition(cosines, -count, axis=1)[:, -count:].mean(1) for _, cosines in _cosines(X, Y)]
    return np.concatenate(means)


def nearest(X: Matrix, Y: Matrix, r_Y: Matrix, settings: Pbsmt) -> tuple[Rows, Floats]:
    """Return the rows of Y that are nearest to each row of X by CSLS, and log p(y | x) of each."""
    count = min(settings.candidates, len(Y))
    places, scores = np.zeros((len(X), count), dtype=np.int64), np.zeros((len(X), count))
    for start, cosines in _cosines(X, Y):
        rows = slice(start, start + len(cosines))
        # r(x) is the same for all of a row.
        places[rows] = np.argpartition(2 * cosines - r_Y, len(Y) - count, axis=1)[:, -count:]
        scaled = settings.temperature * cosines
        highest = scaled.max(1, keepdims=True)
        total = highest + np.log(np.exp(scaled - highest).sum(1, keepdims=True, dtype=np.float64))
        scores[rows] = np.take_along_axis(scaled, places[rows], 1) - total
    return places, scores


def _cosines(X: Matrix, Y: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yield the cosines of some rows of X, which are unit vectors, to all of Y, and where these rows start."""
    for start in range(0, len(X), BLOCK):
        yield start, X[start : start + BLOCK] @ Y.T
