"""Real sentences, batch by batch: for models that make part of what they learn from while they learn.

A batch is a function of the step's number, as everywhere: a killed training resumes with the same ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nutgraf.learning.batches import Batches
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids
from nutgraf.text.selection import Sentences


class Stream:
    """The sentences of a corpus that have words."""

    def __init__(self, corpus: Corpus, batch: int, key: str):
        self._corpus, self._places = corpus, np.flatnonzero(corpus.lengths > 0)
        self._batches = Batches(corpus.lengths[self._places], batch, key)

    def __call__(self, step: int) -> list[Ids]:
        """Return the sentences of a step."""
        return [self._corpus[place] for place in self._places[self._batches(step)].tolist()]


class PairStream:
    """Aligned pairs of which both sides have words."""

    def __init__(self, sources: Sentences, targets: Sentences, batch: int, key: str):
        self._sides, self._places = (sources, targets), np.flatnonzero((sources.lengths > 0) & (targets.lengths > 0))
        lengths = np.stack([side.lengths[self._places] for side in self._sides], 1)
        self._batches = Batches(lengths, batch, key)

    def __call__(self, step: int) -> tuple[list[Ids], list[Ids]]:
        """Return the sources and the targets of a step."""
        places = self._places[self._batches(step)].tolist()
        sources, targets = ([side[place] for place in places] for side in self._sides)
        return sources, targets


def numbers(step: int) -> NDArray[np.int64]:
    """Return a step's number itself, for losses that choose their own batches."""
    return np.array([step])
