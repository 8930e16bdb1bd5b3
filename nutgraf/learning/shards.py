"""One gradient from several processes, the same to the last bit for any number of them.

A batch is cut into a fixed number of shards, a power of two. Each has random numbers and a gradient of its own.
Gradients are summed in pairs, then pairs of pairs: a binary tree. A process has neighbouring shards, so its sum is a
subtree; processes that exchange their sums at distance 1, 2, 4 ... go on with the tree (recursive doubling). a + b is
b + a to the last bit, so all of them get the same sum, and take the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor, nn

from nutgraf.errors import LostError
from nutgraf.hardware import Rank


@contextmanager
def joining(rank: Rank) -> Iterator[None]:
    """Meet the other processes, and leave them at the end; a single process meets none."""
    if rank.count == 1:
        yield
        return
    with _losing():
        dist.init_process_group("gloo", f"file://{rank.meeting}", rank=rank.number, world_size=rank.count)
    try:
        yield
    finally:
        dist.destroy_process_group()


def check_same(step: int, rank: Rank) -> None:
    """Raise a LostError where other processes are at another step: they read different checkpoints."""
    if rank.count > 1:
        steps = [torch.zeros(1, dtype=torch.long) for _ in range(rank.count)]
        with _losing():
            dist.all_gather(steps, torch.tensor([step]))
        if any(int(other) != step for other in steps):
            raise LostError("the processes that train together resume from different steps")


def add_gradients(
    parameters: Sequence[nn.Parameter], loss: Callable[[int], Tensor], shards: int, used: int, rank: Rank
) -> float:
    """Leave the mean gradient of the first `used` of all shards in the parameters, and return the mean loss."""
    own = shards // rank.count
    sums = [_gradient(parameters, loss, n, used) for n in range(rank.number * own, (rank.number + 1) * own)]
    while len(sums) > 1:
        sums = [left + right for left, right in zip(sums[::2], sums[1::2], strict=True)]
    total, distance = sums[0], 1
    while distance < rank.count:
        total = total + _exchange(total, rank.number ^ distance)
        distance *= 2
    total /= used
    places = torch.split(total[:-1], [parameter.numel() for parameter in parameters])
    for parameter, gradient in zip(parameters, places, strict=True):
        parameter.grad = gradient.view_as(parameter).to(parameter.device)
    return float(total[-1])


def _gradient(parameters: Sequence[nn.Parameter], loss: Callable[[int], Tensor], shard: int, used: int) -> Tensor:
    """Return the gradient of a shard, all parameters end to end, and its loss behind it; zeros for an empty one."""
    for parameter in parameters:
        parameter.grad = None
    value = torch.zeros(())
    if shard < used:
        value = loss(shard)
        value.backward()  # type: ignore[no-untyped-call]
    flat = [torch.zeros(p.numel()) if p.grad is None else p.grad.detach().flatten().cpu() for p in parameters]
    return torch.cat([*flat, value.detach().reshape(1).cpu()])


def _exchange(own: Tensor, other: int) -> Tensor:
    """Send a sum to another process, and return its own."""
    received = torch.empty_like(own)
    with _losing():
        sent = dist.isend(own, other)
        dist.recv(received, other)
        if sent is not None:
            sent.wait()
    return received


@contextmanager
def _losing() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise LostError(f"another process that trains the same model is gone ({reason})") from error
