"""One thread that owns the models and summarizes texts of several clients together.

Requests wait in a queue. The thread takes the first, gives others a few milliseconds to arrive, and takes all with the
same key (model and options) along, up to a batch: decoding many texts at once costs little more than one. A request's
texts stay together and in order, and each request has its own future, so that an answer cannot reach the wrong client.

Clients take turns: whoever has many requests waiting delays another by one batch at most, and a batch is no more work
than one request may be. Work that nobody waits for any more is stopped at the next step of decoding.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Event, Thread

from nutgraf.progress import Stopped
from nutgraf.serve.limits import Limits
from nutgraf.serve.metrics import Metrics
from nutgraf.serve.models import Models
from nutgraf.summarizing.results import SummaryOptions, SummaryResult

MOST_WAITS = 6  # times `Limits.wait`: a batch is computed then, even if requests still arrive
GRACE = 5.0  # seconds for the last work when the server ends: by then, every request was answered or given up


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
    client: str = ""
    work: int = 0
    future: Future[list[SummaryResult]] = field(default_factory=Future)
    dropped: Event = field(default_factory=Event)


class Batcher:
    """Starts its thread when made; `close` ends it after every accepted request is answered."""

    def __init__(self, models: Models, limits: Limits, metrics: Metrics):
        self._models, self._limits, self._metrics = models, limits, metrics
        self._queues: OrderedDict[str, deque[QueuedRequest]] = OrderedDict()  # by client, in the order of their turns
        self._changed = Condition()
        self._closing = False
        self._ended = Event()
        metrics.queue.set_function(self.count_waiting)
        self._thread = Thread(target=self._work, name="nutgraf models", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether there is a thread to answer requests."""
        return self._thread.is_alive()

    @property
    def ready(self) -> bool:
        """Whether a further request would be accepted."""
        with self._changed:
            return self.alive and not self._closing and self._count() < self._limits.queue

    def count_waiting(self) -> int:
        """Count the texts in the queue."""
        with self._changed:
            return self._count()

    def submit(self, key: BatchKey, texts: Sequence[str], client: str = "", work: int = 0) -> QueuedRequest:
        """Queue the texts of a request; `drop` takes them out again."""
        request = QueuedRequest(key, texts, client, work)
        with self._changed:
            if self._closing:
                raise ClosedError
            own = sum(len(waiting.texts) for waiting in self._queues.get(client, ()))
            if self._count() + len(texts) > self._limits.queue or own + len(texts) > self._limits.client_queue:
                raise QueueFullError
            self._queues.setdefault(client, deque()).append(request)
            self._changed.notify()
        return request

    def drop(self, request: QueuedRequest) -> None:
        """Forget a request that nobody waits for: it leaves the queue, or its work is stopped."""
        request.dropped.set()
        with self._changed:
            self._remove(request)

    def close(self) -> None:
        """Answer every accepted request, then stop; what takes longer than GRACE is stopped, too."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(GRACE)
        self._ended.set()
        self._thread.join(GRACE)

    def _waiting(self) -> Iterator[QueuedRequest]:
        return (request for queue in self._queues.values() for request in queue)

    def _count(self) -> int:
        return sum(len(request.texts) for request in self._waiting())

    def _remove(self, request: QueuedRequest) -> None:
        queue = self._queues.get(request.client, deque())
        if request in queue:
            queue.remove(request)
            if not queue:
                del self._queues[request.client]

    def _work(self) -> None:
        while batch := self._next_batch():
            self._summarize([request for request in batch if request.future.set_running_or_notify_cancel()])

    def _next_batch(self) -> list[QueuedRequest]:
        """Wait for a request and for its batch to fill; an empty list means that the server is closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._queues or self._closing)
                if not self._queues:
                    return []
                key = next(self._waiting()).key
                # Clients that were answered together return one by one: wait until no more of them arrive.
                until = time.monotonic() + MOST_WAITS * self._limits.wait
                while not (self._closing or self._is_full(key)) and time.monotonic() < until:
                    if not self._changed.wait(self._limits.wait):
                        break
                if batch := self._take_batch():  # else all were dropped while it waited
                    return batch

    def _is_full(self, key: BatchKey) -> bool:
        return sum(len(request.texts) for request in self._waiting() if request.key == key) >= self._limits.batch

    def _take_batch(self) -> list[QueuedRequest]:
        """Take the first request, and others with its key up to a batch; a single one may be larger."""
        batch: list[QueuedRequest] = []
        room, work = self._limits.batch, self._limits.work
        for request in self._waiting():
            fits = len(request.texts) <= room and request.work <= work
            if not batch or (request.key == batch[0].key and fits):
                batch.append(request)
                room -= len(request.texts)
                work -= request.work
        for request in batch:
            self._remove(request)
        for client in {request.client for request in batch} & self._queues.keys():
            self._queues.move_to_end(client)
        return batch

    def _summarize(self, batch: Sequence[QueuedRequest]) -> None:
        batch = [request for request in batch if not request.dropped.is_set()]
        if not batch:
            return
        key = batch[0].key
        texts = [text for request in batch for text in request.texts]

        def should_stop() -> bool:
            return self._ended.is_set() or all(request.dropped.is_set() for request in batch)

        try:
            results = self._models.by_name[key.model].answer(texts, key.options, should_stop)
            if len(results) != len(texts):
                raise RuntimeError(f"{key.model}: {len(results)} summaries of {len(texts)} texts")
        except Exception as error:
            if len(batch) == 1 or isinstance(error, Stopped):
                for request in batch:
                    request.future.set_exception(ClosedError() if isinstance(error, Stopped) else error)
            else:  # one client's text must not fail another's request
                for request in batch:
                    self._summarize([request])
            return
        self._metrics.texts.labels(key.model).inc(len(texts))
        self._metrics.batch.observe(len(texts))
        remaining = iter(results)
        for request in batch:
            request.future.set_result([next(remaining) for _ in request.texts])
