"""What a system's summaries score, as a row of a table, and whether two systems differ (Section 4).

A row holds ROUGE with bootstrap intervals, and what is needed to read a ROUGE score: mean length, share of words copied
from the input, repeated bigrams, how the summaries read, the number of pairs and the scorer's signature. It runs no
model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nutgraf.errors import InputError
from nutgraf.evaluation.readability import Reader
from nutgraf.evaluation.rouge import Scores, rouge
from nutgraf.run.evaluations import Estimate, Row

RESAMPLES = 1000
COVERED = (2.5, 97.5)  # percentiles: the middle 95 %


def score(
    name: str,
    predictions: Sequence[str],
    sources: Sequence[str],
    references: Sequence[str],
    seed: int,
    aligned: int = 0,
    reader: Reader | None = None,
) -> Row:
    """Score a system's outputs. Texts are tokenised, words apart by blanks; case does not matter.

    Without a reader, the columns that need one are None.
    """
    if not predictions:
        raise InputError(f"{name}: no pairs to evaluate on; expected at least one line of text <tab> summary")
    scores = rouge(predictions, references)
    r1, r2, rl = bootstrap(100 * _matrix(scores), seed)
    outputs = [line.lower().split() for line in predictions]
    inputs = [line.lower().split() for line in sources]
    # Not lower-cased: a digit may have become an N.
    words, texts = [line.split() for line in predictions], [line.split() for line in sources]
    return Row(
        name=name,
        aligned=aligned,
        r1=r1,
        r2=r2,
        rl=rl,
        words=sum(map(len, outputs)) / len(outputs),
        copied=copied_share(outputs, inputs),
        repeated=repeated_share(outputs),
        pairs=len(outputs),
        signature=scores.signature,
        bits=reader.bits(words) if reader else None,
        unsupported=reader.unsupported(words, texts) if reader else None,
        contradicted=reader.contradicted(words, texts) if reader else None,
    )


def copied_share(outputs: Sequence[Sequence[str]], inputs: Sequence[Sequence[str]]) -> float:
    """Return the share of all output words that are also in the input of their output."""
    copied = sum(
        word in known
        for words, known in zip(outputs, map(frozenset, inputs), strict=True)
        for word in words  # each occurrence counts
    )
    return copied / max(sum(map(len, outputs)), 1)


def repeated_share(outputs: Sequence[Sequence[str]]) -> float:
    """Return the share of all bigrams that occurred earlier in the same output."""
    bigrams = [list(pairwise(words)) for words in outputs]
    total = sum(map(len, bigrams))
    return (total - sum(len(set(found)) for found in bigrams)) / max(total, 1)


def bootstrap(scores: NDArray[np.float64], seed: int) -> list[Estimate]:
    """Estimate the mean of each column of (pairs, measures); the same seed draws the same pairs for every system."""
    means = _resampled_means(scores, seed)
    low, high = np.percentile(means, COVERED, axis=0)
    return [Estimate(*map(float, triple)) for triple in zip(scores.mean(axis=0), low, high, strict=True)]


def _resampled_means(scores: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return (RESAMPLES, measures): the means of as many pairs drawn with replacement."""
    generator = np.random.default_rng(seed)
    pairs = len(scores)
    return np.stack([scores[generator.integers(pairs, size=pairs)].mean(axis=0) for _ in range(RESAMPLES)])


def _matrix(scores: Scores) -> NDArray[np.float64]:
    return np.stack([scores.r1, scores.r2, scores.rl], axis=1)  # (pairs, 3)


@dataclass(frozen=True)
class Difference:
    """By how much A scores above B, and the probability that this is an accident of the pairs drawn."""

    by: Estimate
    p: float  # of A being no better than B: the share of resamples in which it was not


@dataclass(frozen=True)
class Comparison:
    """A paired bootstrap test of two systems on the same pairs, in each measure."""

    r1: Difference
    r2: Difference
    rl: Difference
    pairs: int
    signature: str


def compare(a: Sequence[str], b: Sequence[str], references: Sequence[str], seed: int) -> Comparison:
    """Test whether system A is better than system B (paired bootstrap, Koehn 2004)."""
    if not references:
        raise InputError("no pairs to compare systems on; expected at least one line of text <tab> summary")
    scores = rouge(a, references)
    gains = 100 * (_matrix(scores) - _matrix(rouge(b, references)))
    no_better = (_resampled_means(gains, seed) <= 0).sum(axis=0)
    # One is added, so that a finite number of resamples never claims certainty.
    p = (no_better + 1) / (RESAMPLES + 1)
    r1, r2, rl = (Difference(by, float(p_value)) for by, p_value in zip(bootstrap(gains, seed), p, strict=True))
    return Comparison(r1, r2, rl, len(references), scores.signature)
