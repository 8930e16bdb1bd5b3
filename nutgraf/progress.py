"""Progress of long work as plain values: the code that works reports it, the caller decides how to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a piece of work is."""

    done: int
    total: int
    unit: str  # "steps", "sentences": what is counted
    note: str = ""  # what it is at, in a word or two
    loss: float | None = None  # of a training, over the last steps


Report = Callable[[Progress], None]


def ignore(_: object) -> None:
    """Ignore what is reported."""


def duration(seconds: float) -> str:
    """Write a time as a person would: 40 s, 12 min, 1 h 05 min."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
