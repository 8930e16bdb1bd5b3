"""The longest common subsequence of two sentences, for ROUGE-L and for the choice of artificial pairs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence, by the bit-parallel recurrence of Hyyrö (2004)."""
    places: dict[Hashable, int] = {}
    for place, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(a)) - 1
    row = full  # a zero at place i: the length grows there
    for word in b:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(a) - row.bit_count()
