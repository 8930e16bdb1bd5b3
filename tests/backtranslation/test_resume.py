import os
import subprocess
import sys
from pathlib import Path

from nutgraf.run.folder import Run
from tests.tiny import Corpus, checksums

ROOT = Path(__file__).parents[2]


def test_killed_at_any_moment_a_run_ends_with_the_same_bytes(corpus: Corpus, with_near: Run, tmp_path: Path) -> None:
    out = tmp_path / "run"
    killer = subprocess.run(
        [sys.executable, "-m", "tests.backtranslation.killed", str(corpus.folder), str(out)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert killer.returncode == 0, killer.stderr
    assert checksums(out) == checksums(with_near.folder)
