from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nutgraf.backtranslation.thresholds import ETAS, Pairs, by_moments, by_pairs
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


@dataclass(frozen=True)
class Above:
    """Keeps words whose number is at least 10 eta."""

    eta: float = 0.3
    max_words: int = 4

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        return [sentence[sentence >= 10 * self.eta - 1e-9][: self.max_words] for sentence in sentences]

    def with_eta(self, eta: float, max_words: int | None = None) -> Above:
        return replace(self, eta=eta, max_words=max_words or self.max_words)


LEXICON = Lexicon([*SPECIALS, *(f"w{number}" for number in range(3, 10))])


@pytest.fixture(autouse=True)
def few_etas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ETAS, "mu1", np.arange(3, 10) / 10)


def test_pairs_choose_what_has_the_best_rouge() -> None:
    # Ten words and seven: one eta gives just the summaries, and no shorter N that is tried does.
    texts = [ids(3, 9, 5, 8, 3, 9, 4, 8, 9, 8), ids(7, 4, 8, 9, 3, 7, 8)]
    summaries = [ids(9, 8, 9, 8, 9, 8), ids(7, 8, 9, 7, 8)]
    found = by_pairs(Above(), "mu1", Pairs(texts, summaries, LEXICON))
    assert (found.eta, found.max_words) == (0.6, 8)
    assert [output.tolist() for output in found(texts)] == [summary.tolist() for summary in summaries]


def test_without_pairs_length_and_moments_choose() -> None:
    # Real summaries are two words, from 6 up. Every eta can give two words by N; only one of them these words.
    rng = np.random.default_rng(1)
    texts = Corpus.of(rng.permutation(np.arange(3, 10)) for _ in range(300))
    summaries = Corpus.of(rng.permutation(np.arange(6, 10))[:2] for _ in range(300))
    found = by_moments(Above(), "mu1", texts, summaries)
    assert (found.eta, found.max_words) == (0.6, 2)


def test_shorter_outputs_never_win_over_the_right_length() -> None:
    texts = Corpus.of([ids(3, 4, 5)] * 5)
    summaries = Corpus.of([[6, 7, 8]] * 5)  # no word can be right: saying nothing would be the least wrong
    assert by_moments(Above(), "mu1", texts, summaries).eta == 0.3
