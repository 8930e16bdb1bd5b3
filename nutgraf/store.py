"""Objects of a store, named by URLs such as s3://bucket/texts.txt.xz.

fsspec reads from any store for which its library is installed. Only S3 is written to: it can refuse to replace an
object, which decides who may write (`Store.create`). Where a store is, and who may use it, is set as for
other programs: S3 has the variables AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws. Nothing
here knows what objects mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, cast

from nutgraf.errors import InputError, NutgrafError, RunError, lacks_memory
from nutgraf.extras import need_extra
from nutgraf.files import MOST_BYTES

_URL = re.compile(r"[a-z][a-z0-9+.-]+://\S")
_FOLDER = re.compile(r"s3://[^/\s]+(/[^/\s]+)+")
_READ_AT_ONCE = 1 << 20  # bytes that lines are taken from


def is_url(path: str) -> bool:
    """Whether this names an object of a store, not a file."""
    return _URL.match(path) is not None


def check_object(url: str) -> None:
    """Raise an InputError if there is no such object, or no such store."""
    with explain_store(url, InputError):
        system, path = _find(url)
        if system.info(path)["type"] != "file":
            raise InputError(f"{url}: a folder; expected a text file, plain, .gz or .xz")


def open_object(url: str) -> BufferedReader:
    """Open an object to read it as a stream."""
    with explain_store(url, InputError):
        system, path = _find(url)
        return BufferedReader(cast(RawIOBase, system.open(path, "rb")), _READ_AT_ONCE)


def is_folder(url: str) -> bool:
    """Whether this can be a folder of a bucket of S3."""
    return _FOLDER.fullmatch(url) is not None


class Store:
    """A folder of a bucket of S3. Names of objects are relative to it; the option is the one that named it."""

    def __init__(self, url: str, option: str = "--store"):
        self.url = url.rstrip("/")
        if not is_folder(self.url):
            raise InputError(f"{option} {url}: expected s3://BUCKET/FOLDER")
        need_extra("store", f"{option} {url}")
        from s3fs import S3FileSystem

        self._system = S3FileSystem(use_listings_cache=False)

    def place(self, name: str) -> str:
        """Return the URL of an object."""
        return f"{self.url}/{name}"

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder."""
        start = len(self.place("").removeprefix("s3://"))
        with explain_store(self.place(folder)):
            return [path[start:] for path in self._system.find(self.place(folder))]

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None where there is none."""
        with explain_store(self.place(name)):
            try:
                return int(self._system.info(self.place(name))["size"])
            except FileNotFoundError:
                return None

    def read(self, name: str) -> bytes | None:
        """Return the content of a small object; None where there is none."""
        size = self.size(name)
        if size is not None and size > MOST_BYTES:
            raise RunError(f"{self.place(name)}: longer than {MOST_BYTES:,} bytes, which no such object is")
        with explain_store(self.place(name)):
            try:
                return None if size is None else bytes(self._system.cat_file(self.place(name)))
            except FileNotFoundError:  # removed just now
                return None

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there yet; False, and nothing is changed, where it is."""
        with explain_store(self.place(name)):
            try:
                self._system.pipe_file(self.place(name), content, mode="create")
            except FileExistsError:
                return False
            return True

    def write(self, name: str, content: bytes) -> None:
        """Write an object, whole or not at all, in the place of any other."""
        with explain_store(self.place(name)):
            self._system.pipe_file(self.place(name), content)

    def send(self, path: Path, name: str) -> None:
        """Copy a file to the store, whole or not at all."""
        with explain_store(self.place(name)):
            self._system.put_file(str(path), self.place(name))

    def fetch(self, name: str, path: Path) -> None:
        """Copy an object to a file."""
        with explain_store(self.place(name)):
            self._system.get_file(self.place(name), str(path))

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        with explain_store(self.place(name)):
            self._system.rm_file(self.place(name))


@contextmanager
def explain_store(url: str, kind: type[NutgrafError] = RunError) -> Iterator[None]:
    """Turn whatever the library of a store raises into an error of one line that names the object."""
    try:
        yield
    except NutgrafError:
        raise
    except FileNotFoundError as error:
        raise kind(f"{url}: no such object, or no such bucket") from error
    except Exception as error:  # each library has errors of its own
        if lacks_memory(error):
            raise
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise kind(
            f"{url}: the store cannot be used: {reason}. Check its address, the keys and the network, then give the "
            "same command again"
        ) from error


def _find(url: str) -> tuple[Any, str]:
    """Return fsspec's file system for a URL, which looks at the store itself each time, and the path there."""
    need_extra("store", url)
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url, use_listings_cache=False)
    return system, str(path)
