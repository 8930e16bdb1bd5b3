"""Work for the tests with Ray: it dies, fails or waits where it is told to, in the worker's process.

Run as a program, it is a driver: corpus folder, run folder, address, and the step in which it kills itself. What only
some of the work needs is imported where it is used: every worker that dies is replaced by one that imports all again.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from nutgraf.errors import RecipeError
from nutgraf.hardware import Rank
from nutgraf.progress import Progress, ignore
from nutgraf.workers.cluster import Cluster
from nutgraf.workers.executor import Item, Result, Tell, Work


def kill_first(marks: Path, item: int, tell: Tell) -> int:
    """Return the item's double; the first attempt at item 1 is killed."""
    tell(f"item {item}")
    mark = marks / str(item)
    if item == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * item


def fail(item: str, tell: Tell) -> None:
    """Fail in a way that a step can."""
    if item == "full":
        raise OSError(28, "No space left on device")
    if item == "recipe":
        raise RecipeError("near-1: nothing to learn from")
    raise ZeroDivisionError("division by zero")


def fail_as_second(marks: Path, rank: Rank, tell: Tell) -> None:
    """Fail as the second of two; the first waits, and leaves its process id."""
    if rank.number == 0:
        (marks / "waits").write_text(str(os.getpid()))
        time.sleep(600)
    while not (marks / "waits").exists():
        time.sleep(0.01)
    raise RecipeError("near-1: nothing to learn from")


@dataclass(frozen=True)
class Frozen:
    """Work that, on a node that will freeze, leaves its process id and waits; on the others, it waits for that."""

    marks: Path
    node: str

    def __call__(self, item: int | Rank, tell: Tell) -> int:
        import ray

        if isinstance(item, Rank) and item.count == 1:
            return -1  # the others are gone
        begun = self.marks / "begun"
        if ray.get_runtime_context().get_node_id() == self.node:
            begun.write_text(str(os.getpid()))
            time.sleep(600)
        while not begun.exists() or isinstance(item, Rank):  # a rank waits for the others
            time.sleep(0.1)
        return 2 * item


@dataclass(frozen=True)
class Dying:
    """Work whose first attempt is killed at its first report, for the steps that are named."""

    marks: Path
    steps: tuple[str, ...]

    def __call__(self, work: Work[Item, Result], item: Item, tell: Tell) -> Result:
        from nutgraf.backtranslation.steps import Task

        task = work.args[0] if isinstance(work, partial) else None
        assert isinstance(task, Task)
        mark = self.marks / task.step.name

        def die(message: Progress | str) -> None:
            if mark.name in self.steps and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            tell(message)

        return work(item, die)


@dataclass(frozen=True)
class Lost:
    """Work of one step that, on a node that will be lost, waits for that; on the others, for work to begin there."""

    marks: Path
    step: str
    node: str

    def __call__(self, work: Work[Item, Result], item: Item, tell: Tell) -> Result:
        import ray

        from nutgraf.backtranslation.steps import Task

        task, begun = work.args[0] if isinstance(work, partial) else None, self.marks / "begun"
        assert isinstance(task, Task)
        if task.step.name == self.step:
            if ray.get_runtime_context().get_node_id() == self.node:
                begun.touch()
                time.sleep(600)
            while not begun.exists():  # so that there is work left for the other
                time.sleep(0.1)
        return work(item, tell)


class FragileCluster(Cluster):
    """A cluster on which workers die."""

    dying: Dying | Lost

    def map(
        self, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
    ) -> Iterator[tuple[Item, Result]]:
        """Do the work, with deaths."""
        return super().map(partial(self.dying, work), items, threads, tell)

    def gang(self, work: Work[Rank, Result], most: int, threads: int, folder: Path, tell: Tell) -> Result:
        """Do the work together, with deaths."""
        return super().gang(partial(self.dying, work), most, threads, folder, tell)


def main() -> None:
    """Train on a cluster until the driver kills itself."""
    from nutgraf.backtranslation.train import run_training
    from nutgraf.run.events import Event, State
    from tests.tiny import Corpus, request

    corpus, out, address, last = Corpus(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], sys.argv[4]

    def listener(event: Event) -> None:
        if event.step.name == last and event.state is State.STARTED:
            os.kill(os.getpid(), signal.SIGKILL)

    asked = replace(request(corpus, out), cluster=f"ray:{address}", only=("mu1-2",))
    run_training(asked, listener, ignore)


if __name__ == "__main__":
    main()
