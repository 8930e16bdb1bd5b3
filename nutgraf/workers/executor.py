"""Where work is done: in this process, or on a cluster (see cluster).

An executor maps work over items. Work is a function of an item and of `tell`, which takes progress and warnings. It
writes only files that are whole or not there at all, under names that no other attempt uses, so it can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Protocol, TypeVar

from nutgraf.hardware import ALONE, Hardware, Rank
from nutgraf.progress import Progress

Tell = Callable[[Progress | str], None]  # a text is a warning
Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Item, Tell], Result]


class Executor(Protocol):
    """A place to work."""

    stop: Signal  # set by an interrupt: all work ends

    def count_threads(self) -> int:
        """Return how many threads there are now."""

    def map(
        self, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
    ) -> Iterator[tuple[Item, Result]]:
        """Do the work for all items, each with this many threads; yield items and results as they are completed."""

    def gang(self, work: Work[Rank, Result], most: int, threads: int, folder: Path, tell: Tell) -> Result:
        """Do the work in up to `most` processes at once, which meet in the folder; return the first one's result."""


class Local:
    """This process: one item after the other, each with all its threads."""

    def __init__(self, hardware: Hardware):
        self.hardware, self.stop = hardware, Signal()

    def count_threads(self) -> int:
        """Return the number of threads that were asked for."""
        return self.hardware.threads

    def map(
        self, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
    ) -> Iterator[tuple[Item, Result]]:
        """Do the work for one item after the other."""
        for item in items:
            yield item, work(item, tell)

    def gang(self, work: Work[Rank, Result], most: int, threads: int, folder: Path, tell: Tell) -> Result:
        """Do the work in this process alone."""
        return work(ALONE, tell)


def map_in_order(
    executor: Executor, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
) -> Iterator[tuple[Item, Result]]:
    """Do the work as `map` does; yield items and results in the order of the items. What comes early is kept."""
    early, wanted = dict[int, tuple[Item, Result]](), 0
    for (number, item), result in executor.map(partial(_without_number, work), enumerate(items), threads, tell):
        early[number] = item, result
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


def _without_number(work: Work[Item, Result], numbered: tuple[int, Item], tell: Tell) -> Result:
    return work(numbered[1], tell)
