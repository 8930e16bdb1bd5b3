"""Where a run is computed: one value, made in one place, passed down. It is no part of any step's key.

torch is imported when it is needed, so that `share_cores` can be called before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING

from nutgraf.errors import RunError
from nutgraf.extras import has_torch, need_torch

if TYPE_CHECKING:
    import torch

# How long a thread of OpenMP spins while it waits for the others, before it sleeps. By default, milliseconds: beside
# another busy process, threads that spin take the time of those that they wait for (LOG.md, 2026-11-16).
_WAITING = {"GOMP_SPINCOUNT": "6000", "KMP_BLOCKTIME": "0"}  # GNU's OpenMP (Linux), LLVM's (macOS)
MOST_THREADS = 256  # or as many as there are cores


def share_cores() -> None:
    """Keep torch fast next to other busy programs, unless the environment decides; call it before torch is imported."""
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in _WAITING.items():
            os.environ.setdefault(name, value)


def hold_blas() -> None:
    """Keep a matrix product of numpy to one thread, unless the environment decides; call it before numpy is imported.

    A search runs batches side by side. OpenBLAS's own threads would spin between their small products and take the time
    of the others: 38 CPU seconds where 10 are enough (LOG.md, 2026-11-17).
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# A product for which MKL, torch's library, takes as much memory as larger ones were seen to need: rows (a thread, up to
# four), inputs, columns. The most seen was 5.4 MB a thread, with one thread and with two (LOG.md, 2026-11-18).
_ROWS, _INPUTS, _COLUMNS = 512, 384, 8192
_SCRATCH = 1 << 23  # bytes a thread: more than that
_taken = local()  # .threads: for how many threads the memory is taken; MKL keeps it for each thread that calls it

_threads = 0  # without torch: as many as were asked for; 0: one per core


@dataclass(frozen=True)
class Hardware:
    """A device for the models, and threads of the processor for everything else."""

    name: str  # of the device: cpu, cuda or cuda:0
    threads: int

    @classmethod
    def of(cls, device: str = "cpu", threads: int = 0) -> Hardware:
        """Check what was asked for; 0 threads are as many as there are cores."""
        if device != "cpu":
            _check_device(device)
        if not 0 <= threads <= max(MOST_THREADS, cores()):
            raise RunError(f"--threads {threads}: expected 0 (all cores) to {max(MOST_THREADS, cores())}")
        return cls(device, threads or cores())

    @property
    def device(self) -> torch.device:
        """The device as torch has it."""
        import torch

        return torch.device(self.name)

    def use(self) -> Hardware:
        """Set the number of threads that this process computes with; return what was set."""
        if has_torch():
            import torch  # noqa: F401  # else it would not hear of them
        set_threads(self.threads)
        return self


@dataclass(frozen=True)
class Rank:
    """One of the processes that train a model together: a power of two, at most as many as there are shards."""

    number: int = 0
    count: int = 1
    meeting: Path | None = None  # a new file on a disk that all share, through which they find each other


ALONE = Rank()


def _check_device(device: str) -> None:
    need_torch(f"--device {device}")
    import torch

    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise RunError(f"--device {device}: no such kind of device; expected cpu, cuda or cuda:0") from error
    if wanted.type not in ("cpu", "cuda"):
        raise RunError(f"--device {device}: expected cpu, cuda or cuda:0")
    if wanted.type == "cuda" and (wanted.index or 0) >= torch.cuda.device_count():
        raise RunError(f"--device {device}: this machine has {torch.cuda.device_count()} CUDA devices. Try cpu")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux alone
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_threads() -> int:
    """Return how many threads this process computes with."""
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch else _threads or cores()


def set_threads(count: int) -> None:
    """Compute with this many threads from now on."""
    global _threads
    _threads = count
    set_torch_threads(count)
    if sys.modules.get("torch"):
        _take_scratch(count)


def _take_scratch(count: int) -> None:
    """Let MKL take the memory that its matrix products need, once for each thread that calls it, or fail.

    A product that finds too little is no error of MKL's: it is computed in another order, and its last bits differ.
    What MKL has taken once, it keeps.
    """
    import torch

    if count <= getattr(_taken, "threads", 0):
        return
    rows = _ROWS * min(count, 4)
    left, right, product = torch.zeros(rows, _INPUTS), torch.zeros(_INPUTS, _COLUMNS), torch.empty(rows, _COLUMNS)
    torch.empty(_SCRATCH * count, dtype=torch.uint8)  # it fails where MKL would not
    torch.mm(left, right, out=product)
    _taken.threads = count


def set_torch_threads(count: int) -> None:
    """Compute with this many threads of torch from now on, where torch is loaded."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)


@contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """Compute with this many threads inside the context; None changes nothing."""
    before = count_threads()
    set_threads(count or before)
    try:
        yield
    finally:
        set_threads(before)
