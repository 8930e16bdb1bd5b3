"""Tables of a plan, of the state of a run and of samples, printed on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from nutgraf.progress import duration
from nutgraf.terminal.console import out

if TYPE_CHECKING:
    from nutgraf.evaluation.samples import Sample
    from nutgraf.run.plan import Step
    from nutgraf.run.status import StepState


def show_plan(steps: Sequence[tuple[Step, float]]) -> None:
    """Print the steps of a plan with their estimated seconds."""
    total = duration(sum(seconds for _, seconds in steps))
    caption = f"{len(steps)} steps, about {total} in all. This is an estimate: machines differ by a factor of two."
    table = Table("step", "from", "estimated", caption=caption, caption_justify="left")
    for step, seconds in steps:
        table.add_row(step.name, ", ".join(step.needs), duration(seconds))
    out.print(table)


def show_forecast(spans: Sequence[tuple[Step, float, float, float]], notes: Sequence[str]) -> None:
    """Print when each step begins and ends and how many workers it has; below, what that follows from."""
    table = Table("step", "from", "workers", "begins", "ends")
    for step, workers, begins, ends in spans:
        table.add_row(step.name, ", ".join(step.needs), f"{workers:,.0f}", duration(begins), duration(ends))
    out.print(table)
    for note in notes:
        out.print(note, markup=False, highlight=False, soft_wrap=True)


def show_status(states: Sequence[StepState]) -> None:
    """Print the state of each step of a run."""
    table = Table("step", "state", "time", "")
    for row in states:
        table.add_row(row.step, row.state, duration(row.seconds) if row.seconds else "", escape(row.note))
    out.print(table)


def show_samples(title: str, label: str, samples: Sequence[Sample]) -> None:
    """Print sentences, each marked with the label, and below each what every model wrote for it; nothing if none."""
    if not samples:
        return
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column()
    for sample in samples:
        table.add_row(f"[bold]{label}[/bold]", f"[bold]{escape(sample.given)}[/bold]")
        for name, output in sample.made:
            table.add_row(name, escape(output))
        table.add_section()
    out.print(table)
