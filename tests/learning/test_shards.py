import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from nutgraf.hardware import ALONE
from nutgraf.learning.loop import Fit, Job, fit
from nutgraf.learning.shards import add_gradients

ROOT = Path(__file__).parents[2]


def test_one_two_and_four_processes_give_the_same_weights_also_after_a_kill(tmp_path: Path) -> None:
    trained = subprocess.run(
        [sys.executable, "-m", "tests.learning.sharded", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert trained.returncode == 0, trained.stderr
    found = [load_file(path) for path in tmp_path.glob("[124] ranks*")]
    assert len(found) == 1 + 2 + 4 + 4  # and none of the two of which one was killed
    for weights in found:
        assert all(torch.equal(weights[name], found[0][name]) for name in found[0])


def test_the_gradient_is_the_mean_of_the_shards_and_empty_ones_do_not_count() -> None:
    weight = nn.Parameter(torch.zeros(3))
    points = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    for used in (2, 3):
        mean = add_gradients([weight], lambda shard: weight @ points[shard] + shard, 4, used, ALONE)
        assert weight.grad is not None
        assert torch.allclose(weight.grad, points[:used].mean(0))
        assert mean == sum(range(used)) / used


def test_shards_give_other_weights_than_whole_batches_but_learn_the_same() -> None:
    """Without random numbers in the model, equal shards sum to the gradient of the batch, up to rounding."""

    def train(shards: int) -> Tensor:
        torch.manual_seed(0)
        x, module = torch.randn(32, 5), nn.Linear(5, 1)

        def loss(indices: NDArray[np.int64]) -> Tensor:
            return functional.mse_loss(module(x[indices]), x[indices].sum(1, keepdim=True))

        fit(module, loss, lambda step: np.arange(8) + 8 * (step % 4), Fit(20, 0.05, 1.0, shards=shards), Job("key"))
        return module.weight.detach()

    assert torch.allclose(train(1), train(4), atol=1e-5)
