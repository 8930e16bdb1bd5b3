"""One thread that owns the models and summarizes together what several clients sent.

Jobs wait in one line. The thread takes the first, gives others a few milliseconds to come, and takes all of the same
group (model, length, ...) with it, up to a batch: decoding many texts at once costs little more than one. A job's texts
stay together and in order, and each job has its own future, so that an answer cannot reach the wrong client.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread

from nutgraf.serve.limits import Limits
from nutgraf.serve.metrics import Metrics
from nutgraf.serve.models import Models
from nutgraf.summarizing.summarizer import SummaryOptions, SummaryResult

PATIENCE = 6  # times `Limits.wait`: a batch leaves then, even if requests still come


class QueueFullError(Exception):
    """More texts wait than may."""


class ClosedError(Exception):
    """The server is shutting down."""


@dataclass(frozen=True)
class Group:
    """What jobs must have in common to be summarized together."""

    model: str
    options: SummaryOptions


@dataclass(frozen=True, eq=False)
class Job:
    """The texts of one request."""

    group: Group
    texts: Sequence[str]
    future: Future[list[SummaryResult]] = field(default_factory=Future)


class Batcher:
    """Started when made; `close` ends it after everything that was accepted is done."""

    def __init__(self, models: Models, limits: Limits, metrics: Metrics):
        self._models, self._limits, self._metrics = models, limits, metrics
        self._line: deque[Job] = deque()
        self._changed = Condition()
        self._closing = False
        self._thread = Thread(target=self._work, name="nutgraf models", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Texts in the line."""
        with self._changed:
            return self._texts()

    def submit(self, group: Group, texts: Sequence[str]) -> Future[list[SummaryResult]]:
        """Put a request's texts into the line; cancelling the future takes them out again."""
        job = Job(group, texts)
        with self._changed:
            if self._closing:
                raise ClosedError
            if self._texts() + len(texts) > self._limits.queue:
                raise QueueFullError
            self._line.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Finish what was accepted, then stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _texts(self) -> int:
        return sum(len(job.texts) for job in self._line if not job.future.cancelled())

    def _work(self) -> None:
        while jobs := self._next():
            if live := [job for job in jobs if job.future.set_running_or_notify_cancel()]:
                self._summarize(live)

    def _next(self) -> list[Job]:
        """Wait for a job and for its batch to fill; none: nothing will come any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._line or self._closing)
            if not self._line:
                return []
            group = self._line[0].group
            # Clients that were answered together come back one by one: a batch waits until no more of them come.
            until = time.monotonic() + PATIENCE * self._limits.wait
            while not (self._closing or self._full(group)) and time.monotonic() < until:
                if not self._changed.wait(self._limits.wait):
                    break
            return self._taken(group)

    def _full(self, group: Group) -> bool:
        return sum(len(job.texts) for job in self._line if job.group == group) >= self._limits.batch

    def _taken(self, group: Group) -> list[Job]:
        """Take the group's jobs from the line, in order, up to a batch; one job may be larger than that."""
        taken: list[Job] = []
        room = self._limits.batch
        for job in self._line:
            if job.group == group and (not taken or len(job.texts) <= room):
                taken.append(job)
                room -= len(job.texts)
        for job in taken:
            self._line.remove(job)
        return taken

    def _summarize(self, jobs: Sequence[Job]) -> None:
        group = jobs[0].group
        texts = [text for job in jobs for text in job.texts]
        try:
            found = self._models.by_name[group.model].answer(texts, group.options)
            if len(found) != len(texts):
                raise RuntimeError(f"{group.model}: {len(found)} summaries of {len(texts)} texts")
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].future.set_exception(error)
            else:  # one client's text must not spoil another's answer
                for job in jobs:
                    self._summarize([job])
            return
        self._metrics.batch(group.model, len(texts))
        summaries = iter(found)
        for job in jobs:
            job.future.set_result([next(summaries) for _ in job.texts])
