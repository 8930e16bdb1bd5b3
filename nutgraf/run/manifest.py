"""A step's folder: done when its manifest, with checksums, was renamed into place; anything else is not done.

Nothing here knows what the files mean.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path, PurePosixPath

from nutgraf.errors import RunError
from nutgraf.files import flush, read_bytes, refuse_links, remove, sha256, write_atomically

MANIFEST = "manifest.json"
WORK = "work"  # chunks and checkpoints of an unfinished step, and the key that they belong to
_LONGEST_NAME = 255  # bytes of a file's name, on all common file systems
_VERSIONED = ("nutgraf", "torch", "numpy", "gensim", "POT")


class DamagedError(RunError):
    """A file of a finished step that is not what the manifest says."""


@dataclass(frozen=True)
class File:
    """What a manifest records of one file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The record of a finished step."""

    name: str
    key: str
    seconds: float
    files: dict[str, File]
    inputs: dict[str, str]  # the digest of each need's files, as they were read
    versions: dict[str, str]
    threads: int = 0  # that computed it, on which the last bits of trained weights depend; 0: not known
    device: str = ""

    @property
    def digest(self) -> str:
        """One checksum of all files."""
        lines = (f"{name} {file.sha256}\n" for name, file in sorted(self.files.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def begin(folder: Path, key: str, inputs: Mapping[str, str]) -> Path:
    """Make the folder ready for a step and return its work folder.

    It holds what an interrupted run with this key, and with inputs of these digests, left there.
    """
    refuse_links(folder.parent, folder.name)
    work = folder / WORK
    mark, asked = work / "key", json.dumps([key, dict(inputs)], sort_keys=True).encode()
    if not (mark.is_file() and read_bytes(mark) == asked):
        remove(folder)
        work.mkdir(parents=True)
        write_atomically(mark, asked)
    for path in folder.iterdir():
        if path != work:
            remove(path)
    return work


def finish(
    folder: Path,
    key: str,
    inputs: Mapping[str, str],
    seconds: float,
    threads: int = 0,
    device: str = "",
    name: str = "",
) -> Manifest:
    """Record all files of the folder, flushed; the step is done when this returns. It is called like its folder."""
    files: dict[str, File] = {}
    mode = folder.stat().st_mode & 0o666  # safetensors makes files private, but a server may run as another user
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inner = path.relative_to(folder).as_posix()
        if not inner.startswith(f"{WORK}/") and inner != MANIFEST:
            path.chmod(mode)
            flush(path)
            files[inner] = File(path.stat().st_size, sha256(path))
    versions = installed_versions() | {"python": platform.python_version()}
    manifest = Manifest(name or folder.name, key, round(seconds, 1), files, dict(inputs), versions, threads, device)
    flush(folder)
    write_atomically(folder / MANIFEST, json.dumps(asdict(manifest), indent=1).encode())
    remove_work(folder)
    return manifest


def remove_work(folder: Path) -> None:
    """Remove the work folder of a step that is done; a kill right after the manifest was written leaves it there."""
    shutil.rmtree(folder / WORK, ignore_errors=True)


def read(folder: Path) -> Manifest | None:
    """Return the manifest of a finished step; None where the step is not done."""
    try:
        return parse(read_bytes(folder / MANIFEST), str(folder / MANIFEST))
    except FileNotFoundError:
        return None


def parse(content: bytes, place: str) -> Manifest:
    """Return the manifest that a file or an object has; a DamagedError names the place of one that has none."""
    try:
        table = json.loads(content.decode())
        seconds = float(table["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(seconds)
        files = {_inside(name): File(int(file["size"]), str(file["sha256"])) for name, file in table["files"].items()}
        return Manifest(
            str(table["name"]),
            str(table["key"]),
            seconds,
            files,
            {str(name): str(digest) for name, digest in table["inputs"].items()},
            {str(name): str(version) for name, version in table["versions"].items()},
            int(table.get("threads", 0)),
            str(table.get("device", "")),
        )
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DamagedError(f"{place}: damaged, no manifest can be read from it ({type(error).__name__})") from error


def installed_versions() -> dict[str, str]:
    """Return the versions of what may have been used; the base package has no torch, gensim or POT."""
    versions = {}
    for package in _VERSIONED:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _inside(name: str) -> str:
    """Return the name of a file below the folder; anything else is a ValueError."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or not name.isprintable():
        raise ValueError(name)
    if max(len(part.encode()) for part in path.parts) > _LONGEST_NAME:
        raise ValueError("a name that no file can have")
    return name


def verify(folder: Path, manifest: Manifest) -> None:
    """Compare every file with the manifest; the first that differs is named in a DamagedError."""
    for name, expected in manifest.files.items():
        path = folder / name
        size = path.stat().st_size if path.is_file() else None
        compare(str(path), expected, size, partial(sha256, path))


def compare(place: str, expected: File, size: int | None, digest: Callable[[], str]) -> None:
    """Raise a DamagedError that names a file or an object if it is missing (no size), or not what was written."""
    if size is None:
        raise DamagedError(f"{place}: missing")
    if size != expected.size:
        raise DamagedError(f"{place}: damaged, {size:,} bytes where {expected.size:,} were written")
    if digest() != expected.sha256:
        raise DamagedError(f"{place}: damaged, its checksum is not the one that was written")
