"""Scores of a whole run."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from nutgraf.errors import InputError, RunError
from nutgraf.evaluation.evaluate import LEADS, compare_systems, evaluate_run
from nutgraf.hardware import Hardware
from nutgraf.progress import Report, ignore
from nutgraf.run.evaluations import Evaluation, evaluations
from nutgraf.run.folder import Choice, Run
from nutgraf.run.inputs import as_files
from nutgraf.summarizing.summarizer import Summarizer
from tests.tiny import Corpus

CPU = Hardware.of("cpu", 1)
PERFECT = "profit won't rise by 12.5 % , chief says ."  # eight words that a perfect summary repeats


def test_a_perfect_summary_scores_100_however_words_are_split_and_digits_mapped(copied: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "dev.2019.tsv"
    pairs.write_text(f"{PERFECT}\t{PERFECT}\n")
    for digits in ("keep", "N"):
        recipe = copied.folder / "recipe.toml"
        recipe.write_text(copied.recipe.to_toml().replace('digits = "keep"', f'digits = "{digits}"'))
        lead = evaluate_run(Run.open(copied.folder), str(pairs), CPU, ["mu1-0"]).rows[len(LEADS) - 1]
        assert (lead.r1.mean, lead.rl.mean) == (100, 100)
    assert (copied.folder / "evaluation" / "dev.2019.json").exists()


def test_a_smaller_evaluation_never_replaces_a_fuller_one(copied: Run, corpus: Corpus, tmp_path: Path) -> None:
    whole = evaluate_run(copied, corpus.pairs, CPU)
    assert [row.name for row in whole.rows] == [*LEADS, *copied.summarizers()]
    # One model alone: its row is new, the others stay.
    again = evaluate_run(copied, corpus.pairs, CPU, ["mu1-2"])
    assert again == whole == evaluations(copied.folder)[0]
    # The first pairs alone, or other pairs in a file of the same name, are an evaluation of their own.
    few = evaluate_run(copied, corpus.pairs, CPU, ["mu1-2"], limit=3)
    (tmp_path / "pairs.tsv").write_text("A text that is other than those.\tOther text\n")
    other = evaluate_run(copied, str(tmp_path / "pairs.tsv"), CPU, ["mu1-2"])
    assert [few.name, other.name] == ["pairs-first-3", f"pairs-{other.source.digest[:8]}"]
    assert {found.name for found in evaluations(copied.folder)} == {"pairs", few.name, other.name}
    assert Evaluation.load(whole.path) == whole


def test_rows_of_models_that_have_changed_do_not_stay(copied: Run, corpus: Corpus) -> None:
    evaluate_run(copied, corpus.pairs, CPU, ["mu1-0", "mu1-2"])
    path = copied.step_folder("mu1-0") / "manifest.json"
    path.write_text(path.read_text().replace('"sha256": "', '"sha256": "0', 1))  # as if it had been trained again
    again = evaluate_run(copied, corpus.pairs, CPU, ["mu1-2"])
    assert [row.name for row in again.rows] == [*LEADS, "mu1-2"]


def test_rows_that_were_decoded_otherwise_do_not_stay(copied: Run, corpus: Corpus) -> None:
    evaluate_run(copied, corpus.pairs, CPU, ["mu1-0", "mu1-2"])
    wider = replace(copied.recipe, decoding=replace(copied.recipe.decoding, beam=3))
    again = evaluate_run(replace(copied, recipe=wider), corpus.pairs, CPU, ["mu1-2"])
    assert [row.name for row in again.rows] == [*LEADS, "mu1-2"]


def test_a_damaged_evaluation_is_written_again(copied: Run, corpus: Corpus) -> None:
    path = evaluate_run(copied, corpus.pairs, CPU, ["mu1-0"]).path
    path.write_text("{")
    found = evaluate_run(copied, corpus.pairs, CPU, ["mu1-0"])
    assert (found.path, [row.name for row in found.rows]) == (path, [*LEADS, "mu1-0"])


def test_an_evaluation_of_an_earlier_version_is_read_and_its_rows_stay(copied: Run, corpus: Corpus) -> None:
    found = evaluate_run(copied, corpus.pairs, CPU, ["mu1-0"])
    table = json.loads(found.path.read_text())
    for row in table["rows"]:
        del row["bits"], row["unsupported"], row["contradicted"]
    found.path.write_text(json.dumps(table))
    (old,) = evaluations(copied.folder)
    assert {(row.bits, row.unsupported, row.contradicted) for row in old.rows} == {(None, None, None)}
    again = {row.name: row for row in evaluate_run(copied, corpus.pairs, CPU, ["mu1-2"]).rows}
    assert again["mu1-0"].unsupported is None
    assert again["mu1-2"].unsupported is not None
    assert again["Lead-8"].unsupported == 0  # it only copies


def test_two_systems_are_compared_by_their_outputs(copied: Run, corpus: Corpus, tmp_path: Path) -> None:
    found = compare_systems(copied, corpus.pairs, ("all-2", "Lead-8"), CPU)
    assert evaluations(copied.folder) == []  # nothing is written
    whole = {row.name: row for row in evaluate_run(copied, corpus.pairs, CPU).rows}
    assert found.rl.by.mean == pytest.approx(whole["all-2"].rl.mean - whole["Lead-8"].rl.mean)
    assert found.pairs == 20
    # Known outputs are not made again.
    seen: list[str] = []

    def watch(name: str) -> Report:
        seen.append(name)
        return ignore

    assert compare_systems(copied, corpus.pairs, ("all-2", "mu1-2"), CPU, watch=watch).pairs == 20
    assert seen == []
    # A summarizer of another run, which is the same here.
    shutil.copytree(copied.folder, tmp_path / "other")
    shutil.rmtree(tmp_path / "other" / "evaluation")
    same = compare_systems(copied, corpus.pairs, ("all-2", f"{tmp_path}/other/all-2"), CPU, limit=5, watch=watch)
    assert (same.rl.by.mean, same.rl.p, same.pairs) == (0, 1, 5)
    assert seen == ["all-2", f"{tmp_path}/other/all-2"]


def test_what_cannot_be_compared_is_an_error(copied: Run, corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no summarizer mu1-8 that is done"):
        compare_systems(copied, corpus.pairs, ("all-2", "mu1-8"), CPU)
    with pytest.raises(RunError, match="nowhere"):
        compare_systems(copied, corpus.pairs, ("all-2", f"{tmp_path}/nowhere/all-2"), CPU)
    shutil.copytree(copied.folder, tmp_path / "other")
    recipe = tmp_path / "other" / "recipe.toml"
    recipe.write_text(copied.recipe.to_toml().replace('digits = "keep"', 'digits = "N"'))
    with pytest.raises(InputError, match=r"text\.digits is 'N' there"):
        compare_systems(copied, corpus.pairs, ("all-2", f"{tmp_path}/other/all-2"), CPU)


def test_the_best_is_the_best_by_evaluation_or_else_the_last_one(copied: Run, corpus: Corpus) -> None:
    best = copied.best()
    assert best is not None
    assert (best.name, best.reason) == ("all-2", "the last one trained; it is not evaluated yet")
    found = evaluate_run(copied, corpus.pairs, CPU, ["mu1-2"])
    assert copied.best() == best  # all-2 has no score to compare
    found = evaluate_run(copied, corpus.pairs, CPU)
    row = max((row for row in found.rows if row.name not in LEADS), key=lambda row: row.mean_rouge)
    best = copied.best()
    assert best is not None
    assert best.name == row.name
    scores = f"{row.r1.mean:.2f}/{row.r2.mean:.2f}/{row.rl.mean:.2f}"
    assert best.reason == f"the highest mean ROUGE, {scores}, on the 20 pairs of pairs"
    assert Summarizer.load(copied.folder).name == row.name
    table = json.loads(found.path.read_text())
    rows = {row["name"]: row for row in table["rows"]}
    for name in set(rows) - {"mu1-2", "all-2"}:
        rows[name] |= {key: {"mean": 1.0, "low": 0.0, "high": 2.0} for key in ("r1", "r2", "rl")}
    for name, means in (("mu1-2", (40.0, 18.0, 37.0)), ("all-2", (40.0, 17.0, 37.5))):  # the mean decides, not R-L
        rows[name] |= {k: {"mean": m, "low": m, "high": m} for k, m in zip(("r1", "r2", "rl"), means, strict=True)}
    found.path.write_text(json.dumps(table))
    assert copied.best() == Choice("mu1-2", "the highest mean ROUGE, 40.00/18.00/37.00, on the 20 pairs of pairs")
    found.path.write_text("{")  # another one must not be taken silently
    with pytest.raises(RunError, match=r"evaluation/pairs\.json: its content cannot be used"):
        copied.best()


def test_a_pipe_can_be_read_more_than_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("a line\n",))
    writer.start()
    with as_files(str(tmp_path / "pipe"), None, str(tmp_path / "file")) as (copy, nothing, file):
        assert copy is not None
        assert [Path(copy).read_text() for _ in range(2)] == ["a line\n"] * 2
        assert (nothing, file) == (None, str(tmp_path / "file"))
    writer.join()
