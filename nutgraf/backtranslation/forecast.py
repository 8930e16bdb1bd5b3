"""How long a plan may take on a cluster: its ready set, simulated over workers that nobody needs to have.

Steps begin by the same rule as in `schedule`, and each takes as long as `cost` says. A step of parts is made by all
workers that have nothing else to do, in equal shares where several steps have parts; then the driver joins the parts.
It is as if parts were as fine as sand: that workers wait for the last one of a step is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nutgraf.backtranslation import cost
from nutgraf.backtranslation.schedule import take_next
from nutgraf.backtranslation.steps import Steps, count_shards
from nutgraf.recipe import Recipe
from nutgraf.run.inputs import PART_BYTES
from nutgraf.run.plan import Kind, Step
from nutgraf.run.sizes import Sizes

WORD_BYTES = 5.5  # of a file, with blanks
GAIN = 1.5  # in speed, of twice as many workers that train one model


@dataclass(frozen=True)
class Job:
    """A step as the simulation sees it."""

    step: Step
    seconds: float  # of the workers that it takes or, if it has parts, of all workers together
    workers: int = 1  # that it takes, all or nothing
    parts: int = 0  # that any workers can make, one each; none: it is not made of parts
    joining: float = 0.0  # seconds of the driver, once all parts are there


@dataclass(frozen=True)
class Span:
    """When a step begins and ends, in seconds, and the workers that it has on average."""

    step: Step
    begins: float
    ends: float
    workers: float


@dataclass(frozen=True)
class Forecast:
    """What a simulation found."""

    spans: tuple[Span, ...]  # in the plan's order
    workers: int

    @property
    def seconds(self) -> float:
        """When the last step ends."""
        return max((span.ends for span in self.spans), default=0.0)

    @property
    def busy(self) -> float:
        """The share of the workers' time that is spent on steps."""
        spent = sum(span.workers * (span.ends - span.begins) for span in self.spans)
        return spent / (self.workers * self.seconds) if self.seconds else 0.0

    @property
    def path(self) -> list[Span]:
        """The steps that decide when all is done: the last one, the last one that it waited for, and so on."""
        by_name, found = {span.step.name: span for span in self.spans}, list[Span]()
        last = max(self.spans, key=lambda span: span.ends, default=None)
        while last:
            found.append(last)
            last = max((by_name[need] for need in last.step.needs), key=lambda span: span.ends, default=None)
        return found[::-1]


def forecast(steps: Sequence[Step], recipe: Recipe, sizes: Sizes, threads: int, workers: int) -> Forecast:
    """Simulate the plan on workers with this many threads each."""
    seconds = cost.estimate(steps, recipe, sizes, threads)
    return simulate([_job(step, recipe, sizes, seconds[step.name], workers) for step in steps], workers)


def _job(step: Step, recipe: Recipe, sizes: Sizes, seconds: float, workers: int) -> Job:
    if step.kind is Kind.TEXT:
        words = sizes.texts * sizes.text_words + sizes.summaries * sizes.summary_words
        return Job(step, seconds, 1, math.ceil(words * WORD_BYTES / PART_BYTES), words / cost.MERGED_WORDS)
    if step.kind is Kind.EMBEDDINGS:
        return Job(step, seconds, 1, recipe.embeddings.blocks if Steps.has_parts(step, recipe) else 0)
    if Steps.has_parts(step, recipe):
        count = cost.count_pairs(step, recipe, sizes)
        return Job(step, seconds, 1, math.ceil(count / recipe.generation.chunk), count / cost.JOINED)
    doublings = min(count_shards(step, recipe), workers).bit_length() - 1
    return Job(step, seconds / GAIN**doublings, 1 << doublings)


@dataclass
class _Running:
    """A job under way."""

    job: Job
    begun: float
    left: float  # seconds of its workers, or of the driver
    joins: bool = False  # its parts are all there


def simulate(jobs: Sequence[Job], workers: int) -> Forecast:
    """Let jobs begin as `schedule.Schedule` does, and end when their workers have done what is left."""
    by_name = {job.step.name: job for job in jobs}
    waiting, running, spans, now = [job.step for job in jobs], list[_Running](), dict[str, Span](), 0.0
    while waiting or running:
        while step := _take_next(waiting, spans.keys(), by_name, running, workers):
            job = by_name[step.name]
            running.append(_Running(job, now, job.seconds))
        speeds = _share(running, workers)
        passed = min(one.left / speed for one, speed in zip(running, speeds, strict=True))
        now += passed
        for one, speed in zip(list(running), speeds, strict=True):
            one.left -= passed * speed
            if one.left <= 1e-9 * now:
                _end(one, running, spans, now)
    return Forecast(tuple(spans[job.step.name] for job in jobs), workers)


def _take_next(
    waiting: list[Step], done: Iterable[str], by_name: dict[str, Job], running: Sequence[_Running], workers: int
) -> Step | None:
    free = workers - sum(one.job.workers for one in running) if running else None
    return take_next(waiting, {*done}, lambda step: by_name[step.name].workers, free)[0]


def _share(running: Sequence[_Running], workers: int) -> list[float]:
    """Return the seconds of work per second that each job has; those of parts divide what the others leave."""
    spare = float(workers - sum(one.job.workers for one in running if not one.job.parts))
    sharing = sorted((one for one in running if one.job.parts and not one.joins), key=lambda one: one.job.parts)
    speeds = {id(one): 1.0 for one in running}
    for place, one in enumerate(sharing):  # those with the fewest parts first: they may leave something over
        speeds[id(one)] = min(one.job.parts, spare / (len(sharing) - place))
        spare -= speeds[id(one)]
    return [speeds[id(one)] for one in running]


def _end(one: _Running, running: list[_Running], spans: dict[str, Span], now: float) -> None:
    """Note that a job is done, or that its parts are and the driver joins them."""
    if one.job.joining and not one.joins:
        one.joins, one.left = True, one.job.joining
        return
    running.remove(one)
    spent = one.job.seconds * (1 if one.job.parts else one.job.workers)
    length = now - one.begun
    spans[one.job.step.name] = Span(one.job.step, one.begun, now, spent / length if length else one.job.workers)
