"""What uvicorn lacks: limits on the connections themselves.

uvicorn closes a connection that sends nothing between two requests, and limits the size of headers. It has no time
limit for headers, no limit for one client's connections, none for a client that does not read its answer, and its loop
logs thousands of lines a second when descriptors run out (CPython issue 151615). Here,
- the headers of a request must arrive within a time, and so must everything else of it;
- where all connections, or all that one client may have, are taken, the one that has waited longest without a request
  makes room; if every one is busy, the new one gets 503;
- connections are accepted one by one; if that fails, it is logged once a minute, and tried again after a pause.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from nutgraf.serve.access import Access
from nutgraf.serve.errors import error_body
from nutgraf.serve.gate import HEADERS
from nutgraf.serve.limits import Limits
from nutgraf.serve.log import LOGGER

SPARE = 32  # descriptors for everything other than connections
PAUSE = 0.5  # seconds after a connection could not be accepted
_LOGGED_EVERY = 60.0  # seconds
_BUSY = error_body("too_many_connections", "too many connections; try again later")


def _last_headers(body: bytes) -> dict[str, str]:
    """Return the headers of an error after which the connection ends; no app adds those of other answers."""
    own = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
    return HEADERS | own


_REFUSAL = b"".join(
    (
        b"HTTP/1.1 503 Service Unavailable\r\n",
        *(f"{name}: {value}\r\n".encode() for name, value in ({"Retry-After": "1"} | _last_headers(_BUSY)).items()),
        b"\r\n",
        _BUSY,
    )
)


class Connection(H11Protocol):
    """A connection that knows whether a request is under way, and since when that is so."""

    since = 0.0

    @property
    def busy(self) -> bool:
        """Whether the headers of a request are there, and its answer is not yet written."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for headers."""
        super().connection_made(transport)
        self.since = self.loop.time()

    def handle_events(self) -> None:
        """Note when a request starts."""
        was_busy = self.busy
        super().handle_events()
        if self.busy and not was_busy:
            self.since = self.loop.time()

    def on_response_complete(self) -> None:
        """Wait for headers from now on; the next request may be there already."""
        self.since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, in the form of all errors; if an answer is under way, it is cut off."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        body = error_body("invalid_http", msg)
        for event in (
            h11.Response(status_code=400, headers=list(_last_headers(body).items()), reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server with these limits."""

    def __init__(self, config: uvicorn.Config, limits: Limits, access: Access):
        super().__init__(config)
        self._limits, self._proxies = limits, access.proxies
        self._most = limits.connections
        self._logged = float("-inf")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections ourselves."""
        await super().startup(sockets=[])
        self._most = min(self._limits.connections, count_free_descriptors())
        self._accepting = [asyncio.create_task(self._accept(listening)) for listening in sockets or []]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, then end like uvicorn; connections that are still open by then are cut off."""
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        await super().shutdown(sockets)
        for connection in cast(set[Connection], self.server_state.connections.copy()):
            connection.transport.abort()
        await asyncio.sleep(0)  # the loop ends after this, and must close them before

    async def on_tick(self, counter: int) -> bool:
        """Once a second, end the connections that are late."""
        if counter % 10 == 0:
            self._end_late()
        return await super().on_tick(counter)

    def _open(self) -> list[Connection]:
        connections = cast(set[Connection], self.server_state.connections)
        return [connection for connection in connections if not connection.transport.is_closing()]

    def _end_late(self) -> None:
        now = asyncio.get_running_loop().time()
        # The body, the summaries and the answer each have their time.
        whole = 2 * self._limits.seconds + self._limits.header_seconds
        for connection in cast(set[Connection], self.server_state.connections.copy()):
            if now - connection.since > (whole if connection.busy else self._limits.header_seconds):
                connection.transport.abort()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        while True:
            try:
                accepted, address = await loop.sock_accept(listening)
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self._log_failure(error)
                self._end_longest_waiting(self._open())
                await asyncio.sleep(PAUSE)
                continue
            if self._make_room(address[0]):
                with suppress(OSError):  # the client has gone
                    await loop.connect_accepted_socket(self._make_connection, accepted)
            else:
                with accepted, suppress(OSError):
                    accepted.send(_REFUSAL)

    def _make_connection(self) -> Connection:
        return Connection(self.config, self.server_state, self.lifespan.state)

    def _make_room(self, client: str) -> bool:
        """End a connection that waits, if the client or all together have too many; return whether there is room."""
        connections = self._open()
        own = [connection for connection in connections if connection.client and connection.client[0] == client]
        if client not in self._proxies and len(own) >= -(-self._most // 2):
            return self._end_longest_waiting(own)
        return len(connections) < self._most or self._end_longest_waiting(connections)

    def _end_longest_waiting(self, connections: list[Connection]) -> bool:
        waiting = [connection for connection in connections if not connection.busy]
        if waiting:
            min(waiting, key=lambda connection: connection.since).transport.abort()
        return bool(waiting)

    def _log_failure(self, error: OSError) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._logged > _LOGGED_EVERY:
            self._logged = now
            LOGGER.error("connections cannot be accepted; trying again", extra={"fields": {"reason": error.strerror}})


def count_free_descriptors() -> int:
    """Return how many descriptors connections may use; a few in any case."""
    try:
        import resource
    except ImportError:  # Windows
        return 1 << 16
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 16
    used = len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else SPARE  # noqa: PTH112, PTH208
    return max(4, soft - used - SPARE)
