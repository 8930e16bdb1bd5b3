"""Lack of memory: a limit that grows from life to life, and allocations of Python that fail one after another."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import math
import resource
from collections.abc import Callable
from pathlib import Path

from nutgraf.hardware import set_threads
from tests.tiny import Corpus
from tools.campaign.stage import Stage
from tools.campaign.tiny_run import check, finish, prepare, run_all

TESTS = "_testcapi"  # CPython's own tests use it; some distributions leave it out
MOST_BYTES = 1 << 28  # beyond what the process has at its start: a life that needs more failed at it
ALLOCATIONS = (300, 3_000_000)  # the first that may fail, and how many a whole life has, roughly
LIVES = 12  # with a failing allocation, of one run


def attack(stage: Stage) -> None:
    """Let runs meet too little memory in many places; each must have the bytes of the undisturbed one in the end."""
    if (prepared := prepare(stage)) is None:
        return
    (corpus, expected, _), rounds = prepared, 0
    # The memory of matrix products is taken here, so that lives have it, and lack memory at all other places.
    set_threads(1)
    ctypes.CDLL(None).malloc_trim(0)
    while stage.goes_on(rounds):
        folder = stage.folder / f"poor-{rounds}"
        folder.mkdir()
        _limit(stage, corpus, folder)
        finish(stage, corpus, folder, expected)
        if importlib.util.find_spec(TESTS):
            folder = stage.folder / f"refused-{rounds}"
            folder.mkdir()
            for _ in range(LIVES):
                number = int(math.exp(stage.random.uniform(*map(math.log, ALLOCATIONS))))
                check(stage, _refused(number, corpus, folder), "lives with a failing allocation", aborts=True)
            finish(stage, corpus, folder, expected)
        rounds += 1


def _limit(stage: Stage, corpus: Corpus, folder: Path) -> None:
    """Allow an address space that is a little larger each time."""
    size = stage.random.randint(1, 1 << 20)
    while not check(stage, _limited(size, corpus, folder), "lives with too little memory", aborts=True):
        size = int(size * stage.random.uniform(1.1, 2.0))
        if size > MOST_BYTES:
            stage.fail(f"{folder}: {size:,} bytes were not enough")
            return


def _limited(size: int, corpus: Corpus, folder: Path) -> Callable[[], None]:
    """Return work that may take this many bytes."""

    def work() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + size
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        run_all(corpus, folder)

    return work


def _refused(number: int, corpus: Corpus, folder: Path) -> Callable[[], None]:
    """Return work during which one allocation of Python fails."""

    def work() -> None:
        importlib.import_module(TESTS).set_nomemory(number, number + 1)
        run_all(corpus, folder)

    return work
