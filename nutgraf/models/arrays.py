"""Arrays from a file that may be a stranger's: regular, of the expected shapes, and finite."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from nutgraf.files import check_regular

Arrays = dict[str, NDArray[Any]]
Shape = tuple[int, ...]


def read_arrays(path: Path) -> Arrays:
    """Read a safetensors file, no larger than the file itself; a ValueError where a number is not finite."""
    check_regular(path, path.lstat().st_mode)
    arrays = load_file(path)
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not bool(np.isfinite(array).all()):
            raise ValueError(f"{name} has numbers that are not finite")
    return arrays


def check_shapes(arrays: Arrays, expected: Iterable[tuple[str, Shape]]) -> None:
    """Raise a ValueError if an array is missing, left over or of another shape; `expected` is read only so far."""
    left = set(arrays)
    for name, shape in expected:
        if name not in arrays:
            raise ValueError(f"{name} is missing")
        if arrays[name].shape != shape:
            raise ValueError(f"{name} is {arrays[name].shape} and should be {shape}")
        if arrays[name].dtype.kind != "f":
            raise ValueError(f"{name} is made of {arrays[name].dtype}")
        left.discard(name)
    if left:
        raise ValueError(f"{min(left)} is not known")
