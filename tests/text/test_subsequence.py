from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from nutgraf.text.subsequence import common_subsequence


def slow(a: str, b: str) -> int:
    """Return the same by the definition: drop a last word, or match both."""

    @cache
    def longest(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        if a[i - 1] == b[j - 1]:
            return longest(i - 1, j - 1) + 1
        return max(longest(i - 1, j), longest(i, j - 1))

    return longest(len(a), len(b))


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [("", "", 0), ("", "abc", 0), ("abc", "abc", 3), ("abc", "cba", 1), ("abcbdab", "bdcaba", 4), ("aaaa", "aa", 2)],
)
def test_by_hand(a: str, b: str, length: int) -> None:
    assert common_subsequence(a, b) == length
    assert common_subsequence(b, a) == length


def test_agrees_with_the_recursion_also_past_a_machine_word() -> None:
    rng = np.random.default_rng(0)
    for size in (3, 8, 40, 130):  # 64 bits are no limit
        for letters in (2, 5, 20):
            for _ in range(20):
                a, b = ("".join(map(chr, 97 + rng.integers(0, letters, rng.integers(0, size + 1)))) for _ in range(2))
                assert common_subsequence(a, b) == slow(a, b), (a, b)


def test_any_hashable_words() -> None:
    assert common_subsequence([5, 6, 7, 8], [9, 5, 9, 7, 8]) == 3
    assert common_subsequence(["profit", "rises"], ["profit", "of", "acme", "rises"]) == 2
