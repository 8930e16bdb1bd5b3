"""Windows has no fcntl and no resource, macOS no sched_getaffinity: an export is loaded and summarizes there, too."""

import subprocess
import sys
from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.run.folder import Run
from nutgraf.run.lock import is_locked, lock
from nutgraf.summarizing.export import write

ELSEWHERE = """
import os, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
if hasattr(os, "sched_getaffinity"):
    del os.sched_getaffinity
from nutgraf import Summarizer
print(Summarizer.load(sys.argv[1])(["Profit rose at the bank on Monday, the company said."])[0])
"""


def test_an_export_is_used_where_unix_modules_are_missing(finished: Run, tmp_path: Path) -> None:
    export = write(finished, tmp_path / "export")
    here, elsewhere = (
        subprocess.run([sys.executable, "-c", code, str(export.folder)], capture_output=True, text=True, check=True)
        for code in (
            ELSEWHERE[ELSEWHERE.index("from nutgraf") :].replace("sys.argv", "__import__('sys').argv"),
            ELSEWHERE,
        )
    )
    assert elsewhere.stdout == here.stdout
    assert here.stdout.strip()


def test_training_says_that_it_needs_a_unix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(RunError, match="training needs Linux, macOS or another Unix"), lock(tmp_path):
        pass
    assert not is_locked(tmp_path)
