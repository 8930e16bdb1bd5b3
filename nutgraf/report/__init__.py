"""The report of a run: run/report.html, one self-contained file to read and to show, without script or network.

It is written after the steps of a training and after every evaluation, and by `nutgraf report`. What it tells is read
from the run folder (facts) and laid out (page; scores, corpora; charts). It runs no model and changes nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import write_atomically
from nutgraf.report.page import page
from nutgraf.run.events import Event, Listener, State
from nutgraf.run.folder import Run

REPORT = "report.html"
PAUSE = 5.0  # seconds between reports while steps follow fast
Warn = Callable[[str], None]


def write_report(run: Run, out: Path | None = None) -> Path:
    """Write the report of a run in whatever state it is, and return where it is."""
    path = out or run.folder / REPORT
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        write_atomically(path, page(run, written).encode())
    except OSError as error:
        raise RunError(f"{path}: the report cannot be written ({error}). Name another file with --out") from error
    return path


def try_report(folder: Path, warn: Warn) -> None:
    """Write the report of a run; whatever goes wrong is a warning, since nothing else depends on it."""
    try:
        write_report(Run.open(folder))
    except Exception as error:
        warn(f"{folder / REPORT}: not written ({type(error).__name__}: {error}). All else goes on")


def reporting(folder: Path, listener: Listener, warn: Warn) -> Listener:
    """Return a listener to a training that passes every event on, and writes the report when a step is done.

    Where steps take less than a moment, not every one: but the last, though it was there before.
    """
    written = -PAUSE

    def heard(event: Event) -> None:
        nonlocal written
        listener(event)
        last = event.number == event.count and event.state in (State.DONE, State.KEPT)
        if last or (event.state is State.DONE and time.monotonic() - written >= PAUSE):
            try_report(folder, warn)
            written = time.monotonic()

    return heard
