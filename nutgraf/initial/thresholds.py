"""The threshold eta, and N, of Pr-Thr and mu:1: by ROUGE-L on pairs as in the appendix, or without any pair by length.

It knows neither ROUGE nor the models: a scoring function is passed in, and both models are made anew with another eta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np

from nutgraf.text.lexicon import Ids

Score = Callable[[list[Ids], list[Ids]], float]  # outputs, references -> the higher, the better

BISECTIONS = 20


class Thresholded(Protocol):
    """A summarizer with a threshold."""

    @property
    def eta(self) -> float:
        """The threshold."""

    @property
    def words(self) -> int:
        """N, the most words of a summary."""

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""

    def with_eta(self, eta: float, words: int | None = None) -> Self:
        """Return the same model with another threshold."""


Model = TypeVar("Model", bound=Thresholded)


def by_score(
    model: Model,
    pairs: Sequence[tuple[Ids, Ids]],
    score: Score,
    etas: Sequence[float],
    lengths: Sequence[int],
) -> Model:
    """Return the model with the eta of `etas` and the N of `lengths` that score best on aligned pairs."""
    texts, references = [text for text, _ in pairs], [summary for _, summary in pairs]
    tried = [model.with_eta(eta, words) for words in lengths for eta in etas]
    scores = [score(candidate(texts), references) for candidate in tried]
    return tried[int(np.argmax(scores))]


def by_length(model: Model, texts: Sequence[Ids], mean_words: float, low: float, high: float) -> Model:
    """Return the model with the eta between `low` and `high` whose outputs come nearest to `mean_words` on average."""

    def excess(eta: float) -> float:
        return float(np.mean([len(summary) for summary in model.with_eta(eta)(texts)])) - mean_words

    longer_with_eta = excess(high) > excess(low)
    ends = [low, high]
    for _ in range(BISECTIONS):
        middle = (ends[0] + ends[1]) / 2
        ends[1 if (excess(middle) > 0) == longer_with_eta else 0] = middle
    return model.with_eta(min(ends, key=lambda eta: abs(excess(eta))))
