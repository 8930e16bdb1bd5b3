"""One training a run folder: a lock that goes when its process does, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import open_or_create

LOCK = ".lock"


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder."""
    try:
        import fcntl  # not on Windows, where models can be used all the same
    except ImportError:
        raise RunError("training needs Linux, macOS or another Unix; summarizing and serving work here, too") from None
    with open_or_create(folder / LOCK) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{folder}: another process is training there. Wait for it, or name another --out") from None
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is training in the folder."""
    if not (folder / LOCK).exists():
        return False
    try:
        with lock(folder):
            return False
    except RunError:
        return True
