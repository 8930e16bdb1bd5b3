"""Scores of a whole run."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

from nutgraf.backtranslation.hardware import Hardware
from nutgraf.backtranslation.inputs import spooled
from nutgraf.backtranslation.run import Run
from nutgraf.tables import LEADS, evaluate_run

CPU = Hardware.of("cpu", 1)
PERFECT = "profit won't rise by 12.5 % , chief says ."  # eight words that a perfect summary repeats


def test_a_perfect_summary_scores_100_however_words_are_split_and_digits_mapped(copied: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "dev.2019.tsv"
    pairs.write_text(f"{PERFECT}\t{PERFECT}\n")
    for digits in ("keep", "N"):
        recipe = copied.folder / "recipe.toml"
        recipe.write_text(recipe.read_text().replace('digits = "keep"', f'digits = "{digits}"'))
        lead = evaluate_run(Run.open(copied.folder), str(pairs), CPU, ["mu1-0"])[len(LEADS) - 1]
        assert (lead.r1.mean, lead.rl.mean) == (100, 100)
    assert (copied.folder / "evaluation" / "dev.2019.json").exists()


def test_a_pipe_can_be_read_more_than_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("a line\n",))
    writer.start()
    with spooled(str(tmp_path / "pipe"), None, str(tmp_path / "file")) as (copy, nothing, file):
        assert copy is not None
        assert [Path(copy).read_text() for _ in range(2)] == ["a line\n"] * 2
        assert (nothing, file) == (None, str(tmp_path / "file"))
    writer.join()
