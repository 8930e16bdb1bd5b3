"""How far a training or an evaluation is: one line that changes on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from nutgraf.progress import Progress, Report, duration
from nutgraf.run.events import Event, State
from nutgraf.terminal.console import err

EVERY = 30.0  # seconds between lines where there is no terminal


@contextmanager
def watch_evaluation() -> Iterator[Callable[[str], Report]]:
    """Yield a function from the name of a model to a function that shows the model's progress."""
    with err.status("") as status:

        def watch(name: str) -> Report:
            def show(progress: Progress) -> None:
                status.update(f"{name}: {progress.done:,}/{progress.total:,} {progress.unit}")

            status.update(f"{name} ...")
            return show

        yield watch


class TrainingDisplay:
    """Shows the events of a training; use it as a context."""

    def __init__(self, console: Console = err):
        self.console = console
        self.live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self.printed = 0.0

    def __enter__(self) -> TrainingDisplay:
        if self.live:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live:
            self.live.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        head = f"{event.number:>2}/{event.count} {event.step.name:<16}"
        match event.state:
            case State.RUNNING:
                self._show_running(event, head)
            case State.STARTED:
                self.printed = time.monotonic()
                if not self.live:
                    self.say(f"{head} started; about {duration(event.plan_left)} left for the whole plan")
            case State.DONE:
                self.say(f"{head} done in {duration(event.seconds)}")
            case State.KEPT:
                self.say(f"{head} done before, in {duration(event.seconds)}")
            case State.REDONE:
                self.warn(f"{event.step.name} is redone: {event.note}")
            case State.NOTED:
                self.warn(event.note)

    def say(self, line: str) -> None:
        """Print a line."""
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def warn(self, message: str) -> None:
        """Print a warning."""
        self.console.print(f"[yellow]warning:[/yellow] {escape(message)}", highlight=False, soft_wrap=True)

    def _show_running(self, event: Event, head: str) -> None:
        if self.live:
            self.live.update(_bar(event, head))
        elif time.monotonic() - self.printed > EVERY:
            self.printed = time.monotonic()
            self.say(f"{head} {_figures(event)}")


def _figures(event: Event) -> str:
    progress = event.progress
    assert progress is not None, "an event of a running step has progress"
    done = f"{progress.done:,}/{progress.total:,}" if progress.total else f"{progress.done:,}"
    note = f", {progress.note}" if progress.note else ""
    left = f"step {duration(event.step_left)} left, plan {duration(event.plan_left)} left"
    return f"{done} {progress.unit}, {event.rate:,.1f}/s{note}; {left}"


def _bar(event: Event, head: str) -> Table:
    progress = event.progress
    grid = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=progress.total or None, completed=progress.done, width=24) if progress else ""
    grid.add_row(head, bar, _figures(event))
    return grid
