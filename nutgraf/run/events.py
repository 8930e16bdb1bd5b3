"""What happens to the steps of a run, as plain values for listeners: a terminal, the report, TensorBoard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nutgraf.progress import Progress
from nutgraf.run.plan import Step


class State(StrEnum):
    """What happened to a step."""

    KEPT = "kept"  # it was done before
    REDONE = "redone"  # it was done before and must be redone; the note says why
    STARTED = "started"
    RUNNING = "running"
    NOTED = "noted"  # the note says what the user should know
    DONE = "done"


@dataclass(frozen=True)
class Event:
    """One thing to show."""

    step: Step
    state: State
    number: int  # of the step in the plan, from 1
    count: int  # of steps in the plan
    progress: Progress | None = None
    seconds: float = 0.0  # since the step was started; for kept steps what it took then
    rate: float = 0.0  # progress units a second, since this process took the step up
    step_left: float = 0.0
    plan_left: float = 0.0
    note: str = ""


Listener = Callable[[Event], None]
