"""The socket and the signals.

SIGTERM and Ctrl-C stop new connections, let running requests finish, then end the models' thread.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from nutgraf.errors import NutgrafError
from nutgraf.serve.access import Access
from nutgraf.serve.app import make_app
from nutgraf.serve.connections import Connection, Server
from nutgraf.serve.limits import Limits
from nutgraf.serve.log import start_log
from nutgraf.serve.models import Models

KEY = "NUTGRAF_API_KEY"
_BACKLOG = 1024  # connections that may wait to be accepted
_GRACE = 5  # seconds that a shutdown waits beyond the time limit of a request


def read_key() -> str | None:
    """Return the key from the environment; an empty one is an error, it does not mean no key."""
    key = os.environ.get(KEY)
    if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
        raise NutgrafError(f"{KEY}: expected printable ASCII without spaces. Unset it to serve without a key")
    return key


def listen(host: str, port: int) -> socket.socket:
    """Open the socket; port 0 means any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except OSError:
            listening.close()
            raise
    except (OSError, OverflowError) as error:
        raise NutgrafError(f"--host {host} --port {port}: {error}. Try another port") from error
    return listening


@contextmanager
def serve_in_thread(models: Models, limits: Limits, access: Access | None = None) -> Iterator[int]:
    """Serve on a free port of loopback, which is yielded, in a thread; for tests and benchmarks. Ends like SIGTERM."""
    with listen("127.0.0.1", 0) as listening:
        server = _make_server(models, limits, access or Access())
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        listening.listen(_BACKLOG)  # clients may connect before the thread is up
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def _make_server(models: Models, limits: Limits, access: Access) -> Server:
    settings = uvicorn.Config(
        make_app(models, limits, access),
        http=Connection,
        ws="none",
        loop="asyncio",
        # uvicorn's own logging would replace that of the process; what anyone can cause by bad requests is not logged.
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=bool(access.proxies),
        forwarded_allow_ips=list(access.proxies),
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=int(limits.seconds) + _GRACE,
    )
    return Server(settings, limits, access)


def serve(
    models: Models,
    limits: Limits,
    listening: socket.socket,
    say: Callable[[str], None],
    access: Access,
    log_requests: bool = False,
) -> None:
    """Answer requests until SIGTERM or Ctrl-C; `say` gets the address, and a warning if anyone may use the server."""
    host, port = listening.getsockname()[:2]
    if access.key is None and not ipaddress.ip_address(host).is_loopback:
        say(f"warning: other machines can reach this server, and it has no key. Set {KEY} to require one")
    start_log(log_requests)
    server = _make_server(models, limits, access)
    say(f"Models: {', '.join(models.by_name)}; default {models.default.name} ({models.default.reason})")
    listening.listen(_BACKLOG)  # a client may connect as soon as it reads the next line
    say(f"Serving on http://{f'[{host}]' if ':' in host else host}:{port}/ (Ctrl-C stops)")
    server.run(sockets=[listening])
