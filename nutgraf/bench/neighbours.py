"""Beside busy processes: training on all threads, and a single summary, against what they do on idle cores.

A fair share is what a process with t threads gets on c cores beside k busy processes of one thread each, if all threads
get equal time: c / (t + k) of its idle speed, at most 1.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch

from nutgraf.bench.material import Case, Material, Work
from nutgraf.bench.serving import summarizer
from nutgraf.hardware import cores

NEIGHBOURS = (0, 1, 2)
SUMMARIES = 8  # a call, one after the other


def beside_neighbours(name: str, make: Callable[[], Work], amounts: dict[str, float], threads: int) -> list[Case]:
    """Return the same work beside no, one and two busy processes."""
    idle = f"{name}, idle"
    cases = [Case(idle, make, amounts)]
    for count in NEIGHBOURS[1:]:
        fair = min(1.0, cores() / (threads + count))
        cases.append(
            Case(f"{name}, beside {count}", partial(_disturbed, make, count), amounts, against=idle, share=fair)
        )
    return cases


def single_summaries(text: Material) -> list[Case]:
    """Summarize one sentence at a time, as a user at a page does."""

    def make() -> Work:
        model = summarizer(text)
        pieces = text.pieces(SUMMARIES, text.sizes.long)
        sentences = [" ".join(text.lexicon.decode(piece.tolist())) for piece in pieces]
        return lambda: [model([sentence]) for sentence in sentences]

    return beside_neighbours("one summary", make, {"summaries": SUMMARIES}, threads=1)


def busy_training(training: Case) -> list[Case]:
    """Train, as the contests of training do."""
    return beside_neighbours("training", training.make, training.amounts, torch.get_num_threads())


def _disturbed(make: Callable[[], Work], count: int) -> Work:
    work, busy = make(), _Busy(count)

    def disturbed() -> None:
        with busy.running():
            work()

    return disturbed


class _Busy:
    """Processes that do nothing but compute while they are let; they end with this one."""

    def __init__(self, count: int):
        self._processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
        self._signal(signal.SIGSTOP)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let them compute."""
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            os.kill(process.pid, number)

    def __del__(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
