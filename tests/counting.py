"""Work that is counted instead of timed, so that a busy machine fails no test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooMuchWorkError(BaseException):
    """Nothing catches it on its way to the test."""


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail as soon as more calls than this, of functions in Python or C, were made inside the context."""
    made = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal made
        if event in ("call", "c_call"):
            made += 1
            if made > calls:
                sys.setprofile(None)
                raise TooMuchWorkError(f"more than {calls:,} calls, the last one in {frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
