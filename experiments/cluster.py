"""What a Ray cluster gains and costs, measured on one machine with two cores or more: `make bench-cluster`.

    python -m experiments.cluster                   # everything, less than 15 minutes on two idle cores
    python -m experiments.cluster --quick           # tiny sizes: its figures mean nothing

Generation and training take turns, in rounds: without Ray, on one worker, on two. A worker has one thread. Starting
Ray and loading the model are not part of these, and are given apart. What pairs of many sentences cost is measured with
a narrow expander that writes few words, so that a million of them takes minutes and handling them is much of the work.
A node dies twice: its processes are killed, and they are stopped, as if the machine had lost its network. BENCHMARKS.md
has what came of it.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Annotated, Any

import typer

from nutgraf import recipe as recipes
from nutgraf.backtranslation import pairs
from nutgraf.backtranslation.steps import Steps, Task
from nutgraf.backtranslation.train import Request, run_training
from nutgraf.demo.newswire import unaligned
from nutgraf.hardware import ALONE, Hardware, Rank
from nutgraf.learning.loop import Job
from nutgraf.models.learn import fit_of, learn
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.folder import Run
from nutgraf.run.plan import Step, make_plan
from nutgraf.workers.cluster import Cluster
from nutgraf.workers.executor import Executor, Local, Tell, Work

ONE_THREAD = Hardware("cpu", 1)
MODEL, PAIRS = "mu1-1", "mu1-1.pairs"  # an expander, and what it makes
BEFORE = 5  # steps of a training that are not timed
DIFFERENT = 100_000  # summaries
NAP = 3.0  # seconds that a chunk takes where a node dies
PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")


@dataclass(frozen=True)
class Amounts:
    """How much is measured."""

    texts: int = 4_000
    chunk: int = 1_024
    chunks: int = 8  # a round
    steps: int = 30  # of training a round
    sizes: tuple[int, ...] = (10_000,)  # with the expander of cpu
    many: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # with a narrow one
    naps: int = 10  # where a node dies
    rounds: int = 3
    settings: tuple[str, ...] = ()


SMALL = ("seq2seq.width=16", "embeddings.width=16", "embeddings.buckets=100", "training.batch=8")
QUICK = Amounts(300, 64, 2, 8, (128,), (128, 256), 6, 1, SMALL)
NARROW = """
embeddings.max_sentences=20000 embeddings.width=32 embeddings.epochs=1 embeddings.buckets=20000 mu1.width=32
seq2seq.width=32 seq2seq.encoder_layers=1 seq2seq.decoder_layers=1
generation.output_words=500 generation.min_text_words=5 generation.max_text_words=8 generation.batch=512
"""


def main(quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes: figures mean nothing.")] = False) -> None:
    """Measure, and print ratios."""
    os.environ |= {"OMP_NUM_THREADS": "1", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": os.urandom(16).hex()}
    os.environ |= {"RAY_raylet_start_wait_time_s": "120", "RAY_worker_niceness": "0"}  # else workers are nice, by 15
    os.environ |= {"RAY_health_check_failure_threshold": "2"}  # as docs/how-to/cluster.md says
    os.environ |= {"RAY_idle_worker_killing_time_threshold_ms": "900000"}  # else those that wait for their turn end
    ONE_THREAD.use()
    amounts = QUICK if quick else Amounts()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.2f} at the start: figures of a busy machine mean little")
    with tempfile.TemporaryDirectory(prefix="nutgraf-bench-") as folder:
        run = prepare(Path(folder) / "usual", max(amounts.sizes), amounts.chunk, amounts)
        narrow = replace(amounts, settings=(*amounts.settings, *NARROW.split()))
        many = prepare(Path(folder) / "narrow", max(amounts.many), 8 * amounts.chunk, narrow)
        with nodes(2) as found:
            compare(run, many, found, amounts)
        for how in (signal.SIGKILL, signal.SIGSTOP):
            with nodes(1, 1) as found:
                lose_node(found, how, amounts.naps, Path(tempfile.mkdtemp(dir=folder)))


def prepare(folder: Path, wanted: int, chunk: int, amounts: Amounts) -> Run:
    """Train an expander, but hardly: how fast it is does not depend on its weights. Past 100,000, summaries repeat."""
    folder.mkdir()
    texts, different, _ = unaligned(amounts.texts, min(wanted, DIFFERENT), 0, seed=1)
    summaries = islice(cycle(different), wanted)
    settings = ['plan.initializers=["mu1"]', "plan.teachers=0", "generation.sentences_per_chain=0", "mu1.steps=50"]
    settings += ["text.judge_share=0.0", "training.expander_steps=2", f"generation.chunk={chunk}", *amounts.settings]
    files = {}
    for name, lines in (("texts", texts), ("summaries", summaries)):
        files[name] = folder / f"{name}.txt"
        files[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    request = Request(
        texts=files["texts"],
        summaries=files["summaries"],
        out=folder / "run",
        recipe=recipes.override(recipes.load("cpu"), settings),
        threads=1,
        stop_after=MODEL,
    )
    return run_training(request, warn=ignore)


@contextmanager
def nodes(*cores: int) -> Iterator[Any]:
    """Start Ray nodes on this machine, and stop them at the end."""
    found = start_nodes(cores, attempts=3)
    try:
        yield found
    finally:
        found.shutdown()


def start_nodes(cores: Sequence[int], attempts: int) -> Any:
    """Start Ray nodes; on a busy machine, an agent of Ray may miss its 15 seconds, and all fails."""
    from ray.cluster_utils import Cluster as Nodes

    found = Nodes()
    try:
        for count in cores:
            with ExitStack() as stack:
                sockets = [stack.enter_context(socket.create_server(("", 0))) for _ in PORTS]
                ports = {name: one.getsockname()[1] for name, one in zip(PORTS, sockets, strict=True)}
            found.add_node(num_cpus=count, object_store_memory=80_000_000, include_dashboard=False, **ports)
        found.wait_for_nodes()
    except Exception:
        found.shutdown()
        if attempts == 1:
            raise
        return start_nodes(cores, attempts - 1)
    return found


def compare(run: Run, many: Run, found: Any, amounts: Amounts) -> None:
    """Let the ways of generation and of training take turns; a task that asks for both cores has no other beside it."""
    started = time.perf_counter()
    cluster = Cluster(found.address)
    try:
        work = Generation(run)
        work.meet(cluster, amounts.chunk)
        start = time.perf_counter() - started
        local = Local(ONE_THREAD)
        work(local, 1, work.chunks(amounts.chunk, amounts.chunk))
        chunks = work.chunks(amounts.chunks * amounts.chunk, amounts.chunk)
        ways: dict[str, Callable[[], float]] = {
            "alone": partial(work, local, 1, chunks),
            "one worker": partial(work, cluster, 2, chunks),
            "two workers": partial(work, cluster, 1, chunks),
        }
        show("generation", take_turns(ways, amounts.rounds), len(chunks) * amounts.chunk, "sentences")
        train = partial(time_training, run.folder, amounts.steps)
        ways = {
            "alone": partial(train, 1, ALONE, ignore),
            "alone, two shards": partial(train, 2, ALONE, ignore),
            "two workers": lambda: cluster.gang(partial(train, 2), 2, 1, run.folder, ignore),
        }
        batch = run.recipe.training.batch
        show("training", take_turns(ways, amounts.rounds), amounts.steps * batch, "pairs")
        print(f"start: {start:.1f} s until both workers had a model and had made a chunk of {amounts.chunk}")
        for size in amounts.sizes:
            show_cost("expander of cpu", work, cluster, size, amounts.chunk)
        work = Generation(many)
        work.meet(cluster, amounts.chunk)
        for size in amounts.many:
            show_cost("narrow expander", work, cluster, size, many.recipe.generation.chunk)
    finally:
        cluster.close()


class Generation:
    """Makes artificial pairs with the expander of a run."""

    def __init__(self, run: Run):
        self.steps, self.run = Steps(run, ONE_THREAD), run
        self.step = find_step(run, PAIRS)

    def chunks(self, count: int, size: int) -> list[pairs.Chunk]:
        """Return chunks of the first sentences."""
        return [pairs.Chunk(start, min(start + size, count)) for start in range(0, count, size)]

    def task(self) -> Task:
        """Return the step, to be made in a folder of its own."""
        folder = Path(tempfile.mkdtemp(dir=self.run.folder))
        return Task(self.step, folder, folder, f"{self.run.recipe.seed} {self.step.name}")

    def __call__(self, executor: Executor, threads: int, chunks: Sequence[pairs.Chunk]) -> float:
        """Make chunks; return the seconds."""
        started, work = time.perf_counter(), partial(self.steps.make_chunk, self.task())
        done = [chunk for chunk, _ in executor.map(work, chunks, threads, ignore)]
        assert len(done) == len(chunks)
        return time.perf_counter() - started

    def meet(self, cluster: Cluster, size: int) -> None:
        """Let two workers load the model and make a chunk each."""
        task = self.task()
        work = partial(make_beside_another, partial(self.steps.make_chunk, task), task.folder)
        list(cluster.map(work, self.chunks(2 * size, size), 1, ignore))

    def whole(self, executor: Executor, count: int, size: int) -> float:
        """Make and join pairs, as the step does; return the seconds."""
        started, task = time.perf_counter(), self.task()

        def make(chunks: Sequence[pairs.Chunk], report: Report) -> Iterator[pairs.Chunk]:
            work = partial(self.steps.make_chunk, task)
            return (chunk for chunk, _ in executor.map(work, chunks, 1, ignore))

        pairs.generate(count, size, make, task.work, task.folder, ignore)
        return time.perf_counter() - started


def make_beside_another(make: Work[pairs.Chunk, None], folder: Path, chunk: pairs.Chunk, tell: Tell) -> None:
    """Make a chunk once another process is about to do so, too (a task)."""
    (folder / f"here-{os.getpid()}").touch()
    while len(list(folder.glob("here-*"))) < 2:
        time.sleep(0.05)
    make(chunk, tell)


def find_step(run: Run, name: str) -> Step:
    """Return a step of the run's plan."""
    return next(step for step in make_plan(run.recipe.plan) if step.name == name)


