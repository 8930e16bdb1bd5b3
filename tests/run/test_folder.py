from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf import recipe
from nutgraf.errors import RunError
from nutgraf.run.folder import Run, claim
from nutgraf.run.inputs import Inputs, Source, read_source
from nutgraf.run.lock import is_locked

INPUTS = Inputs(Source("t.txt", 10, 200, "aa"), Source("s.txt", 10, 80, "bb"))
RECIPE = recipe.override(recipe.Recipe(), ["plan.iterations=2", "training.clip=1.0", "mu1.eta=auto"])


def keys(changed: recipe.Recipe = RECIPE, inputs: Inputs = INPUTS) -> dict[str, str]:
    run = Run(Path("nowhere"), changed, inputs)
    return run.keys(run.plan())


def test_an_input_is_known_by_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo words\nthree\n")
    (tmp_path / "b.txt").write_text("one\ntwo words\nfour\n")
    a, b = (read_source(str(tmp_path / name), 2) for name in ("a.txt", "b.txt"))
    assert a.digest == b.digest
    assert (a.lines, a.words) == (2, 3)
    assert read_source(str(tmp_path / "a.txt")).digest != a.digest


def test_a_run_reads_back(tmp_path: Path) -> None:
    run = Run.create(tmp_path, RECIPE, INPUTS, (100,))
    assert Run.open(tmp_path) == run


def begun(folder: Path, *names: str) -> None:
    """A run in which these steps are done, or were begun."""
    run = Run.create(folder, RECIPE, INPUTS)
    for name in names:
        run.step_folder(name).mkdir(parents=True)


def test_another_recipe_or_input_is_refused_and_named(tmp_path: Path) -> None:
    begun(tmp_path, "text", "mu1-0", "mu1-1")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(RunError, match=r"training\.clip: 1\.0 there, 2\.0 asked for\nfor which mu1-1 would"):
        Run.create(tmp_path, recipe.override(RECIPE, ["training.clip=2.0"]), INPUTS)
    with pytest.raises(RunError, match="seed"):
        Run.create(tmp_path, replace(RECIPE, seed=9), INPUTS)
    with pytest.raises(RunError, match=r"--texts: t\.txt \(10 lines"):
        Run.create(tmp_path, RECIPE, replace(INPUTS, texts=Source("x.txt", 3, 4, "dd")))
    with pytest.raises(RunError, match="--valid: none there"):
        Run.create(tmp_path, RECIPE, replace(INPUTS, valid=Source("v.tsv", 3, 4, "dd")))
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_settings_of_steps_to_come_may_change(tmp_path: Path) -> None:
    begun(tmp_path, "text", "embeddings", "mu1-0")
    changed = recipe.override(RECIPE, ["training.clip=2.0", "dbae.copy_bias=1.0"])
    assert Run.create(tmp_path, changed, INPUTS).recipe == Run.open(tmp_path).recipe == changed
    with pytest.raises(RunError, match=r"mu1\.steps.*\n.*mu1-0"):
        Run.create(tmp_path, recipe.override(changed, ["mu1.steps=3"]), INPUTS)


def test_what_adds_steps_or_acts_afterwards_may_change(tmp_path: Path) -> None:
    begun(tmp_path, *keys())
    more = recipe.override(RECIPE, ["plan.iterations=4", "decoding.beam=2"])
    aligned = replace(INPUTS, aligned=Source("p.tsv", 3, 4, "dd"))
    Run.create(tmp_path, more, aligned, (2,))
    again = Run.create(tmp_path, replace(more, plan=replace(more.plan, iterations=2)), INPUTS)
    # What was asked for before stays part of the run.
    assert again.recipe.plan.iterations == 4
    assert again.inputs.aligned == aligned.aligned
    assert again.recipe.decoding.beam == 2
    assert again.plan()[-1].name == "all-4+2"


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with claim(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(RunError, match="another process"), claim(tmp_path):
            pass
    assert not is_locked(tmp_path)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunError, match="not empty"), claim(tmp_path):
        pass
    with pytest.raises(RunError, match="a file"), claim(tmp_path / "thesis.tex"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_kill_in_the_first_moment_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    Run.create(tmp_path, RECIPE, INPUTS)
    (tmp_path / "run.json").rename(tmp_path / ".run.json.0123.partial")
    with claim(tmp_path):
        assert Run.create(tmp_path, RECIPE, INPUTS) == Run.open(tmp_path)


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run folder"):
        Run.open(tmp_path)
    with pytest.raises(RunError, match="does not exist"):
        Run.open(tmp_path / "none")
    Run.create(tmp_path, RECIPE, INPUTS)
    (tmp_path / "recipe.toml").rename(tmp_path / "lost.toml")
    with pytest.raises(RunError, match=r"recipe\.toml: missing"):
        Run.open(tmp_path)
    (tmp_path / "lost.toml").rename(tmp_path / "recipe.toml")
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RunError, match="damaged"):
        Run.open(tmp_path)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (Path("/proc/nutgraf"), tmp_path / ("x" * 5_000), tmp_path / "file" / "run"):
        (tmp_path / "file").write_text("")
        with pytest.raises(RunError, match=r"--out .*: cannot be used"), claim(folder):
            pass
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write to a folder without write permission
    with pytest.raises(RunError, match=r"--out .*: cannot be written to"), claim(tmp_path / "run"):
        pass
