"""The campaign with a fixed seed, as short as it can be; `make campaign` runs it for as long as you like."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from tools.campaign import __main__ as campaign_main
from tools.campaign.mutations import change_json, damage
from tools.campaign.stage import Stage, live, wait
from tools.campaign.system_calls import KINDS, can_fail, fail_from_now_on

ROOT = Path(__file__).parents[2]


def campaign(*options: str, seed: int = 15) -> str:
    found = subprocess.run(
        [sys.executable, "-m", "tools.campaign", "--seed", str(seed), *options],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_killed_runs_end_with_the_same_bytes() -> None:
    # Three short lives, and a second process beside the fourth: nothing hangs on which of the two is faster.
    figures = campaign("--only", "kills", "--rounds", "1", seed=13)
    assert figures.startswith("seed 13, commit ")
    assert "kills: 1 runs that ended with the same bytes" in figures
    assert re.search(r"kills: [1-9]\d* lives ended by SIG", figures)


def test_readers_refuse_what_they_cannot_use() -> None:
    figures = campaign("--only", "readers", "--rounds", "162")
    assert "readers: 18 fuzzed weights" in figures
    assert figures.endswith("nothing failed\n")


def test_runs_with_too_little_memory_end_with_the_same_bytes() -> None:
    figures = campaign("--only", "memory", "--rounds", "1")
    assert re.search(r"memory: [1-9]\d* lives with too little memory\n", figures)
    assert figures.endswith("nothing failed\n")


def test_runs_on_disks_that_are_full_or_fail_end_with_the_same_bytes() -> None:
    figures = campaign("--only", "disks", "--rounds", "1")
    for what in ("full disk", "failing system call"):
        assert re.search(rf"disks: [1-9]\d* lives with a {what}\n", figures)
    assert "disks: 1 folders that may only be read\n" in figures
    assert "disks: 2 runs that ended with the same bytes\n" in figures
    assert figures.endswith("nothing failed\n")


@pytest.mark.skipif(not can_fail(), reason="needs Linux on x86-64 or ARM")
@pytest.mark.parametrize("kind", KINDS)
def test_a_system_call_fails_for_python_and_for_libraries(kind: str, tmp_path: Path) -> None:
    def work() -> None:
        with (tmp_path / "file").open("wb") as file:
            fail_from_now_on(kind, errno.EDQUOT)
            actions: dict[str, list[Callable[[], object]]] = {
                "writes": [
                    lambda: os.write(file.fileno(), b"x"),
                    lambda: save_file({"a": np.zeros(3)}, tmp_path / "a"),
                    lambda: np.save(tmp_path / "b.npy", np.zeros(9_999)),
                ],
                "flushes": [lambda: os.fsync(file.fileno())],
            }
            for action in actions[kind]:
                try:
                    action()
                except (OSError, SafetensorError) as error:
                    print(error)

    log = tmp_path / "log"
    assert wait(live(work, log)) == 0
    assert log.read_text().count("Disk quota exceeded") == (3 if kind == "writes" else 1)


def test_a_life_hears_ctrl_c_where_the_campaign_does_not(tmp_path: Path) -> None:
    started, before = tmp_path / "started", signal.signal(signal.SIGINT, signal.SIG_IGN)  # as with `nohup ... &`

    def work() -> None:
        started.touch()
        time.sleep(20)

    try:
        child = live(work, tmp_path / "log")
        while not started.exists():
            time.sleep(0.01)
        os.kill(child, signal.SIGINT)
        assert wait(child) == 130
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_stage_stops_after_its_rounds_or_its_time(tmp_path: Path) -> None:
    assert [Stage(tmp_path, Random(1), 0, rounds=2).goes_on(done) for done in range(3)] == [True, True, False]
    assert [Stage(tmp_path, Random(1), 0).goes_on(done) for done in range(2)] == [True, False]
    stage = Stage(tmp_path, Random(1), 0)
    stage.fail("no")
    assert (stage.counts["FAILED"], stage.failures) == (1, ["no"])


def test_time_that_a_part_leaves_over_goes_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, float] = {}
    now, takes = 100.0, {"server": 10.0, "readers": 40.0, "disks": 50.0}

    def run(name: str, seed: int, seconds: float, rounds: int) -> bool:
        nonlocal now
        given[name] = seconds
        now += takes[name]
        return name != "server"

    monkeypatch.setattr(campaign_main, "run_part", run)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    assert not campaign_main.run_lane({"server": 0.5, "readers": 0.25, "disks": 0.25}, 1, 100.0)
    assert given == {"server": 50.0, "readers": 45.0, "disks": 50.0}  # of 100, of 90, of 50 seconds


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_damage_and_the_same_for_a_seed(seed: int) -> None:
    content = b'{"a": [1, 2, {"b": "c"}], "d": null}'
    assert damage(content, Random(seed)) == damage(content, Random(seed))
    assert change_json(content, Random(seed)) == change_json(content, Random(seed))
    assert len({change_json(content, Random(one)) for one in range(50)}) > 25
