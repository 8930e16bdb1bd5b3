"""The executor of a Ray cluster: work is done by processes on any of its machines, which share the run folder.

Only Ray's core is used. A task is a function of nutgraf's with paths and numbers; Ray repeats it where its worker or
its machine dies. It does not where a machine freezes, or loses its network: Ray gives such a machine up after a while,
and waits for its task all the same. So each task says where it begins, and is begun again once that machine is gone.
Machines that differ are refused at the start, and by every task: one may join later. No task is cancelled: Ray's driver
aborts where a task ends in that moment. What a failed map leaves running ends with the driver.
"""

from __future__ import annotations

import itertools
import secrets
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event as Signal
from typing import Any, NamedTuple

from nutgraf.errors import InputError, LostError, RunError
from nutgraf.extras import need_extra
from nutgraf.files import write_atomically
from nutgraf.hardware import Hardware, Rank
from nutgraf.progress import Progress, Stopped
from nutgraf.workers.executor import Executor, Item, Local, Result, Tell, Work
from nutgraf.workers.machines import Kind, Machine, check_machines, kind_here

RETRIES = 10  # of a task whose worker or machine died
AHEAD = 2  # tasks of a map that wait in Ray's queue, for each that runs
_POLL = 0.2  # seconds between looks at the mail
_MAIL_EVERY = 1.0  # seconds between letters of a task
_CONNECT = 10.0  # seconds
_PATIENCE = 3.0  # seconds in which Ray may repeat the tasks of a machine that is gone
_LAST_WORDS = 5.0  # seconds in which a rank that failed says why, where others lost it


@contextmanager
def use_executor(name: str | None, hardware: Hardware, folder: Path | None) -> Iterator[Executor]:
    """Yield where to work: here, or on the Ray cluster that is named ray or ray:ADDRESS, once its machines agree.

    If there is a folder, all machines must see it.
    """
    if name is None:
        yield Local(hardware)
        return
    cluster = connect(name)
    try:
        check_machines(cluster.census(folder), kind_here(), hardware.threads, folder)
        yield cluster
    finally:
        cluster.close()


def connect(name: str) -> Cluster:
    """Connect this process to the cluster that is named ray or ray:ADDRESS."""
    address = check_name(name)
    need_extra("cluster", "--cluster")
    return Cluster(address)


def check_name(name: str) -> str:
    """Return the address of a cluster, "auto" where its name has none; an InputError where it is no name of one."""
    engine, _, address = name.partition(":")
    if engine != "ray" or address.startswith("//"):
        raise InputError(
            f"--cluster {name}: expected ray or ray:HOST:PORT, on a machine of the cluster; from elsewhere, submit the "
            "command with `ray job submit`"
        )
    return address or "auto"


