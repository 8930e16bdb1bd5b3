"""Clients that send nothing, little, too much or no HTTP; and descriptors that run out."""

from __future__ import annotations

import asyncio
import itertools
import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import httpx
import pytest
import uvicorn

from nutgraf.serve import server
from nutgraf.serve.access import Access
from nutgraf.serve.connections import PAUSE, SPARE, Server, count_free_descriptors
from nutgraf.serve.limits import Limits
from tests.serve.serving import URL, Echo, echo, models, running, wait_for


def connect(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=10)


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False
    finally:
        connection.setblocking(True)


def still_takes(connection: socket.socket) -> bool:
    """Whether the connection was not reset."""
    try:
        connection.send(b"GET", socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def read_all(connection: socket.socket) -> bytes:
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


@contextmanager
def silent(client: httpx.Client, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(closing(connect(client))) for _ in range(count)]


def test_headers_must_arrive_in_time_also_byte_by_byte() -> None:
    with running(models(echo()), Limits(header_seconds=1)) as client, silent(client, 20) as connections:
        began = time.monotonic()
        drip = iter(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 1000)
        while any(map(is_open, connections)):
            assert time.monotonic() - began < 15
            byte = bytes([next(drip)])
            for connection in connections[:10]:  # the others send nothing at all
                with suppress(OSError):
                    connection.send(byte)
            time.sleep(0.05)
        assert client.get("/healthz").status_code == 200


def test_a_connection_between_two_requests_is_closed_when_it_is_idle() -> None:
    with running(models(echo()), Limits(idle_seconds=1)) as client, silent(client, 1) as (connection,):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        assert b"ok" in read_all(connection)  # and the end
    made = server._make_server(models(echo()), Limits(idle_seconds=7), Access())
    assert made.config.timeout_keep_alive == 7  # uvicorn's own limit would have ended the connection, too


def test_silent_connections_make_room_for_those_that_speak() -> None:
    limits = Limits(connections=10, header_seconds=100)  # else those that say nothing would end by themselves
    with running(models(echo()), limits) as client, silent(client, 30) as connections:
        for _ in range(5):
            assert httpx.get(client.base_url.join("/healthz"), timeout=10).status_code == 200
        wait_for(lambda: sum(map(is_open, connections)) <= 5)  # one client has half of all


def test_a_client_with_too_many_busy_connections_is_refused_in_json() -> None:
    slow = Echo("slow")
    body = json.dumps({"text": "x"}).encode()
    head = f"POST {URL} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with running(models(slow), Limits(connections=8, wait=0)) as client:
        client.close()
        with silent(client, 4) as busy:
            for connection in busy:
                connection.sendall(head.encode() + b"\r\n\r\n" + body)
            assert slow.begun.wait(60)
            time.sleep(0.5)
            with closing(connect(client)) as refused:
                answer = read_all(refused)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"X-Content-Type-Options: nosniff\r\n" in answer
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_many_connections"
            slow.go.set()
            assert [connection.recv(15) for connection in busy] == [b"HTTP/1.1 200 OK"] * 4


# More than the kernel's buffers hold, so that an answer that is not read stays with the server.
LARGE = json.dumps({"texts": [("x" * 999 + " ") * 14] * 64, "n_best": 10}).encode()


@contextmanager
def not_reading(client: httpx.Client) -> Iterator[socket.socket]:
    """Ask for a large answer and read nothing of it."""
    head = f"POST {URL} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(LARGE)}"
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((client.base_url.host, client.base_url.port or 80))
        connection.sendall(head.encode() + b"\r\n\r\n" + LARGE)
        yield connection


def test_an_answer_that_is_not_read_ends_with_its_connection() -> None:
    with running(models(echo()), Limits(header_seconds=1, seconds=10)) as client, not_reading(client) as connection:
        wait_for(lambda: not still_takes(connection))


def test_an_answer_that_is_not_read_does_not_keep_the_server_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_GRACE", 0)
    with ExitStack() as stack:
        with running(models(echo()), Limits(header_seconds=100, seconds=5)) as client:
            connection = stack.enter_context(not_reading(client))
            wait_for(lambda: 'nutgraf_texts_total{model="a"} 64.0' in client.get("/metrics").text)
            given_up = Timer(40, connection.shutdown, [socket.SHUT_RDWR])  # as the client would, in the end
            given_up.start()
            began = time.monotonic()
        given_up.cancel()
        assert time.monotonic() - began < 30


def test_a_connection_that_is_busy_for_longer_than_all_limits_together_is_ended() -> None:
    class Fake:
        def __init__(self, busy: bool, age: float):
            self.busy, self.since = busy, asyncio.get_running_loop().time() - age
            self.transport, self.aborted = self, False

        def abort(self) -> None:
            self.aborted = True

    async def end_late(*asked: tuple[bool, float]) -> list[bool]:
        ours = Server(uvicorn.Config("no app"), Limits(header_seconds=10, seconds=30), Access())
        fakes = [Fake(*one) for one in asked]
        ours.server_state.connections.update(fakes)  # type: ignore[arg-type]
        ours._end_late()
        return [fake.aborted for fake in fakes]

    found = asyncio.run(end_late((True, 69), (True, 71), (False, 9), (False, 11)))
    assert found == [False, True, False, True]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # no Host
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n\r\n",  # TLS
    ],
)
def test_what_is_no_http_gets_an_error_in_json(sent: bytes) -> None:
    with running(models(echo())) as client, silent(client, 1) as (connection,):
        connection.sendall(sent)
        answer = connection.recv(65536)
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 405 "))
        assert b"\r\nx-content-type-options: nosniff\r\n" in answer.lower()
        body = answer.partition(b"\r\n\r\n")[2] or connection.recv(65536)
        assert list(json.loads(body)["error"]) == ["code", "message"]


