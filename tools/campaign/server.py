"""A soak of the server: many requests of all kinds, from several clients at once, to one process on loopback.

Single texts, several, with and without options; clients that hang up, that send slowly, that send nonsense, and whose
headers and bodies are damaged on the way: they get one of our errors, a summary, or nothing. Every other answer is
compared with the summarizer's own, computed one text at a time. `python -m tools.campaign.server --help`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Protocol

from nutgraf.demo.newswire import unaligned
from nutgraf.summarizing.summarizer import Summarizer
from tools.campaign.mutations import change_json, damage

HOST, PATH = "127.0.0.1", "/v1/summarize"
KINDS = {"text": 50, "texts": 13, "hang up": 10, "slow": 8, "damaged": 12, "nonsense": 7}  # of 100 requests
OPTIONS: tuple[dict[str, int | bool], ...] = ({}, {}, {"max_words": 6}, {"max_words": 8, "min_words": 4})
TEXTS = 40
CLIENTS = 16
MOST_REQUESTS = 20_000
MOST_GROWTH = 64 << 20  # bytes
WAIT = 60  # seconds for an answer
SETTLE = 20.0  # seconds for the last connections to be closed
_HEADERS = {"Content-Type": "application/json"}
_NONSENSE = (b"{", b"[]", b'{"text": 5}', b'{"text": ""}', b'{"text": "x", "max_words": 9999}', b"\xff" * 100)


@dataclass(frozen=True)
class SoakFigures:
    """What a soak found. `wrong` are answers that differ from the summarizer's, and statuses that do not fit."""

    seed: int
    requests: int
    wrong: int
    hung_up: int
    damaged: int  # on their way
    memory_start: int  # bytes, after the first tenth of the requests
    memory_growth: int  # bytes since then
    descriptors_left: int
    latency_p50: float  # seconds
    latency_p99: float
    seconds: float


class Stage(Protocol):
    """What the campaign gives to an attack: a folder, randomness and time; and where it leaves its figures."""

    folder: Path
    random: random.Random
    seconds: float
    rounds: int  # to stop after, whatever the time; 0: none
    counts: Counter[str]

    def fail(self, message: str) -> None:
        """Keep what went wrong."""


def attack(stage: Stage) -> None:
    """Soak a server of a tiny run for as long as there is time."""
    from tests.tiny import train_tiny, write_corpus

    run = train_tiny(write_corpus(stage.folder), stage.folder / "run")
    seed = stage.random.getrandbits(32)
    found = soak(run.folder, stage.rounds or MOST_REQUESTS, seed, seconds=stage.seconds)
    stage.counts["requests"] += found.requests
    stage.counts["clients that hung up"] += found.hung_up
    stage.counts["damaged headers and bodies"] += found.damaged
    stage.counts["milliseconds at the 50th percentile"] = round(1000 * found.latency_p50)
    stage.counts["milliseconds at the 99th percentile"] = round(1000 * found.latency_p99)
    stage.counts["kB that the memory grew"] = found.memory_growth // 1000
    for wrong, what in (
        (found.wrong, "wrong answers"),
        (max(0, found.descriptors_left), "descriptors left behind"),
        (max(0, found.memory_growth - MOST_GROWTH), "bytes too many that the memory grew"),
    ):
        if wrong:
            stage.fail(f"{wrong:,} {what}; seed {seed}")


@dataclass
class _Tally:
    """What one client saw."""

    requests: int = 0
    hung_up: int = 0
    damaged: int = 0
    wrong: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


Expected = Mapping[tuple[str, int], str]  # of a text, with options by their number


