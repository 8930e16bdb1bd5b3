"""Trains one small model in 1, 2 and 4 processes, and in 2 of which one is killed and which then resume.

Run as a program: a folder, where the weights of each case are written. The processes are forks of it. torch imports
torch._dynamo with the first step of an optimizer; here it is there before, so that not every fork does.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import torch
import torch._dynamo
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from nutgraf.errors import LostError
from nutgraf.hardware import Rank
from nutgraf.learning import loop
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.progress import Progress

STEPS, SHARDS, BATCH, LOST = 6, 4, 10, 4


def train(rank: Rank, weights: Path, checkpoint: Path | None = None, dies: bool = False) -> None:
    """Train a network with dropout, whose batches are no multiple of the shards; write its weights."""
    torch.manual_seed(3)
    x = torch.randn(64, 20)
    y = x.pow(2).sum(1, keepdim=True).log()
    module = nn.Sequential(nn.Linear(20, 33), nn.Tanh(), nn.Dropout(0.2), nn.Linear(33, 1))

    def loss(indices: NDArray[np.int64]) -> Tensor:
        return functional.mse_loss(module(x[indices]), y[indices])

    def batches(step: int) -> NDArray[np.int64]:
        return np.random.default_rng(step).permutation(64)[:BATCH]

    def report(progress: Progress) -> None:
        if dies and progress.done == LOST:
            os.kill(os.getpid(), signal.SIGKILL)

    fit(module, loss, batches, Fit(STEPS, 0.01, 1.0, shards=SHARDS), Job("key", checkpoint, report, rank=rank))
    save_file(module.state_dict(), weights)


def together(count: int, folder: Path, name: str, checkpoint: Path | None = None, dies: bool = False) -> list[int]:
    """Train in forks of this process; return how each ended: 0, 1 if it lost another, or the signal that killed it."""
    children = []
    for number in range(count):
        child = os.fork()
        if not child:
            code = 0
            try:
                rank = Rank(number, count, folder / f"meeting {name}")
                train(rank, folder / f"{name} {number}", checkpoint, dies and number == 1)
            except LostError:
                code = 1
            os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    for count in (1, 2, 4):
        assert together(count, folder, f"{count} ranks") == [0] * count
    loop.CHECKPOINT_SECONDS = 0.0
    checkpoint = folder / "checkpoint"
    assert together(2, folder, "2 ranks, killed", checkpoint, dies=True) == [1, -signal.SIGKILL]
    assert together(4, folder, "4 ranks, resumed", checkpoint) == [0] * 4


if __name__ == "__main__":
    main()
