"""The threshold eta, and N, of Pr-Thr and mu:1, where the recipe says "auto".

They are chosen by ROUGE-L on the `--valid` pairs, as in the appendix, or, with no pair at all, so that the outputs have
the summaries' mean length and their words' moments are nearest to the summaries'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nutgraf.evaluation.rouge import rouge
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids, Lexicon

VALID_PAIRS = 1_000  # thresholds need no more
SAMPLED_TEXTS = 2_000
LENGTHS = (8, 10, 12, 15)  # values of N that are tried on pairs
ETAS = {"pr-thr": np.linspace(0.05, 1.4, 28), "mu1": np.linspace(0.02, 0.9, 45)}
LONGEST = 40  # N is at most this
NEAR = 0.5  # words: as near to the wanted mean length as an integer N must come


@dataclass(frozen=True)
class Pairs:
    """Aligned pairs, in the ids of a lexicon that has all their words."""

    texts: Sequence[Ids]
    summaries: Sequence[Ids]
    lexicon: Lexicon


class Thresholded(Protocol):
    """A summarizer with a threshold."""

    @property
    def eta(self) -> float:
        """The threshold."""

    @property
    def max_words(self) -> int:
        """N, the most words of a summary."""

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""

    def with_eta(self, eta: float, max_words: int | None = None) -> Self:
        """Return the same model with another threshold."""


T = TypeVar("T", bound=Thresholded)


def by_pairs(model: T, chain: str, pairs: Pairs) -> T:
    """Return the model with the eta and the N that have the best ROUGE-L on aligned pairs, as in the appendix."""
    chosen = slice(VALID_PAIRS)
    texts, references = pairs.texts[chosen], _as_lines(pairs.summaries[chosen], pairs.lexicon)

    def score(candidate: T) -> float:
        return float(rouge(_as_lines(candidate(texts), pairs.lexicon), references).rl.mean())

    return max((model.with_eta(eta, words) for words in LENGTHS for eta in ETAS[chain].tolist()), key=score)


def by_moments(model: T, chain: str, texts: Corpus, summaries: Corpus) -> T:
    """Return the model with the eta and the N whose outputs are most like real summaries.

    For each eta, N is the one whose mean length comes nearest to the summaries'. Of those within `NEAR` words of it (if
    none is, the nearest), the outputs whose words' moments are nearest to the summaries' win, by the sum of absolute
    differences. Length alone would choose too strict an eta: the likeliest words from all over a text, where a
    headline has most of its words from the beginning.
    """
    sampled = texts[:SAMPLED_TEXTS]
    size = 1 + max((int(words.max()) for words in [summaries.tokens, *sampled] if len(words)), default=0)
    mean_words, mu_S = float(summaries.lengths.mean()), summaries.sentence_counts(size) / len(summaries)

    def judged(eta: float) -> tuple[float, float, T]:
        outputs = model.with_eta(eta, LONGEST)(sampled)
        words = _fitting(np.array([len(output) for output in outputs]), mean_words)
        cut = Corpus.of(output[:words] for output in outputs)
        distance = np.abs(cut.sentence_counts(size) / len(sampled) - mu_S).sum()
        return max(abs(float(cut.lengths.mean()) - mean_words), NEAR), float(distance), model.with_eta(eta, words)

    return min((judged(eta) for eta in ETAS[chain].tolist()), key=lambda found: found[:2])[2]


def _fitting(lengths: NDArray[np.int64], mean_words: float) -> int:
    """Return the N that cuts outputs of these lengths to a mean nearest to `mean_words`."""
    means = np.array([np.minimum(lengths, words).mean() for words in range(1, LONGEST + 1)])
    return int(np.argmin(np.abs(means - mean_words))) + 1


def _as_lines(sentences: Sequence[Ids], lexicon: Lexicon) -> list[str]:
    """Return sentences as words apart by blanks."""
    return [" ".join(lexicon.decode(sentence)) for sentence in sentences]
