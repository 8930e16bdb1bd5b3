"""Writing to disk so that a kill or a power cut leaves the old state or the new one, never half of it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file or a folder; it takes the place of `path` when all went well, else nothing changes.

    A process that is killed leaves `.NAME.partial` behind, which the next one removes.
    """
    partial = partial_of(path)
    remove(partial)
    try:
        yield partial
        flush(partial)
        partial.replace(path)
    except BaseException:
        remove(partial)
        raise
    flush(path.parent)


def partial_of(path: Path) -> Path:
    """Return where `replacing` writes first."""
    return path.with_name(f".{path.name}.partial")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is there whole, or not at all."""
    with replacing(path) as partial:
        partial.write_bytes(content)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Force a file, or a folder's list of names, to the disk; Windows cannot flush a folder."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
