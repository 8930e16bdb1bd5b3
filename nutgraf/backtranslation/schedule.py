"""Steps side by side: each begins when what it needs is done and enough threads are free, in the plan's order.

It knows neither what a step does nor where. A step that takes all threads is done in the caller's own thread, so that
an interrupt ends it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event as Signal

from nutgraf.run.plan import Step


class Schedule:
    """Steps to do, how many threads each takes, and how many there are."""

    def __init__(
        self, steps: Sequence[Step], threads_of: Callable[[Step], int], count_threads: Callable[[], int], stop: Signal
    ):
        self.waiting, self.threads_of, self.count_threads, self.stop = list(steps), threads_of, count_threads, stop
        self.done: set[str] = set()
        self.running: dict[Future[None], tuple[Step, int]] = {}

    def __call__(self, do: Callable[[Step], None]) -> None:
        """Do all steps. After an error, running steps end and no other begins; an interrupt sets the signal `stop`."""
        known = Signal()

        def work(step: Step, known: Signal) -> None:
            known.wait()
            if not self.stop.is_set():
                do(step)

        with ThreadPoolExecutor(max(1, len(self.waiting))) as pool:
            try:
                while self.waiting or self.running:
                    step, threads = self._next()
                    if step is None:
                        self._await_one()
                    elif threads == 0 or threads >= self.count_threads():
                        do(step)
                        self.done.add(step.name)
                    else:
                        known = Signal()
                        self.running[pool.submit(work, step, known)] = step, threads
                        known.set()  # not before: the pool does not know a thread that is just being started
            except BaseException as error:
                if not isinstance(error, Exception):  # an interrupt
                    self.stop.set()
                known.set()
                raise  # when all threads have ended: none may write to the folder once it is unlocked

    def _next(self) -> tuple[Step | None, int]:
        """Return the first step that can begin, and its threads; None where all must wait for another."""
        free = self.count_threads() - sum(threads for _, threads in self.running.values())
        return take_next(self.waiting, self.done, self.threads_of, free if self.running else None)

    def _await_one(self) -> None:
        ended, _ = wait(self.running, return_when=FIRST_COMPLETED)
        for future in ended:
            step, _ = self.running.pop(future)
            if future.exception():
                wait(self.running)
            future.result()
            self.done.add(step.name)


def take_next(
    waiting: list[Step], done: AbstractSet[str], threads_of: Callable[[Step], int], free: int | None
) -> tuple[Step | None, int]:
    """Take the first step that can begin with the free threads (None: nothing runs, so any can); also return its own.

    None where all must wait for another.
    """
    for step in waiting:
        if done >= {*step.needs}:
            threads = threads_of(step)
            if free is None or threads <= free:
                waiting.remove(step)
                return step, threads
    return None, 0
