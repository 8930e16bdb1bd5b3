"""Progress of long work as plain values: the code that works reports it, the caller decides how to show it.

And one way to show it, for calls from Python: a bar on standard error. Work that may be ended early is given a function
that says so, which it calls often.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
ShouldStop = Callable[[], bool]


class Stopped(Exception):  # noqa: N818  # no error: whoever asked for the work no longer wants it
    """Work that was ended early."""


def ignore(_: object) -> None:
    """Ignore what is reported."""


def never() -> bool:
    """Let work go on to its end."""
    return False


def check_stop(should_stop: ShouldStop) -> None:
    """Raise Stopped if the work should end."""
    if should_stop():
        raise Stopped


def duration(seconds: float) -> str:
    """Write a time as a person would: 40 s, 12 min, 1 h 05 min."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def has_terminal() -> bool:
    """Whether standard error is a terminal, where a bar can move."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def show_bar(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error until the context ends; call what it yields with how many are done."""
    from rich import progress as bars
    from rich.console import Console

    columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn(unit), bars.TimeRemainingColumn())
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(unit, total=total)
        yield lambda done: shown.update(task, completed=done)