def soak(model: Path, requests: int, seed: int, clients: int = CLIENTS, seconds: float = 3600.0) -> SoakFigures:
    """Send this many requests to a server of a run or an export, or as many as there is time for."""
    texts = [text for text, _ in unaligned(1, 1, TEXTS, seed=seed)[2]]
    expected = expect(Summarizer.load(model), texts)
    began, until = time.monotonic(), time.monotonic() + seconds
    with start_server(model) as (process, port):
        first = ask_all(port, texts, expected, max(1, requests // 10), f"{seed} first", clients, until)
        settle(process.pid, 0)
        memory, descriptors = measure(process.pid)
        rest = ask_all(port, texts, expected, requests - max(1, requests // 10), f"{seed} rest", clients, until)
        settle(process.pid, descriptors)
        after, left = measure(process.pid)
    tallies = [*first, *rest]
    for line in [line for tally in tallies for line in tally.wrong][:5]:
        sys.stderr.write(f"wrong: {line}\n")
    latencies = sorted(latency for tally in tallies for latency in tally.latencies)
    quantiles = statistics.quantiles(latencies, n=100) if len(latencies) > 1 else [0.0] * 99
    return SoakFigures(
        seed=seed,
        requests=sum(tally.requests for tally in tallies),
        wrong=sum(len(tally.wrong) for tally in tallies),
        hung_up=sum(tally.hung_up for tally in tallies),
        damaged=sum(tally.damaged for tally in tallies),
        memory_start=memory,
        memory_growth=after - memory,
        descriptors_left=left - descriptors,
        latency_p50=round(quantiles[49], 4),
        latency_p99=round(quantiles[98], 4),
        seconds=round(time.monotonic() - began, 1),
    )


def expect(summarizer: Summarizer, texts: Sequence[str]) -> Expected:
    """Return the right answers, each computed alone."""
    found = {}
    for number, options in enumerate(OPTIONS):
        for text in texts:
            found[text, number] = summarizer(text, options.get("max_words"), options.get("min_words"))
    return found


@contextmanager
def start_server(model: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run `nutgraf serve` on a free port of loopback; it must end by itself when it is told to."""
    command = [sys.executable, "-m", "nutgraf.cli", "serve", "--model", str(model), "--port", "0", "--threads", "1"]
    with tempfile.TemporaryFile("w+b") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield process, _find_port(process, Path(f"/proc/self/fd/{log.fileno()}"))
            process.terminate()
            process.wait(WAIT)
        finally:
            process.kill()


def _find_port(process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + 2 * WAIT
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(rf"http://{re.escape(HOST)}:(\d+)/", log.read_text("utf-8", "replace")):
            return int(found[1])
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text('utf-8', 'replace')}")


def measure(pid: int) -> tuple[int, int]:
    """Return the memory of a process in bytes, and how many descriptors it has open."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    memory = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(memory[1]) * 1024 if memory else 0, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def settle(pid: int, descriptors: int) -> None:
    """Wait until connections that nobody uses are closed: until there are this few, or none was for some seconds."""
    until, least = time.monotonic() + SETTLE, sys.maxsize
    since = time.monotonic()
    while time.monotonic() < until and time.monotonic() - since < 8:
        _, now = measure(pid)
        if now <= descriptors:
            return
        if now < least:
            least, since = now, time.monotonic()
        time.sleep(0.2)


def ask_all(
    port: int, texts: Sequence[str], expected: Expected, requests: int, seed: str, clients: int, until: float
) -> list[_Tally]:
    """Send requests from clients that run at the same time."""
    shares = [requests // clients + (number < requests % clients) for number in range(clients)]

    def run(number: int) -> _Tally:
        client = _Client(port, texts, expected, random.Random(f"{seed} {number}"))
        while client.tally.requests < shares[number] and time.monotonic() < until:
            client.send_one()
        client.close()
        return client.tally

    with ThreadPoolExecutor(clients) as threads:
        return list(threads.map(run, range(clients)))


class _Client:
    """One client with a connection that it keeps open while all goes well."""

    def __init__(self, port: int, texts: Sequence[str], expected: Expected, rng: random.Random):
        self._port, self._texts, self._expected, self._rng = port, texts, expected, rng
        self._connection = HTTPConnection(HOST, port, timeout=WAIT)
        self.tally = _Tally()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def send_one(self) -> None:
        """Send a request of some kind, and check its answer."""
        (kind,) = self._rng.choices(list(KINDS), list(KINDS.values()))
        self.tally.requests += 1
        chosen = self._rng.sample(self._texts, self._rng.randint(2, 8) if kind == "texts" else 1)
        number = self._rng.randrange(len(OPTIONS))
        body = json.dumps({"texts": chosen, **OPTIONS[number]}).encode()
        if kind == "hang up":
            self._hang_up(body)
        elif kind == "nonsense":
            self._check_refused(self._rng.choice(_NONSENSE))
        elif kind == "damaged":
            changed = change_json(body, self._rng) if self._rng.random() < 0.5 else body
            self._send_damaged(damage(self._raw(changed), self._rng) if changed == body else self._raw(changed))
        else:
            wanted = [{"summary": self._expected[text, number]} for text in chosen]
            self._check(self._send_slowly(body) if kind == "slow" else self._ask(body), wanted)

    def _ask(self, body: bytes) -> tuple[int, bytes]:
        began = time.monotonic()
        try:
            self._connection.request("POST", PATH, body, _HEADERS)
            response = self._connection.getresponse()
            answer = response.status, response.read()
        except (ConnectionError, TimeoutError) as error:
            self._connection.close()  # an idle connection may have been closed in the meantime
            if isinstance(error, TimeoutError):
                return 0, b"no answer"
            return self._ask(body)
        self.tally.latencies.append(time.monotonic() - began)
        return answer

    def _check(self, answer: tuple[int, bytes], wanted: object) -> None:
        status, body = answer
        if status != 200 or json.loads(body)["summaries"] != wanted:
            self.tally.wrong.append(f"{status} {body[:300]!r}, expected {str(wanted)[:300]}")

    def _check_refused(self, body: bytes) -> None:
        status, answer = self._ask(body)
        if status not in (400, 422) or list(json.loads(answer)) != ["error"]:
            self.tally.wrong.append(f"{status} {answer[:300]!r} to {body[:50]!r}")

    def _raw(self, body: bytes) -> bytes:
        head = f"POST {PATH} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def _hang_up(self, body: bytes) -> None:
        """Send a part of a request, or all of it, and leave."""
        self.tally.hung_up += 1
        sent = self._raw(body)
        with closing(socket.create_connection((HOST, self._port), WAIT)) as connection:
            connection.sendall(sent[: self._rng.choice((0, 20, len(sent) - 5, len(sent)))])
            time.sleep(self._rng.choice((0, 0.005, 0.02)))

    def _send_damaged(self, sent: bytes) -> None:
        """Send bytes that may be no request; an answer is a summary, or an error in our form that is not ours."""
        self.tally.damaged += 1
        with closing(socket.create_connection((HOST, self._port), WAIT)) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                found = b"".join(iter(lambda: connection.recv(65536), b""))
            except TimeoutError:
                self.tally.wrong.append(f"no end after {sent[:300]!r}")
                return
            except OSError:  # the server had seen enough
                return
        head, _, answer = found.partition(b"\r\n\r\n")
        if not found or head.startswith(b"HTTP/1.1 200 "):
            return
        if not head.startswith(b"HTTP/1.1 4") or b'{"error":{"code":' not in answer:
            self.tally.wrong.append(f"{found[:600]!r} to {sent[:300]!r}")

    def _send_slowly(self, body: bytes) -> tuple[int, bytes]:
        sent = self._raw(body)
        with closing(socket.create_connection((HOST, self._port), WAIT)) as connection:
            step = max(1, len(sent) // 8)
            for start in range(0, len(sent), step):
                connection.sendall(sent[start : start + step])
                time.sleep(0.01)
            found = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, answer = found.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, answer


def main() -> None:
    """Run a soak and print its figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tools.campaign.server", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a run folder or an export")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=3600.0, help="the most time to send requests in")
    asked = parser.parse_args()
    figures = soak(asked.model, asked.requests, asked.seed, asked.clients, asked.seconds)
    print(json.dumps(asdict(figures), indent=1))
    sys.exit(1 if figures.wrong else 0)


if __name__ == "__main__":
    main()