def test_nonsense_in_a_body_or_after_it_leaves_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    slow = Echo("slow")
    head = f"POST {URL} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
    with running(models(slow), Limits(wait=0)) as client, silent(client, 2) as (chunked, followed):
        chunked.sendall(head + b"Transfer-Encoding: chunked\r\n\r\nnot a length\r\n")
        assert chunked.recv(12) == b"HTTP/1.1 400"
        followed.sendall(head + b'Content-Length: 13\r\n\r\n{"text": "x"}nonsense\r\n\r\n')
        assert slow.begun.wait(60)
        slow.go.set()
        answer = read_all(followed)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"HTTP/1.1 400" in answer
    assert not caplog.records


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Leave this process this many descriptors."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(path.name) for path in Path("/dev/fd").iterdir()}  # earlier tests may have left gaps
    numbers = (number for number in itertools.count() if number not in used)
    last = next(itertools.islice(numbers, free - 1, None))
    resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_without_descriptors_the_server_waits_says_so_once_and_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []
    log = Server._log_failure

    def note(*given: Any) -> None:
        tried.append(time.monotonic())
        log(*given)

    monkeypatch.setattr(Server, "_log_failure", note)
    with running(models(echo()), Limits(header_seconds=100)) as client:
        with silent(client, 30) as connections:
            with few_descriptors(45), ExitStack() as stack:
                with suppress(OSError):  # this process has no more descriptors, too
                    for _ in range(100):
                        stack.enter_context(closing(connect(client)))
                time.sleep(2)
            assert not all(map(is_open, connections))  # those that say nothing made room
        assert httpx.get(client.base_url.join("/healthz"), timeout=20).status_code == 200
    assert len([record for record in caplog.records if "accept" in record.getMessage()]) == 1
    assert len(tried) <= (tried[-1] - tried[0]) / PAUSE + 1  # a pause after each


def test_where_descriptors_are_few_there_are_fewer_connections() -> None:
    with (
        few_descriptors(SPARE + 40),  # both ends of a connection are in this process
        running(models(echo()), Limits(header_seconds=100)) as client,
        silent(client, 24) as connections,
    ):
        wait_for(lambda: sum(map(is_open, connections)) <= 20)  # one client has half of all
        assert httpx.get(client.base_url.join("/healthz"), timeout=20).status_code == 200


def test_descriptors_are_kept_for_other_things() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 4 <= count_free_descriptors() <= 1 << 20
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
        assert count_free_descriptors() <= 200 - 32
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
