"""The number of threads, and the memory that matrix products need."""

import os
import subprocess
import sys

# Three lives, forks of a process that has computed no product: undisturbed; with hardly any memory once the threads are
# set; with hardly any before. What malloc still has is taken, too, except small pieces, for Python.
LIVES = """
import ctypes, hashlib, os, resource, sys
from pathlib import Path
import torch
from nutgraf.errors import lacks_memory
from nutgraf.hardware import set_threads

malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
numbers = torch.Generator().manual_seed(1)
SIZES = (40, 8, 16), (64, 33, 500), (200, 300, 48), (700, 256, 3000), (600, 400, 9000)
products = [
    (torch.randn(rows, inputs, generator=numbers), torch.randn(inputs, columns, generator=numbers))
    for rows, inputs, columns in SIZES
]
results = [torch.zeros(len(left), right.shape[1]) for left, right in products]
content = [memoryview(result.numpy()).cast("B") for result in results]


def take_all_memory():
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    for size in (1 << 20, 1 << 17, 1 << 14):
        while malloc(size):
            pass


def live(poor):
    if poor == "before":
        take_all_memory()
    set_threads(1)
    if poor == "after":
        take_all_memory()
    for (left, right), result in zip(products, results):
        torch.mm(left, right, out=result)
    digest = hashlib.sha256()
    for one in content:
        digest.update(one)
    return digest.hexdigest()


for poor in ("never", "after", "before"):
    if not (child := os.fork()):
        try:
            said = live(poor)
        except RuntimeError as error:
            said = "lacks memory" if lacks_memory(error) else str(error)
        os.write(1, said.encode() + b"\\n")
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_too_little_memory_gives_no_other_product() -> None:
    environment = {"OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", LIVES], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    undisturbed, after, before = found.stdout.split("\n")[:3]
    assert len(undisturbed) == 64, found.stderr
    assert after == undisturbed  # the memory was taken when the threads were set
    assert before == "lacks memory"
