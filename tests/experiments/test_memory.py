"""Peaks of memory, on a few lines."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.memory import app


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system has no such file")
def test_each_step_has_a_row_and_lines_that_are_there_stay(tmp_path: Path) -> None:
    steps = ["text", "casing", "embeddings", "mu1-0", "mu1-0.pairs", "mu1-1", "mu1-1.pairs", "mu1-2"]
    tiny = ["--lines", "300", "--set", "mu1.steps=2 training.expander_steps=2 training.summarizer_steps=2"]
    result = CliRunner().invoke(app, [str(tmp_path), *tiny])
    assert result.exit_code == 0, result.output
    rows = re.findall(r"^\| ([\w.-]+) \| ([\d,]+) \|", result.output, re.MULTILINE)
    assert [name for name, _ in rows] == steps
    assert all(50 < int(peak.replace(",", "")) < 50_000 for _, peak in rows)
    written = [(tmp_path / f"{side}.txt").read_bytes() for side in ("texts", "summaries")]
    assert [content.count(b"\n") for content in written] == [300, 300]
    assert CliRunner().invoke(app, [str(tmp_path), *tiny]).exit_code == 0
    assert [(tmp_path / f"{side}.txt").read_bytes() for side in ("texts", "summaries")] == written
