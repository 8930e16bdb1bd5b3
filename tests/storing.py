"""A real server of S3 on loopback, which forgets everything when it ends.

It starts with `python -m moto.server -H 127.0.0.1 -p PORT`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests", "AWS_DEFAULT_REGION": "us-east-1"}
ONCE = {"AWS_MAX_ATTEMPTS": "1"}  # a server that is gone stays gone
_NUMBERS = count()


def has_server() -> bool:
    """Whether a server, and what its clients need, is installed."""
    return all(find_spec(name) for name in ("s3fs", "moto", "flask_cors"))


needs_server = pytest.mark.skipif(
    not has_server(), reason="s3fs, moto or flask-cors is not installed: pip install '.[dev]'"
)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serve_s3() -> Iterator[str]:
    """Yield the address of a server, which is a process of its own."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(process, address)
        yield address
    finally:
        process.kill()
        process.wait()


def _await(process: subprocess.Popen[bytes], address: str) -> None:
    while process.poll() is None:
        try:
            urlopen(address).close()
            return
        except URLError:
            time.sleep(0.05)
    raise AssertionError(f"the server of S3 has ended with code {process.returncode}")


@contextmanager
def use_s3() -> Iterator[None]:
    """Start a server, and let all clients of this process, and of those that it starts, use it."""
    with serve_s3() as address, pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in {**KEYS, **ONCE, "AWS_ENDPOINT_URL": address}.items():
            patch.setenv(name, value)
        client().clear_instance_cache()
        yield
        client().clear_instance_cache()


def client() -> Any:
    from s3fs import S3FileSystem

    return S3FileSystem(use_listings_cache=False)


def new_bucket() -> str:
    """The URL of a bucket that is empty."""
    name = f"bucket-{next(_NUMBERS)}"
    client().mkdir(name)
    return f"s3://{name}"