class Cluster:
    """A Ray cluster that this process is connected to."""

    def __init__(self, address: str):
        import ray

        self.ray, self.stop, self.numbers = ray, Signal(), itertools.count()
        self.gone: dict[str, float] = {}  # machines that Ray has given up, and when we saw it
        try:
            if address != "auto":  # Ray itself would try for minutes
                host, _, port = address.rpartition(":")
                socket.create_connection((host, int(port)), timeout=_CONNECT).close()
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (OSError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:300]
            raise RunError(
                f"--cluster: no Ray cluster answers here ({reason}). Start one: `ray start --head`"
            ) from error
        here = ray.get_runtime_context().get_node_id()
        self.mail = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=self._on(here)).remote()

    def close(self) -> None:
        """Leave the cluster; Ray ends what this process began there."""
        self.ray.shutdown()

    def count_threads(self) -> int:
        """Return the cores of all machines that are there now."""
        return int(self.ray.cluster_resources().get("CPU", 0))

    def count_cores(self) -> list[int]:
        """Return the cores of each machine that is there now."""
        return [int(node["Resources"].get("CPU", 0)) for node in self.ray.nodes() if node["Alive"]]

    def census(self, folder: Path | None) -> list[Machine]:
        """Return what each machine is; the folder, if any, is one that all should see."""
        mark, token = folder / ".census" if folder else None, secrets.token_hex(8)
        if mark:
            write_atomically(mark, token.encode())
        try:
            nodes = [node for node in self.ray.nodes() if node["Alive"]]
            asked = [
                self.ray.remote(_look_around)
                .options(num_cpus=0, scheduling_strategy=self._on(node["NodeID"]))
                .remote(mark, token, int(node["Resources"].get("CPU", 0)))
                for node in nodes
            ]
            return [self._result(one) for one in asked]
        finally:
            if mark:
                mark.unlink(missing_ok=True)

    def map(
        self, work: Work[Item, Result], items: Iterable[Item], threads: int, tell: Tell
    ) -> Iterator[tuple[Item, Result]]:
        """Do the work for all items in tasks; those of workers that died are repeated."""
        remote = self.ray.remote(_work).options(num_cpus=threads, max_retries=RETRIES)
        waiting, number, tasks = iter(items), next(self.numbers), itertools.count()
        running = dict[Any, tuple[int, Item]]()

        def begin(item: Item) -> None:
            task = next(tasks)
            running[remote.remote(work, item, kind_here(), Sender(self.mail, number, task))] = task, item

        while True:
            most = (1 + AHEAD) * max(1, self.count_threads() // threads)
            for item in itertools.islice(waiting, most - len(running)):
                begin(item)
            if not running:
                self.mail.forget.remote(number)
                return
            for one in self._await(running, number, tell):
                yield running.pop(one)[1], self._result(one)
            for one in self._find_lost({one: task for one, (task, _) in running.items()}, number):
                begin(running.pop(one)[1])

    def gang(self, work: Work[Rank, Result], most: int, threads: int, folder: Path, tell: Tell) -> Result:
        """Do the work in as many processes as there is room for, a power of two; if one dies, all begin again."""
        for _ in range(RETRIES + 1):
            room = max(1, min(most, self.count_threads() // threads))
            meeting = folder / f"meeting-{secrets.token_hex(8)}"
            ranks = [Rank(number, 1 << (room.bit_length() - 1), meeting) for number in range(room)]
            with suppress(LostError):
                return self._gang_once(work, ranks[: ranks[0].count], threads, tell)
        raise RunError(f"--cluster: one of the workers that train together died, {RETRIES + 1} times")

    def _gang_once(self, work: Work[Rank, Result], ranks: Sequence[Rank], threads: int, tell: Tell) -> Result:
        from ray.util import placement_group, remove_placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        group, number = placement_group([{"CPU": threads}] * len(ranks)), next(self.numbers)
        running: list[Any] = []
        try:
            ready = group.ready()
            while not self._await([ready], number, tell):  # all or nothing
                pass
            for rank in ranks:
                place = PlacementGroupSchedulingStrategy(group, rank.number)
                remote = self.ray.remote(_work).options(num_cpus=threads, max_retries=0, scheduling_strategy=place)
                sender = Sender(self.mail, number, rank.number, tells=rank.number == 0)
                running.append(remote.remote(work, rank, kind_here(), sender))
            results = dict[Any, Result]()
            while len(results) < len(running):
                rest = [one for one in running if one not in results]
                results |= {one: self._result_of_rank(one, rest) for one in self._await(rest, number, tell)}
                if self._find_lost({one: task for task, one in enumerate(running) if one not in results}, number):
                    raise LostError("--cluster: a machine does not answer any more")
            return results[running[0]]
        finally:
            self.mail.forget.remote(number)
            remove_placement_group(group)  # kills those that still run

    def _result_of_rank(self, reference: Any, others: Sequence[Any]) -> Any:
        """Return a rank's result; where it lost another that failed by itself, raise what that one raised."""
        try:
            return self._result(reference)
        except LostError:
            ended, _ = self.ray.wait(list(others), num_returns=len(others), timeout=_LAST_WORDS)
            for other in set(ended) - {reference}:
                self._result(other)
            raise

    def _await(self, running: Iterable[Any], number: int, tell: Tell) -> list[Any]:
        """Wait a moment for tasks to end, pass on what they tell, and return one that has ended, if any."""
        ended, _ = self.ray.wait(list(running), num_returns=1, timeout=_POLL)
        for message in self._result(self.mail.take.remote(number)):
            tell(message)
        if self.stop.is_set():
            raise Stopped
        return list(ended)

    def _find_lost(self, running: Mapping[Any, int], number: int) -> list[Any]:
        """Return the tasks that have begun on a machine that is gone, and have not been repeated by Ray since."""
        now, dead = time.monotonic(), (node["NodeID"] for node in self.ray.nodes() if not node["Alive"])
        self.gone = {node: self.gone.get(node, now) for node in dead}
        given_up = {node for node, since in self.gone.items() if now - since > _PATIENCE}
        places = self._result(self.mail.where.remote(number, [*running.values()])) if given_up else []
        return [one for one, place in zip(running, places, strict=False) if place in given_up]

    def _on(self, node: str) -> Any:
        """Return Ray's way to say: on this machine."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft=False)

    def _result(self, reference: Any) -> Any:
        """Return what a task returned, or raise what it raised, as if it had been done here."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else RunError(f"--cluster: {error}")) from None
        except errors.RayError as error:
            reason = " ".join(str(error).split())[:300]
            raise LostError(f"--cluster: a worker died, and so did its {RETRIES} successors ({reason})") from error


class Mailbox:
    """What tasks have to tell, until the driver fetches it, and where they are; an actor beside the driver."""

    def __init__(self) -> None:
        self.letters: dict[int, list[Progress | str]] = {}
        self.places: dict[int, dict[int, str]] = {}  # by the number of a map or gang, then of a task

    def begin(self, number: int, task: int, node: str) -> None:
        """Note on which machine a task begins."""
        self.places.setdefault(number, {})[task] = node

    def where(self, number: int, tasks: list[int]) -> list[str | None]:
        """Return on which machine each of some tasks has begun last."""
        places = self.places.get(number, {})
        return [places.get(task) for task in tasks]

    def put(self, number: int, messages: list[Progress | str]) -> None:
        """Take messages of a task."""
        self.letters.setdefault(number, []).extend(messages)

    def forget(self, number: int) -> None:
        """Forget where the tasks of a map or gang are."""
        self.places.pop(number, None)

    def take(self, number: int) -> list[Progress | str]:
        """Return the messages that have come, once."""
        return self.letters.pop(number, [])


def _look_around(mark: Path | None, token: str, cores: int) -> Machine:
    """Return what this machine is (a task)."""
    seen = mark is None or (mark.exists() and mark.read_bytes() == token.encode())
    return Machine(socket.gethostname(), cores, kind_here(), seen)


class Sender(NamedTuple):
    """Where a task sends what it has to tell."""

    mail: Any
    number: int  # of the map or gang
    task: int
    tells: bool = True


def _work(work: Work[Item, Result], item: Item, kind: Kind, sender: Sender) -> Result:
    """Do the work for one item (a task)."""
    import ray

    mail, number = sender.mail, sender.number
    ray.get(mail.begin.remote(number, sender.task, ray.get_runtime_context().get_node_id()))
    if found := kind.differences(kind_here()):
        raise RunError(f"--cluster: {socket.gethostname()}, which joined later, has {'; '.join(found)}")
    letter, sent = list[Progress | str](), time.monotonic()

    def tell(message: Progress | str) -> None:
        nonlocal sent
        letter.append(message)
        if time.monotonic() - sent > _MAIL_EVERY:
            send()
            sent = time.monotonic()

    def send() -> None:
        if sender.tells:
            ray.get(mail.put.remote(number, list(letter)))  # an error where the driver is gone
        letter.clear()

    try:
        return work(item, tell)
    finally:
        send()
