"""Progress of long work, as plain values: whoever does the work reports, whoever started it decides how to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a piece of work has got."""

    done: int
    total: int
    unit: str  # "steps", "sentences": what is counted
    note: str = ""  # such as the current loss


Report = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report to nobody."""
