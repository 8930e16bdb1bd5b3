"""Trains the tiny run with near again and again, each time killed (SIGKILL) at another moment; in the end to its end.

Run as a program: corpus folder, run folder. Each life is a fork of this process, which imports but computes nothing:
also what a life would import by itself later, gensim, and torch._dynamo with the first step of an optimizer.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import torch._dynamo  # noqa: F401

import nutgraf.text.embeddings  # noqa: F401
from nutgraf import files
from nutgraf.learning import loop
from nutgraf.run import manifest
from nutgraf.run.events import Event, State
from tests.tiny import WITH_NEAR, Corpus, train_tiny

# Step, and how many times its progress is heard before the end.
MOMENTS = (
    ("text", 1),
    ("embeddings", 1),
    ("mu1-0", 5),
    ("mu1-0.pairs", 3),
    ("dbae-0", 6),
    ("dbae-0.pairs", 2),
    ("pr-thr-0", 2),
    ("near-0.pairs", 1),
    ("all-1", 4),
    ("all-1", 9),
    ("mu1-1", 5),
    ("mu1-1.pairs", 1),
    ("mu1-1.pairs", 4),
    ("mu1-2", 7),
    ("near-1", 5),
    ("near-2.pairs", 1),
    ("all-2", 12),
)
# Files that are written, but not yet in place.
WRITES = (
    "steps/mu1-0/manifest.json",
    "steps/dbae-1.pairs/work/chunk-000000040-000000080",
    "steps/dbae-2/manifest.json",
)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_at(step: str, count: int) -> Callable[[Event], None]:
    heard = 0

    def listener(event: Event) -> None:
        nonlocal heard
        heard += event.step.name == step and event.state is State.RUNNING
        if heard == count:
            die()

    return listener


def dies_writing(end: str) -> None:
    def write(path: Path, content: bytes) -> None:
        if path.as_posix().endswith(end):
            with files.replacing(path) as partial:
                partial.write_bytes(content[: len(content) // 2])
                die()
        original(path, content)

    original = files.write_atomically
    for module in (manifest, files):
        vars(module)["write_atomically"] = write


def live(corpus: Corpus, out: Path, moment: tuple[str, int] | str | None) -> int:
    """Train in a child; return the signal that killed it, 0 where none did."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    loop.CHECKPOINT_SECONDS = 0.0
    if isinstance(moment, str):
        dies_writing(moment)
    train_tiny(corpus, out, WITH_NEAR, listener=dies_at(*moment) if isinstance(moment, tuple) else lambda _: None)
    os._exit(0)


def main() -> None:
    corpus, out = Corpus(Path(sys.argv[1])), Path(sys.argv[2])
    for moment in (*MOMENTS[:3], WRITES[0], *MOMENTS[3:-3], *WRITES[1:], *MOMENTS[-3:]):
        assert live(corpus, out, moment) == -signal.SIGKILL, moment
    assert live(corpus, out, None) == 0


if __name__ == "__main__":
    main()
