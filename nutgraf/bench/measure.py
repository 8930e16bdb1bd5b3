"""Time, share of matrix products and peak memory of cases.

Machines are noisy, so the cases of a contest take turns, with the square product that is the machine's limit among
them: the figures of one round were taken within seconds of each other, and ratios are taken round by round.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import torch
from torch.profiler import ProfilerActivity, profile

from nutgraf.bench.contests import contests, product
from nutgraf.bench.material import Case, Sizes, Work, quick
from nutgraf.hardware import Hardware

PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear"}  # in a profile


@dataclass(frozen=True)
class Figures:
    """What one case of a contest did."""

    contest: str
    case: str
    against: str  # the case that it is compared with
    share: float  # of that case's speed which it can have at best
    per_second: dict[str, float]  # by unit, the median
    operations_per_second: float  # the median
    amount: float  # a call, in the first unit
    operations: float  # a call
    seconds: list[float]  # a call, round by round
    limit: list[float]  # operations a second of the square product in the same rounds
    outside: float | None = None  # the share of time that is not spent in matrix products
    megabytes_before: float | None = None  # the peak of a process of its own: libraries, text, weights
    megabytes_peak: float | None = None  # then with the work done once


def measured(contest: str, cases: Sequence[Case], sizes: Sizes) -> list[Figures]:
    """Warm up, then let the cases take turns."""
    square = product("limit", sizes.square, sizes.square, sizes.square, sizes.square)
    works = [case.make() for case in (square, *cases)]
    for work in works:
        work()
    rounds = [[_seconds(work) for work in works] for _ in range(sizes.repeats)]
    limit, *others = (list(seconds) for seconds in zip(*rounds, strict=True))
    limits = [square.operations / once for once in limit]
    figures = []
    for case, work, seconds in zip(cases, works[1:], others, strict=True):
        rates = {unit: amount / median(seconds) for unit, amount in case.amounts.items()}
        outside = outside_products(work) if case.operations and case.against else None
        done = case.operations / median(seconds), next(iter(case.amounts.values())), case.operations
        figures.append(Figures(contest, case.name, case.against, case.share, rates, *done, seconds, limits, outside))
    return figures


def _seconds(work: Work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def outside_products(work: Work) -> float:
    """Return the share of a call's time outside matrix products; the profiler sees only the calling thread."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "9")  # else it prints when it starts and stops
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        wall = _seconds(work)
    torch.set_num_threads(threads)
    inside: float = sum(event.self_cpu_time_total for event in profiled.key_averages() if event.key in PRODUCTS)
    return 1 - inside / 1e6 / wall


def megabytes(contest: str, case: str, threads: int, small: bool) -> tuple[float, float]:
    """Do one case once in a process of its own; return its peak memory before that and after."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_alone, contest, case, threads, small).result()


def _alone(contest: str, case: str, threads: int, small: bool) -> tuple[float, float]:
    Hardware.of("cpu", threads).use()
    cases = contests(quick() if small else Sizes())[contest]
    work = next(each for each in cases if each.name == case).make()
    before = _peak_megabytes()
    work()
    return before, _peak_megabytes()


def _peak_megabytes() -> float:
    """Linux counts the parent's memory in a child's ru_maxrss (what it had until exec), but not in VmHWM."""
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
