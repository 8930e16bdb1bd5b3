import os
import subprocess
import sys

import pytest

from experiments.cluster import Process, Turns, cpu_seconds, descendants, processes, ratios, show, take_turns


def test_the_processes_that_come_from_one() -> None:
    known = {pid: Process(parent, 0.0) for pid, parent in {1: 0, 5: 1, 6: 5, 7: 6, 8: 1}.items()}
    assert descendants(known, 5) == {6, 7}
    assert descendants(known, 7) == set()


def test_the_time_of_children_counts_while_they_run_and_when_they_have_ended() -> None:
    before = cpu_seconds()
    work = (
        "import time; start = time.process_time()\nwhile time.process_time() < start + 0.3: pass\nprint(flush=True); "
    )
    child = subprocess.Popen([sys.executable, "-c", work + "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    assert processes()[child.pid].parent == os.getpid()
    assert cpu_seconds() >= before + 0.3
    child.communicate(b"\n")
    assert cpu_seconds() >= before + 0.3


def test_ways_take_turns_and_are_compared_round_by_round(capsys: pytest.CaptureFixture[str]) -> None:
    called = []

    def way(name: str, seconds: float) -> float:
        called.append(name)
        return seconds

    found = take_turns({"alone": lambda: way("alone", 4.0), "two": lambda: way("two", 2.5)}, 2)
    assert called == ["alone", "two"] * 2
    assert found["two"].seconds == [2.5, 2.5]
    assert ratios([4, 6], [2, 2]) == "2.50 (2.00-3.00)"
    show("generation", {"alone": Turns([4, 4], [4, 4]), "two": Turns([2, 2.5], [4.2, 4.2])}, 100, "sentences")
    assert capsys.readouterr().out.splitlines() == [
        "generation, alone: 25 sentences/s, 4.0 CPU s",
        "generation, two: 44 sentences/s, 4.2 CPU s; 1.80 (1.60-2.00) x alone, CPU 1.05 (1.05-1.05) x",
    ]