def time_training(folder: Path, count: int, shards: int, rank: Rank, tell: Tell) -> float:
    """Train the expander; return the seconds of the last `count` steps (a task)."""
    run = Run.open(folder)
    steps, step, times = Steps(run, ONE_THREAD.use()), find_step(run, MODEL), list[float]()

    def report(progress: Progress) -> None:
        times.append(time.perf_counter())

    data, settings = steps.training_set(step), run.recipe.training
    fitting = replace(fit_of(settings, BEFORE + count, settings.learning_rate), shards=shards, validate_every=0)
    model = steps.untrained(step, "bench")
    learn(model, data.sources, data.targets, settings, fitting, Job("bench", None, report, ignore, rank))
    return times[-1] - times[BEFORE - 1]


@dataclass(frozen=True)
class Turns:
    """Seconds and CPU seconds of the rounds of one way."""

    seconds: list[float]
    cpu: list[float]


def take_turns(ways: dict[str, Callable[[], float]], rounds: int) -> dict[str, Turns]:
    """Measure the ways one after the other, round by round."""
    found = {name: Turns([], []) for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            before = cpu_seconds()
            found[name].seconds.append(way())
            found[name].cpu.append(cpu_seconds() - before)
    return found


def show(what: str, found: dict[str, Turns], amount: int, unit: str) -> None:
    """Print figures per second, and the ratios to the first way and to the one before, round by round.

    The CPU seconds of a training by workers include their start, as its seconds do not.
    """
    names = list(found)
    for place, name in enumerate(names):
        turns = found[name]
        line = f"{what}, {name}: {amount / median(turns.seconds):,.0f} {unit}/s, {median(turns.cpu):.1f} CPU s"
        for other in dict.fromkeys((names[0], names[place - 1]) if place else ()):
            speed = ratios(found[other].seconds, turns.seconds)
            line += f"; {speed} x {other}, CPU {ratios(turns.cpu, found[other].cpu)} x"
        print(line, flush=True)


def ratios(above: Sequence[float], below: Sequence[float]) -> str:
    """Return the median of the rounds' ratios, with the least and the greatest."""
    values = [a / b for a, b in zip(above, below, strict=True)]
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def show_cost(name: str, work: Generation, cluster: Cluster, size: int, chunk: int) -> None:
    """Print what pairs of this many sentences cost on two workers, joined."""
    before = cpu_seconds()
    seconds = work.whole(cluster, size, chunk)
    cpu = cpu_seconds() - before
    print(
        f"{name}, {size:,} sentences on two workers: {seconds:.1f} s, {cpu:.1f} CPU s; {size / cpu:,.0f} per CPU s",
        flush=True,
    )


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all that come from it: Ray's servers and workers."""
    found = processes()
    ours = {os.getpid(), *descendants(found, os.getpid())}
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(found[pid].cpu for pid in ours) + ended.ru_utime + ended.ru_stime


@dataclass(frozen=True)
class Process:
    """What the system says of a process."""

    parent: int
    cpu: float  # seconds


def processes() -> dict[int, Process]:
    """Return all processes there are, by their numbers."""
    found = dict[int, Process]()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            fields = file.read_text().rpartition(")")[2].split()
            spent = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
            found[int(file.parent.name)] = Process(int(fields[1]), spent)
    return found


def descendants(known: dict[int, Process], root: int) -> set[int]:
    """Return the numbers of the processes that come from one."""
    found, more = set[int](), {root}
    while more:
        more = {pid for pid, process in known.items() if process.parent in more} - found
        found |= more
    return found


def nap(marks: Path, item: int, tell: Tell) -> tuple[str, float, float]:
    """Sleep; return on which node, and when it began and ended. Each attempt leaves a mark (a task)."""
    import ray

    node, begun = str(ray.get_runtime_context().get_node_id()), time.time()
    (marks / f"{item}-{os.urandom(4).hex()}-{node}").touch()
    time.sleep(NAP)
    return node, begun, time.time()


def lose_node(found: Any, how: signal.Signals, count: int, marks: Path) -> None:
    """Print what the loss of one of two nodes costs: work that is repeated, and seconds in which none is done."""
    lost = found.list_all_nodes()[-1]
    servers = [process.process.pid for group in lost.all_processes.values() for process in group]
    died = list[float]()

    def stop() -> None:
        while sum(path.name.endswith(lost.node_id) for path in marks.iterdir()) < 2:
            time.sleep(0.05)
        time.sleep(NAP / 3)  # in the midst of its second chunk
        known = processes()
        died.append(time.time())
        for pid in {child for server in servers for child in (server, *descendants(known, server))}:
            os.kill(pid, how)

    cluster = Cluster(found.address)
    try:
        stopper = Thread(target=stop)
        stopper.start()
        done = dict(cluster.map(partial(nap, marks), range(count), 1, ignore))
        stopper.join()
    finally:
        cluster.close()
    attempts = len(list(marks.iterdir()))
    after = sorted((begun, ended) for node, begun, ended in done.values() if ended > died[0])
    idle = after[-1][1] - died[0] - sum(ended - max(begun, died[0]) for begun, ended in after)
    print(
        f"a node dies by {how.name}: {attempts - count} of {count} chunks repeated, no work for {idle:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
