"""Peaks of memory, on a few lines."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.memory import app, write_real_lines


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


def test_real_lines_are_taken_first_and_halves_make_the_rest(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("a b c d\ne f g\n")
    (tmp_path / "other.txt").write_text("h\n")
    sources = [str(tmp_path / "one.txt"), str(tmp_path / "other.txt")]
    write_real_lines(tmp_path / "few.txt", 2, sources, seed=1)
    assert (tmp_path / "few.txt").read_text() == "a b c d\ne f g\n"
    write_real_lines(tmp_path / "many.txt", 60, sources, seed=1)
    lines = (tmp_path / "many.txt").read_text().splitlines()
    assert lines[:3] == ["a b c d", "e f g", "h"]
    starts, ends = ["a b", "e f", "h"], ["c d", "f g", "h"]
    assert set(lines[3:]) == {f"{start} {end}" for start in starts for end in ends}
