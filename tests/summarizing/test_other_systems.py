"""Windows has no fcntl and no resource, macOS no sched_getaffinity: an export is loaded and summarizes there, too."""

import subprocess
import sys
from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.run.folder import Run
from nutgraf.run.lock import is_locked, lock
from nutgraf.summarizing.export import write
from nutgraf.summarizing.summarizer import Summarizer

ELSEWHERE = """
import os, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
if hasattr(os, "sched_getaffinity"):
    del os.sched_getaffinity
from nutgraf import Summarizer
print(Summarizer.load(sys.argv[1])([sys.argv[2]])[0])
"""
TEXT = "Profit rose at the bank on Monday, the company said."


def test_an_export_is_used_where_unix_modules_are_missing(finished: Run, tmp_path: Path) -> None:
    export = write(finished, tmp_path / "export")
    here = Summarizer.load(export.folder)(TEXT)
    command = [sys.executable, "-c", ELSEWHERE, str(export.folder), TEXT]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{here}\n"
    assert here


def test_training_says_that_it_needs_a_unix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(RunError, match="training needs Linux, macOS or another Unix"), lock(tmp_path):
        pass
    assert not is_locked(tmp_path)
