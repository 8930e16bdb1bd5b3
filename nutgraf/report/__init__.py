"""The report of a run: run/report.html, one self-contained file to read and to show, without scripts or network.

It is written after the steps of a training and after every evaluation, and by `nutgraf report`. Its content is read
from the run folder (facts), computed (verdict, scores, corpora, charts) and laid out (page, templates/). It runs no
model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import write_atomically
from nutgraf.report.page import render_page
from nutgraf.run.events import Event, Listener, State
from nutgraf.run.folder import REPORT, Run

PAUSE = 5.0  # seconds between reports while short steps follow each other
Warn = Callable[[str], None]


def write_report(run: Run, out: Path | None = None) -> Path:
    """Write the report of a run in whatever state it is, and return where it is."""
    path = out or run.folder / REPORT
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        write_atomically(path, render_page(run, written).encode())
    except OSError as error:
        raise RunError(f"{path}: the report cannot be written ({error}). Name another file with --out") from error
    return path


def try_report(folder: Path, warn: Warn) -> None:
    """Write the report of a run; a failure is only a warning, since nothing else depends on the report."""
    try:
        write_report(Run.open(folder))
    except Exception as error:
        warn(f"{folder / REPORT}: not written ({type(error).__name__}: {error}). Everything else continues")


def reporting(folder: Path, listener: Listener, warn: Warn) -> Listener:
    """Return a listener that passes every event on and writes the report when a step is done.

    Short steps do not each get a report; the last step always does, even if it was done before.
    """
    written = -PAUSE

    def handle(event: Event) -> None:
        nonlocal written
        listener(event)
        last = event.number == event.count and event.state in (State.DONE, State.KEPT)
        if last or (event.state is State.DONE and time.monotonic() - written >= PAUSE):
            try_report(folder, warn)
            written = time.monotonic()

    return handle
