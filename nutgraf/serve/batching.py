"""One thread that owns the models and summarizes texts of several clients together.

Requests wait in a queue. The thread takes the first, gives others a few milliseconds to arrive, and takes all with the
same key (model and options) along, up to a batch: decoding many texts at once costs little more than one. A request's
texts stay together and in order, and each request has its own future, so that an answer cannot reach the wrong client.
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
from nutgraf.summarizing.results import SummaryOptions, SummaryResult

MOST_WAITS = 6  # times `Limits.wait`: a batch is computed then, even if requests still arrive


class QueueFullError(Exception):
    """The queue has no room for the texts of a request."""


class ClosedError(Exception):
    """The server is shutting down."""


@dataclass(frozen=True)
class BatchKey:
    """What requests must have in common to be summarized together."""

    model: str
    options: SummaryOptions


@dataclass(frozen=True, eq=False)
class QueuedRequest:
    """The texts of one request and its answer to come."""

    key: BatchKey
    texts: Sequence[str]
    future: Future[list[SummaryResult]] = field(default_factory=Future)


class Batcher:
    """Starts its thread when made; `close` ends it after every accepted request is answered."""

    def __init__(self, models: Models, limits: Limits, metrics: Metrics):
        self._models, self._limits, self._metrics = models, limits, metrics
        self._queue: deque[QueuedRequest] = deque()
        self._changed = Condition()
        self._closing = False
        metrics.queue.set_function(self.count_waiting)
        self._thread = Thread(target=self._work, name="nutgraf models", daemon=True)
        self._thread.start()

    def count_waiting(self) -> int:
        """Count the texts in the queue."""
        with self._changed:
            return self._count()

    def submit(self, key: BatchKey, texts: Sequence[str]) -> Future[list[SummaryResult]]:
        """Queue the texts of a request; cancelling the future takes them out of the queue."""
        request = QueuedRequest(key, texts)
        with self._changed:
            if self._closing:
                raise ClosedError
            if self._count() + len(texts) > self._limits.queue:
                raise QueueFullError
            self._queue.append(request)
            self._changed.notify()
        return request.future

    def close(self) -> None:
        """Answer every accepted request, then stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _count(self) -> int:
        return sum(len(request.texts) for request in self._queue if not request.future.cancelled())

    def _work(self) -> None:
        while batch := self._next_batch():
            if live := [request for request in batch if request.future.set_running_or_notify_cancel()]:
                self._summarize(live)

    def _next_batch(self) -> list[QueuedRequest]:
        """Wait for a request and for its batch to fill; an empty list means that the server is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            if not self._queue:
                return []
            key = self._queue[0].key
            # Clients that were answered together return one by one: wait until no more of them arrive.
            until = time.monotonic() + MOST_WAITS * self._limits.wait
            while not (self._closing or self._is_full(key)) and time.monotonic() < until:
                if not self._changed.wait(self._limits.wait):
                    break
            return self._take_batch(key)

    def _is_full(self, key: BatchKey) -> bool:
        return sum(len(request.texts) for request in self._queue if request.key == key) >= self._limits.batch

    def _take_batch(self, key: BatchKey) -> list[QueuedRequest]:
        """Take requests with this key from the queue, in order, up to a batch; a single one may be larger."""
        batch: list[QueuedRequest] = []
        room = self._limits.batch
        for request in self._queue:
            if request.key == key and (not batch or len(request.texts) <= room):
                batch.append(request)
                room -= len(request.texts)
        for request in batch:
            self._queue.remove(request)
        return batch

    def _summarize(self, batch: Sequence[QueuedRequest]) -> None:
        key = batch[0].key
        texts = [text for request in batch for text in request.texts]
        try:
            results = self._models.by_name[key.model].answer(texts, key.options)
            if len(results) != len(texts):
                raise RuntimeError(f"{key.model}: {len(results)} summaries of {len(texts)} texts")
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:  # one client's text must not fail another's request
                for request in batch:
                    self._summarize([request])
            return
        self._metrics.texts.labels(key.model).inc(len(texts))
        self._metrics.batch.observe(len(texts))
        remaining = iter(results)
        for request in batch:
            request.future.set_result([next(remaining) for _ in request.texts])
