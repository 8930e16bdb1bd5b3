"""How much memory a process takes at most for millions of sentences; memory-mapped files count, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")


def join(count: int, folder: Path) -> tuple[int, float]:
    """Return how many pairs were joined, and the megabytes that it took."""
    folder.mkdir()
    program = [sys.executable, "-m", "tests.backtranslation.joining", str(count), str(folder)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pairs, kilobytes = map(int, done.stdout.split())
    return pairs, kilobytes / 1024


@pytest.mark.slow
def test_ten_million_sentences_are_joined_in_less_than_two_gigabytes(tmp_path: Path) -> None:
    pairs, megabytes = join(10_000_000, tmp_path / "many")
    assert pairs == 15_000_000
    assert megabytes < 2_000
