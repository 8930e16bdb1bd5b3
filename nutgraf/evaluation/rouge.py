"""ROUGE-1, ROUGE-2 and ROUGE-L (Section 4): F1 of stemmed, lower-cased words, pair by pair.

The figures are those of `rouge-score` with use_stemmer=True to the last digit: its tokenizer's rules and its order of
arithmetic, with stems remembered word by word and the longest common subsequence computed in one integer a row. It
does not compute the summary-level ROUGE-Lsum, recall-only scores, or several references a pair.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.subsequence import common_subsequence

# The ASCII letters and digits alone, after lower-casing, as rouge_score.tokenize has it.
_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True)
class Scores:
    """The F1 scores of each pair, from 0 to 1, and what computed them."""

    r1: NDArray[np.float64]
    r2: NDArray[np.float64]
    rl: NDArray[np.float64]
    signature: str

    def __len__(self) -> int:
        return len(self.r1)


def signature() -> str:
    """Say which scorer the figures agree with, and its settings."""
    return f"rouge-score {version('rouge-score')}, F1, Porter stemmer, lower-cased, n=1,2,L"


def rouge(predictions: Sequence[str], references: Sequence[str]) -> Scores:
    """Score each prediction against its reference."""
    if len(predictions) != len(references):
        raise ValueError(f"{len(predictions)} predictions for {len(references)} references: expected one each")
    scores = np.zeros((len(predictions), 3))
    for row, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        scores[row] = _pair(words(prediction), words(reference))
    return Scores(scores[:, 0], scores[:, 1], scores[:, 2], signature())


def words(text: str) -> list[str]:
    """Split a text into the stems that ROUGE compares."""
    return [stem for word in _WORD.findall(text.lower()) for stem in _stems(word)]


@lru_cache(maxsize=200_000)
def _stems(word: str) -> tuple[str, ...]:
    return tuple(_tokenizer().tokenize(word))


@cache
def _tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer  # imports all of nltk, which thresholds seldom need

    return DefaultTokenizer(use_stemmer=True)


def _pair(prediction: list[str], reference: list[str]) -> tuple[float, float, float]:
    lengths = len(prediction), len(reference)
    bigrams = max(lengths[0] - 1, 0), max(lengths[1] - 1, 0)
    return (
        _f1(_overlap(prediction, reference), *lengths),
        _f1(
            _overlap(pairwise(prediction), pairwise(reference)),
            *bigrams,
        ),
        _f1(common_subsequence(prediction, reference), *lengths),
    )


def _overlap(prediction: Iterable[Hashable], reference: Iterable[Hashable]) -> int:
    """Count what both have in common, each item as often as in the one that has it less often."""
    return (Counter(prediction) & Counter(reference)).total()


def _f1(hits: int, predicted: int, expected: int) -> float:
    if hits == 0:
        return 0.0
    precision, recall = hits / predicted, hits / expected
    # In rouge-score's order: a shorter formula would differ in the last digit.
    return 2 * precision * recall / (precision + recall)
