"""A small soak; the large one is part of the campaign."""

from __future__ import annotations

import pytest

from nutgraf.run.folder import Run
from tools.campaign.server import OPTIONS, expect, soak


def test_a_small_soak_finds_nothing_wrong(finished: Run) -> None:
    found = soak(finished.folder, requests=80, seed=3, clients=4, seconds=120)
    assert (found.seed, found.requests, found.wrong) == (3, 80, 0)
    assert 0 < found.hung_up < 40
    assert 0 < found.damaged < 40
    assert found.descriptors_left <= 0
    assert found.memory_growth < 50e6
    assert 0 < found.latency_p50 <= found.latency_p99 < 30


def test_a_wrong_answer_is_found(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tools.campaign.server.expect", lambda model, texts: dict.fromkeys(expect(model, texts), "other")
    )
    found = soak(finished.folder, requests=10, seed=3, clients=2, seconds=120)
    assert found.wrong > 3
    assert len(OPTIONS) > 1
