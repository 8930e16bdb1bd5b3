"""The threshold eta, and N, of Pr-Thr and mu:1: by ROUGE-L on pairs as in the appendix, or, with no
pair at all, by the summaries' moments and mean length.

It knows neither ROUGE nor the models: a scoring function is passed in, and both models are made anew with another eta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids

Score = Callable[[list[Ids], list[Ids]], float]  # outputs, references -> the higher, the better

LONGEST = 40  # N is at most this
NEAR = 0.5  # words: as near to the wanted mean length as an integer N must come


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


def by_moments(model: Model, texts: Sequence[Ids], summaries: Corpus, etas: Sequence[float]) -> Model:
    """Return the model with the eta and the N whose outputs are most like real summaries.

    For each eta, N is the one whose mean length comes nearest to the summaries'. Of those within `NEAR` words of it (if
    none is, the nearest), the outputs whose words' moments are nearest to the summaries' win, by the sum of absolute
    differences. Length alone would choose too strict an eta: the likeliest words from all over a text, where a
    headline has most of its words from the beginning.
    """
    size = 1 + max((int(words.max()) for words in [summaries.tokens, *texts] if len(words)), default=0)
    mean_words, mu_S = float(summaries.lengths.mean()), summaries.sentence_counts(size) / len(summaries)

    def judged(eta: float) -> tuple[float, float, Model]:
        outputs = model.with_eta(eta, LONGEST)(texts)
        words = _fitting(np.array([len(output) for output in outputs]), mean_words)
        cut = Corpus.of(output[:words] for output in outputs)
        distance = np.abs(cut.sentence_counts(size) / len(texts) - mu_S).sum()
        return max(abs(float(cut.lengths.mean()) - mean_words), NEAR), float(distance), model.with_eta(eta, words)

    return min((judged(eta) for eta in etas), key=lambda found: found[:2])[2]


def _fitting(lengths: NDArray[np.int64], mean_words: float) -> int:
    """Return the N to which outputs of these lengths are cut to have nearest to so many words on average."""
    means = np.array([np.minimum(lengths, words).mean() for words in range(1, LONGEST + 1)])
    return int(np.argmin(np.abs(means - mean_words))) + 1
