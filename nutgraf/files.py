"""The files of run folders and exports: written whole or not at all, and read as a stranger's.

Writing: a kill or a power cut leaves the old state or the new one, never half of it. Temporary files have random names
and must be new, so that nothing that lies in a folder already can send what is written elsewhere. Reading: regular
files only, never through a link, and never more than the caller expects.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from nutgraf.errors import RunError, lacks_memory

MOST_BYTES = 1 << 24  # of a file that is read at once, unless the caller says otherwise
_MOST_WORDS = 1 << 30  # bytes of a list of words
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x9b]")
_MOST_FILES = 200_000  # in a folder
_LEFT_BEHIND = 600.0  # seconds after which a temporary file has no writer any more
_PARTIAL = ".partial"
_DIGEST = 32  # bytes of a SHA-256

# Windows lacks some of these. Without O_NONBLOCK, opening a FIFO would wait for ever.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0)
_OPEN = os.O_RDWR | os.O_CREAT | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0)  # NFS locks only what may be written to
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


@contextmanager
def replacing(path: Path, folder: bool = False) -> Iterator[Path]:
    """Yield a new file, or folder, to fill; it takes the place of `path` when all went well, else nothing changes.

    A process that is killed leaves `.NAME.RANDOM.partial` behind, which a later one removes.
    """
    if not path.name:  # such as "", "." and "/"
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    _remove_left_behind(path)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_PARTIAL}")
    if folder:
        partial.mkdir()
    else:
        os.close(os.open(partial, _CREATE, 0o666))
    try:
        yield partial
        flush(partial)
        partial.replace(path)
    except BaseException as error:
        remove(partial)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk is noticed when the file is closed, which has no name then
        raise
    flush(path.parent)


def is_partial_of(name: str, of: str) -> bool:
    """Whether a file is what `replacing` writes first."""
    return name.startswith(f".{of}.") and name.endswith(_PARTIAL)


def _remove_left_behind(path: Path) -> None:
    """Remove what killed processes left; a file that was written to just now may still have its writer."""
    with os.scandir(path.parent) as entries:
        found = [entry for entry in entries if is_partial_of(entry.name, path.name)]
    for entry in found:
        with suppress(FileNotFoundError):  # its writer has just renamed it
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND:
                remove(Path(entry.path))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is there whole, or not at all."""
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(content)


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file with its own checksum, for `read_sealed`."""
    write_atomically(path, hashlib.sha256(content).digest() + content)


def read_sealed(path: Path, most: int = 1 << 32) -> bytes | None:
    """Return what `write_sealed` wrote; None if the file is something else now."""
    stored = read_bytes(path, most)
    digest, content = stored[:_DIGEST], stored[_DIGEST:]
    return content if digest == hashlib.sha256(content).digest() else None


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there; of a link, the link alone."""
    if path.is_dir() and not path.is_symlink():
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
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read; a link, or anything but a regular file, is a RunError, and so is a failure to read it.

    Where there is no such file, a FileNotFoundError.
    """
    with _open(path, _READ) as file:
        try:
            yield file
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror}") from error


def open_or_create(path: Path) -> BufferedReader:
    """Open a regular file without reading or changing it, such as a lock; a new one where there is none."""
    return _open(path, _OPEN)


def _open(path: Path, flags: int) -> BufferedReader:
    try:
        handle = os.open(path, flags, 0o666)
    except FileNotFoundError:
        raise
    except OSError as error:
        check_regular(path, stat.S_IFLNK if error.errno == errno.ELOOP else stat.S_IFREG)
        raise RunError(f"{path}: cannot be opened: {error.strerror}") from error
    try:
        check_regular(path, os.fstat(handle).st_mode)
    except RunError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; a longer one than `most` bytes is a RunError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size  # Python would allocate all of `most` first
        content = file.read(min(size, most) + 1)
        if len(content) > size:  # it has just grown
            content += file.read(most + 1 - len(content))
    if len(content) > most:
        raise RunError(f"{path}: longer than {most:,} bytes, which no such file is")
    return content


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a regular file; a ValueError where it is not UTF-8."""
    return read_bytes(path, most).decode("utf-8")


def read_words(path: Path) -> str:
    """Return a text of any length without control characters, which could reach a terminal; else a ValueError."""
    text = read_text(path, _MOST_WORDS)
    if found := _CONTROL.search(text):
        raise ValueError(f"the control character {found.group()!r} at {found.start():,}")
    return text


def read_json(path: Path, most: int = MOST_BYTES) -> Any:
    """Return what a JSON file contains; a ValueError where it is no JSON."""
    try:
        return json.loads(read_text(path, most))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def check_regular(path: Path, mode: int) -> None:
    """Raise a RunError that names a file of any other kind."""
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "a device")
        raise RunError(f"{path}: {kind}; expected a regular file. Nothing was read or changed")


def refuse_links(folder: Path, *names: str) -> None:
    """Raise a RunError if one of these entries of a folder, or anything below it, is no regular file and no folder.

    Without names, all entries count. The folder itself may be a link: whoever gives its name chooses it.
    """
    waiting, count = [folder / name for name in names] or [*folder.iterdir()], 0
    while waiting:
        path = waiting.pop()
        try:
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                waiting += path.iterdir()
            else:
                check_regular(path, mode)
        except (FileNotFoundError, NotADirectoryError):
            continue  # never there, or removed just now by a process that is training
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror}") from error
        count += 1
        if count > _MOST_FILES:
            raise RunError(f"{folder}: more than {_MOST_FILES:,} files, which no run folder has")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong inside into a RunError that names the file whose content is to blame."""
    try:
        yield
    except RunError:
        raise
    except FileNotFoundError as error:
        raise RunError(f"{error.filename or path}: missing") from error
    except Exception as error:
        if lacks_memory(error):
            raise  # the content is not to blame
        reason = " ".join(str(error).split())[:200]
        raise RunError(f"{path}: its content cannot be used ({type(error).__name__}: {reason})") from error
