"""Controls: models of a finished run trained again from other pairs."""

import json
from pathlib import Path

from typer.testing import CliRunner

from experiments.controls import CONTROLS, MU1, Controls, app
from nutgraf.hardware import Hardware
from nutgraf.run.folder import Run
from tests.tiny import Corpus


def test_a_control_is_trained_once_per_seed_and_its_table_has_the_mean(
    finished: Run, corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    for _ in range(2):  # what is there stays
        result = CliRunner().invoke(
            app, ["train", str(finished.folder), corpus.pairs, str(out), "mu1", "--seeds", "2", "--threads", "1"]
        )
        assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["name"], line["seed"]) for line in lines] == [("mu1", 1), ("mu1", 2)]
    assert len((tmp_path / "out" / "mu1-1.txt").read_text().splitlines()) == 20
    row = CliRunner().invoke(app, ["table", str(out)]).output.splitlines()[-1]
    assert f"| {(lines[0]['rl'] + lines[1]['rl']) / 2:.1f} |" in row


def test_the_pairs_of_controls_are_those_of_the_run(with_near: Run) -> None:
    controls = Controls(with_near, Hardware.of("cpu", 1))
    sizes = {name: len(CONTROLS[name].pairs(controls).sources) for name in ("mu1", "mixed")}
    assert sizes["mu1"] == len(controls.of_step("mu1-2").sources)
    assert sizes["mixed"] == len(controls.of_step("mixed-2").sources)
    assert len(controls.artificial([MU1], 1.0).sources) < sizes["mu1"]
    assert len(CONTROLS["mu1-more"].pairs(controls).sources) > sizes["mu1"]
