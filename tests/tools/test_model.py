"""`make model`, on a tiny corpus with a tiny recipe."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nutgraf.summarizing.export import Export
from tests.tiny import Corpus

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_it_trains_exports_and_does_not_train_twice(corpus: Corpus, tmp_path: Path) -> None:
    for name in ("texts", "summaries"):
        packed = lzma.compress((corpus.folder / f"{name}.txt").read_bytes())
        (tmp_path / f"{name}.txt.xz").write_bytes(packed)
    shutil.copy(corpus.pairs, tmp_path / "valid.tsv")
    recipe = Path(corpus.recipe).read_text().replace("[plan]", '[plan]\ninitializers = ["mu1", "near"]\nagreed = true')
    (tmp_path / "tiny.toml").write_text(recipe)
    model, run = tmp_path / "ready" / "news", tmp_path / "run"
    command = [
        "make", "-o", ".venv/ready", "model", f"BIN={Path(sys.executable).parent}", f"OPEN={tmp_path}",
        f"MODEL_RUN={run}", f"MODEL={model}", f"MODEL_OPTIONS=--recipe {tmp_path}/tiny.toml --threads 1",
    ]  # fmt: skip
    for times in (1, 2):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("done before" in done.stderr) == (times == 2)
        assert Export.open(model).summarizers() == ["agreed-2"]
        assert '"int8"' in (model / "export.json").read_text()
    assert not run.with_suffix(".export").exists()
