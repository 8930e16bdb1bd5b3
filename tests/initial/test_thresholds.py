from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nutgraf.initial.thresholds import by_moments, by_score
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


@dataclass(frozen=True)
class Above:
    """Keeps words whose number is at least 10 eta."""

    eta: float = 0.3
    words: int = 4

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        return [sentence[sentence >= 10 * self.eta - 1e-9][: self.words] for sentence in sentences]

    def with_eta(self, eta: float, words: int | None = None) -> Above:
        return replace(self, eta=eta, words=words or self.words)


ETAS = [i / 10 for i in range(3, 10)]


def test_pairs_choose_what_scores_best() -> None:
    pairs = [(ids(3, 9, 5, 8), ids(9, 8)), (ids(7, 4, 8, 9), ids(7, 8))]

    def score(outputs: list[Ids], references: list[Ids]) -> float:
        return float(sum(o.tolist() == r.tolist() for o, r in zip(outputs, references, strict=True)))

    found = by_score(Above(), pairs, score, ETAS, [1, 2, 3])
    assert found.words == 2
    assert [output.tolist() for output in found([text for text, _ in pairs])] == [[9, 8], [7, 8]]


def test_without_pairs_length_and_moments_choose() -> None:
    # Real summaries are two words, from 6 up. Every eta can give two words by N; only one of them these words.
    rng = np.random.default_rng(1)
    texts = [rng.permutation(np.arange(3, 10)).astype(np.int32) for _ in range(300)]
    summaries = Corpus.of(rng.permutation(np.arange(6, 10))[:2] for _ in range(300))
    found = by_moments(Above(), texts, summaries, ETAS)
    assert (found.eta, found.words) == (0.6, 2)


def test_shorter_outputs_never_win_over_the_right_length() -> None:
    texts = [ids(3, 4, 5)] * 5
    summaries = Corpus.of([[6, 7, 8]] * 5)  # no word can be right: saying nothing would be the least wrong
    assert by_moments(Above(), texts, summaries, [0.3, 0.9]).eta == 0.3
