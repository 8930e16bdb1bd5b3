"""Which steps of a run are done, running and to come; nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.errors import RunError
from nutgraf.files import read_json
from nutgraf.run.folder import PROGRESS, Run
from nutgraf.run.lock import is_locked
from nutgraf.run.manifest import DamagedError


@dataclass(frozen=True)
class StepState:
    """One line of the status."""

    step: str
    state: str  # done, running, damaged, to come
    seconds: float = 0.0
    note: str = ""


def states(run: Run) -> list[StepState]:
    """Return the state of each step, in the plan's order; checksums are compared."""
    steps = run.plan()
    keys = run.keys(steps)
    under_way = _under_way(run)
    result = []
    for step in steps:
        try:
            record = run.finished(step.name)
        except DamagedError as error:
            result.append(StepState(step.name, "damaged", note=str(error)))
            continue
        if record and record.key == keys[step.name]:
            result.append(StepState(step.name, "done", record.seconds))
        elif under_way and under_way[0] == step.name:
            result.append(StepState(step.name, "running", note=under_way[1]))
        else:
            result.append(StepState(step.name, "to come"))
    return result


def _under_way(run: Run) -> tuple[str, str] | None:
    """Return the step that a process is at, and how far it is; None where none is training."""
    try:
        facts = read_json(run.folder / PROGRESS)
        note = f"{facts['done']:,}/{facts['total']:,} {facts['unit']}, some {facts['step_left']:.0f} s left"
        return (str(facts["step"]), note) if is_locked(run.folder) else None
    except (OSError, RunError, ValueError, LookupError, TypeError):
        return None
