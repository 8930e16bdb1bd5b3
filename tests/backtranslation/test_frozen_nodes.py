"""Machines that freeze, as if they had lost their network: what they were at is done elsewhere."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from nutgraf.progress import ignore
from nutgraf.workers.cluster import Cluster
from tests.backtranslation.dying import Frozen
from tests.backtranslation.ray_nodes import ENVIRONMENT, start_nodes
from tests.serve.serving import wait_for

SOON = {"RAY_health_check_period_ms": "500", "RAY_health_check_timeout_ms": "4000"}
SOON |= {"RAY_health_check_failure_threshold": "2", "RAY_health_check_initial_delay_ms": "0"}
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install '.[cluster]'"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Three nodes, of which each is given up soon."""
    for name, value in (ENVIRONMENT | SOON).items():
        monkeypatch.setenv(name, value)
    found = start_nodes(3)
    yield found
    found.shutdown()


class Freezer:
    """What freezes a node once work has begun there."""

    def __init__(self, node: Any, marks: Path):
        marks.mkdir()
        self.node, self.marks, self.frozen = node, marks, list[int]()

    def __enter__(self) -> Frozen:
        self.thread = Thread(target=self.freeze)
        self.thread.start()
        return Frozen(self.marks, self.node.node_id)

    def freeze(self) -> None:
        begun = self.marks / "begun"
        wait_for(lambda: begun.exists() and begun.read_text() != "", seconds=120)
        servers = [process.process.pid for group in self.node.all_processes.values() for process in group]
        for pid in (*servers, int(begun.read_text())):
            os.kill(pid, signal.SIGSTOP)
            self.frozen.append(pid)

    def __exit__(self, *_: object) -> None:
        self.thread.join()
        for pid in self.frozen:
            os.kill(pid, signal.SIGKILL)


def test_what_a_frozen_machine_was_at_is_begun_again_elsewhere(nodes: Any, tmp_path: Path) -> None:
    first, second, third = nodes.list_all_nodes()
    assert first.head
    cluster = Cluster(nodes.address)
    try:
        with Freezer(third, tmp_path / "map") as work:
            assert dict(cluster.map(work, range(4), 1, ignore)) == {0: 0, 1: 2, 2: 4, 3: 6}
        wait_for(lambda: cluster.count_threads() == 2, seconds=60)
        with Freezer(second, tmp_path / "gang") as work:
            assert cluster.gang(work, 2, 1, tmp_path, ignore) == -1
    finally:
        cluster.close()
