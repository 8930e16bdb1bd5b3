"""What counts as a lack of memory."""

from __future__ import annotations

import ctypes

import pytest

from nutgraf.errors import LACKING, lacks_memory


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        (MemoryError(), True),
        (RuntimeError("can't start new thread"), True),
        (RuntimeError("std::bad_alloc"), True),  # torch, where something small finds no room
        (RuntimeError("shapes differ"), False),
        (ImportError("failed to map segment from shared object"), True),
        (ctypes.ArgumentError("argument 1: MemoryError: "), True),
        (ctypes.ArgumentError("argument 1: TypeError: wrong type"), False),
        (ValueError("MemoryError"), False),
    ],
)
def test_a_lack_of_memory_is_known_by_its_words(error: Exception, lacks: bool) -> None:
    assert lacks_memory(error) is lacks
    assert not lacks or isinstance(error, LACKING)
