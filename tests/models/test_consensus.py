"""The consensus of candidates against a slow version, and by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from nutgraf.models.consensus import agree
from nutgraf.text.subsequence import common_subsequence


def f1(common: int, one: int, other: int) -> float:
    return 2 * common / max(1, one + other)


def likeness(a: list[int], b: list[int]) -> float:
    words = (Counter(a) & Counter(b)).total()
    bigrams = (Counter(pairwise(a)) & Counter(pairwise(b))).total()
    r2 = f1(bigrams, len(a) - 1, len(b) - 1)
    return (f1(words, len(a), len(b)) + r2 + f1(common_subsequence(a, b), len(a), len(b))) / 3


def test_the_candidate_most_like_the_others_wins() -> None:
    group = [[3, 4, 5], [3, 4, 6], [3, 4, 5, 6], [7, 8]]
    assert agree([[np.array(words, dtype=np.int32) for words in group]])[0].tolist() == [3, 4, 5, 6]


def test_as_a_slow_version_says() -> None:
    rng = np.random.default_rng(5)
    groups = [
        [rng.integers(3, 9, size=rng.integers(1, 8)).tolist() for _ in range(rng.integers(1, 6))] for _ in range(150)
    ]
    chosen = agree([[np.array(words, dtype=np.int32) for words in group] for group in groups])
    for group, found in zip(groups, chosen, strict=True):
        sums = [sum(likeness(a, b) for j, b in enumerate(group) if i != j) for i, a in enumerate(group)]
        assert sums[group.index(found.tolist())] >= max(sums) - 1e-9


def test_empty_candidates_never_win_and_no_candidate_gives_nothing() -> None:
    nothing, words = np.zeros(0, dtype=np.int32), np.array([3, 4], dtype=np.int32)
    assert [found.tolist() for found in agree([[nothing, nothing, words], [nothing], []])] == [[3, 4], [], []]
