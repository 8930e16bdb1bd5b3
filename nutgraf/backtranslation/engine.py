"""Runs a plan: does each step that is not done, as soon as it can, and reports events to a listener.

A step that is done and undamaged stays as it is. A step that is damaged, or was made by other code, is redone. What
depends on it is redone only if its output changed; steps are deterministic, so that is rare. Steps run side by side
where threads are free. It prints nothing.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from threading import Lock

from nutgraf.backtranslation import cost
from nutgraf.backtranslation.schedule import Schedule
from nutgraf.backtranslation.steps import ATTEMPT, Steps, Task, count_shards
from nutgraf.errors import NutgrafError, RunError
from nutgraf.files import read_text, remove, write_atomically
from nutgraf.hardware import ALONE, Hardware
from nutgraf.progress import Progress, check_stop, ignore
from nutgraf.run import manifest
from nutgraf.run.events import Event, Listener, State
from nutgraf.run.folder import PROGRESS, Run
from nutgraf.run.plan import Kind, Step
from nutgraf.run.sizes import Sizes
from nutgraf.workers.executor import Executor, Local, Tell

SPENT = "seconds"  # in the work folder: the seconds spent on the step so far
_WRITTEN_EVERY = 5.0  # seconds
_CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # numpy's way to say that the disk is full
ONE_THREAD = (Kind.CASING, Kind.EMBEDDINGS)  # steps that use only one thread

Checked = tuple[manifest.Manifest | None, str]  # the record of a step that need not be redone, or why it must be


class Engine:
    """Does the steps of one run."""

    def __init__(
        self,
        run: Run,
        steps: Sequence[Step],
        hardware: Hardware,
        listener: Listener = ignore,
        executor: Executor | None = None,
        keep: Callable[[Path], None] = ignore,  # hears the folder of each step that is done
    ):
        self.run, self.steps, self.listener, self.keep = run, tuple(steps), listener, keep
        self.executor = executor or Local(hardware)
        self.work = Steps(run, hardware, self.executor)
        self.keys = run.keys(self.steps)
        self.digests: dict[str, str] = {}  # of the outputs of the steps that are done
        self.listener_lock = Lock()
        self.clock = _Clock(cost.estimate(self.steps, run.recipe, Sizes.of(run.inputs, run.recipe), hardware.threads))

    def __call__(self, stop_after: str | None = None) -> None:
        """Do all that is not done, or all up to one step."""
        names = [step.name for step in self.steps]
        steps = self.steps[: names.index(stop_after) + 1] if stop_after else self.steps
        found = {step.name: self._check_done(step) for step in self.steps}
        self.clock.skip(name for name, (record, _) in found.items() if record)
        checked: dict[str, Checked] = {}

        def threads_of(step: Step) -> int:
            record, _ = checked[step.name] = self._check_inputs(step, *found[step.name])
            return 0 if record else self._threads_of(step)

        def do(step: Step) -> None:
            record, note = checked[step.name]
            if record is None:
                self._do(step, note)
            else:
                manifest.remove_work(self.run.step_folder(step.name))
                self.keep(self.run.step_folder(step.name))
                self.tell_state(step, State.KEPT, seconds=record.seconds)
                self.digests[step.name] = record.digest

        Schedule(steps, threads_of, self.executor.count_threads, self.executor.stop)(do)
        (self.run.folder / PROGRESS).unlink(missing_ok=True)

    def _threads_of(self, step: Step) -> int:
        return 1 if step.kind in ONE_THREAD else self.work.hardware.threads

    def _check_inputs(self, step: Step, record: manifest.Manifest | None, note: str) -> Checked:
        """Return the record of a step if its inputs have not changed, else why it must be redone."""
        if record and any(record.inputs.get(name) != self.digests[name] for name in step.needs):
            return None, "what it depends on came out differently"
        return record, note

    def _check_done(self, step: Step) -> Checked:
        """Return the record of a step that is done and undamaged, or why it must be redone."""
        try:
            record = self.run.finished(step.name)
        except manifest.DamagedError as error:
            return None, str(error)
        if record and record.key != self.keys[step.name]:
            return None, "made by another version of nutgraf, or from other pairs"
        return record, ""

    def _do(self, step: Step, note: str) -> None:
        if note:
            self.tell_state(step, State.REDONE, note=note)
        folder = self.run.step_folder(step.name)
        inputs = {name: self.digests[name] for name in step.needs}
        try:
            work = manifest.begin(folder, self.keys[step.name], inputs)
            watch = _Watch(self, step, work)
            self._make(Task(step, folder, work, f"{self.run.recipe.seed} {step.name}"), watch.tell)
            hardware, seconds = self.work.hardware, watch.earlier + watch.seconds
            key = self.keys[step.name]
            record = manifest.finish(folder, key, inputs, seconds, hardware.threads, str(hardware.device))
            self.keep(folder)
        except NutgrafError as error:
            raise type(error)(f"step {step.name}: {error}") from error
        except Exception as error:
            if reason := _failure_of_disk(error):
                raise RunError(
                    f"step {step.name}: the disk that holds {self.run.folder} {reason}. Steps that are done stay; "
                    "mend that and give the same command again"
                ) from error
            raise
        self.clock.spend(step.name, watch.seconds)
        self.digests[step.name] = record.digest
        self.tell_state(step, State.DONE, seconds=record.seconds)

    def _make(self, task: Task, tell: Tell) -> None:
        """Make a step: elsewhere, if the executor says so, in a folder of its own; one of parts, part by part."""
        for left in task.work.glob(f"{ATTEMPT}*"):  # by a process that was killed
            remove(left)
        if self.work.has_parts(task.step, self.run.recipe):
            self.work.make(replace(task, report=tell, warn=tell))
            return
        make, threads = partial(self.work.make_apart, task), self._threads_of(task.step)
        if (shards := count_shards(task.step, self.run.recipe)) > 1:
            made = self.executor.gang(make, shards, threads, task.work, tell)
        else:
            [(_, made)] = self.executor.map(make, [ALONE], threads, tell)
        for path in made.iterdir():
            path.replace(task.folder / path.name)

    def tell_state(self, step: Step, state: State, seconds: float = 0.0, note: str = "") -> None:
        """Report what happened to a step."""
        self.tell(Event(step, state, *self.place(step), None, seconds, plan_left=self.clock.left(), note=note))

    def place(self, step: Step) -> tuple[int, int]:
        """Return the number of a step in the plan, from 1, and the number of steps."""
        return self.steps.index(step) + 1, len(self.steps)

    def tell(self, event: Event) -> None:
        """Pass an event on; parallel steps take turns."""
        with self.listener_lock:
            self.listener(event)


class _Watch:
    """Turns the progress of one step into events."""

    def __init__(self, engine: Engine, step: Step, work: Path):
        self.engine, self.step, self.work = engine, step, work
        self.earlier = _seconds_before(work)
        self.started = time.monotonic()
        self.first: tuple[int, int, str] | None = None  # done, total, unit at the first report of a phase
        self.since = self.started
        self.written = 0.0
        engine.tell_state(step, State.STARTED)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def warn(self, message: str) -> None:
        """Pass on what the user should know."""
        self.engine.tell_state(self.step, State.NOTED, note=message)

    def tell(self, message: Progress | str) -> None:
        """Pass on progress, or what the user should know."""
        if isinstance(message, str):
            self.warn(message)
        else:
            self.report(message)

    def report(self, progress: Progress) -> None:
        """Pass progress on, with throughput and time left."""
        check_stop(self.engine.executor.stop.is_set)
        now = time.monotonic()
        # A step may have phases, each with its own count. Work done before a resume is not part of the rate.
        if self.first is None or self.first[1:] != (progress.total, progress.unit) or progress.done < self.first[0]:
            self.first, self.since = (progress.done, progress.total, progress.unit), now
        rate = (progress.done - self.first[0]) / (now - self.since) if now > self.since else 0.0
        planned = max(0.0, self.engine.clock.planned(self.step.name) - self.seconds)
        left = (progress.total - progress.done) / rate if rate and progress.total else planned
        after = self.engine.clock.left(besides=self.step.name)
        event = Event(
            self.step,
            State.RUNNING,
            *self.engine.place(self.step),
            progress,
            self.seconds,
            rate,
            left,
            left + after,
        )
        self.engine.tell(event)
        if now - self.written > _WRITTEN_EVERY:
            self.written = now
            facts = {"step": self.step.name, **asdict(progress), "step_left": left, "plan_left": left + after}
            write_atomically(self.engine.run.folder / PROGRESS, json.dumps(facts).encode())
            write_atomically(self.work / SPENT, f"{self.earlier + self.seconds:.1f}".encode())


class _Clock:
    """Estimated seconds of the steps to come, corrected by what the steps before took."""

    def __init__(self, estimates: Mapping[str, float]):
        self.estimates = dict(estimates)
        self.to_come = set(estimates)
        self.taken = self.foreseen = 0.0

    def skip(self, names: Iterable[str]) -> None:
        self.to_come -= set(names)

    def spend(self, name: str, seconds: float) -> None:
        self.to_come.discard(name)
        self.taken += seconds
        self.foreseen += self.estimates[name]

    @property
    def factor(self) -> float:
        # Sixty foreseen seconds count as having come true, so that one short step does not upset the rest.
        return (self.taken + 60) / (self.foreseen + 60)

    def planned(self, name: str) -> float:
        return self.estimates[name] * self.factor

    def left(self, besides: str = "") -> float:
        return self.factor * sum(self.estimates[name] for name in self.to_come if name != besides)


def _seconds_before(work: Path) -> float:
    """Return what processes that were killed had spent on the step."""
    try:
        seconds = float(read_text(work / SPENT, 100))
    except (FileNotFoundError, ValueError):  # none were killed
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0


def _failure_of_disk(error: BaseException) -> str:
    """Return what an error, from Python or from a library, says of the disk; empty if it says nothing."""
    told = re.search(r"\(os error (\d+)\)", str(error))  # safetensors' way
    number = error.errno if isinstance(error, OSError) else int(told[1]) if told else None
    if number in (errno.ENOSPC, errno.EDQUOT) or _CUT_SHORT.search(str(error)):
        return "is full"
    return f"fails: {os.strerror(number)}" if number else ""
