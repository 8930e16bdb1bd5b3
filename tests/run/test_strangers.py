"""A run folder or an export that comes from a stranger: nothing outside it is touched, and what is wrong is named."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nutgraf import cli
from nutgraf.errors import RunError
from nutgraf.run.evaluations import Evaluation
from nutgraf.run.folder import Run
from nutgraf.run.inputs import Source
from nutgraf.summarizing.export import Export, write
from tests.tiny import Corpus, sign, train_tiny

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's with one file."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    return tmp_path / "mine"


def untouched(outside: Path) -> bool:
    return {path.name: path.read_text() for path in outside.iterdir()} == {"thesis.tex": "years of work"}


def names_in(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(argument) for argument in arguments])
    return int(stopped.value.code or 0)


def train(corpus: Corpus, out: Path) -> int:
    files = ("--texts", corpus.texts, "--summaries", corpus.summaries, "--recipe", corpus.recipe)
    return run("train", *files, "--out", out, "--threads", "1")


def link_step(folder: Path, outside: Path) -> str:
    shutil.rmtree(folder / "steps" / "mu1-2")
    (folder / "steps" / "mu1-2").symlink_to(outside)
    return "steps/mu1-2"


def link_work(folder: Path, outside: Path) -> str:
    (folder / "steps" / "mu1-2" / "manifest.json").unlink()
    (folder / "steps" / "mu1-2" / "work").symlink_to(outside)
    return "steps/mu1-2/work"


def link_steps(folder: Path, outside: Path) -> str:
    shutil.rmtree(folder / "steps")
    (folder / "steps").symlink_to(outside)
    return "steps"


def link_report(folder: Path, outside: Path) -> str:
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(outside / "thesis.tex")
    return "report.html"


def link_progress(folder: Path, outside: Path) -> str:
    (folder / "progress.json").symlink_to(outside / "thesis.tex")
    return "progress.json"


def link_lock(folder: Path, outside: Path) -> str:
    (folder / ".lock").unlink()
    (folder / ".lock").symlink_to(outside / "new")
    return ".lock"


def pipe_lock(folder: Path, outside: Path) -> str:
    (folder / ".lock").unlink()
    os.mkfifo(folder / ".lock")
    return ".lock"


def link_run(folder: Path, outside: Path) -> str:
    (folder / "run.json").rename(folder / "real.json")
    (folder / "run.json").symlink_to(folder / "real.json")
    return "run.json"


@pytest.mark.parametrize(
    "damage",
    [link_step, link_work, link_steps, link_report, link_progress, link_lock, pipe_lock, link_run],
    ids=lambda damage: damage.__name__,
)
def test_training_in_a_folder_with_links_is_refused_by_name(
    corpus: Corpus, copied: Run, outside: Path, capsys: Capture, damage: Callable[[Path, Path], str]
) -> None:
    name = damage(copied.folder, outside)
    before = names_in(copied.folder)
    assert train(corpus, copied.folder) == 2
    assert f"{copied.folder / name}: a " in capsys.readouterr().err
    assert untouched(outside)
    assert names_in(copied.folder) == before


def test_links_are_refused_before_the_folder_is_locked(corpus: Corpus, copied: Run, outside: Path) -> None:
    link_progress(copied.folder, outside)
    (copied.folder / ".lock").unlink()
    before = names_in(copied.folder)
    assert train(corpus, copied.folder) == 2
    assert names_in(copied.folder) == before


def test_temporary_files_that_are_links_are_not_written_through(corpus: Corpus, copied: Run, outside: Path) -> None:
    for name in (".report.html.partial", ".run.json.partial", ".recipe.toml.partial"):
        (copied.folder / name).symlink_to(outside / "thesis.tex")
    (copied.step_folder("mu1-2") / "manifest.json").unlink()
    (copied.step_folder("mu1-2") / ".manifest.json.partial").write_text("")
    train_tiny(corpus, copied.folder, "plan.iterations=2", "decoding.beam=1")
    assert untouched(outside)


@pytest.mark.parametrize(
    "name", ["evaluation", "evaluation/pairs", "evaluation/pairs/Lead-8.txt", "evaluation/pairs.json"]
)
def test_evaluations_that_are_links_are_not_written_through(
    corpus: Corpus, copied: Run, outside: Path, capsys: Capture, name: str
) -> None:
    path = copied.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / "thesis.tex" if path.suffix else outside)
    evaluate = ("evaluate", copied.folder, "--pairs", corpus.pairs, "--models", "mu1-0", "--threads", "1")
    assert run(*evaluate) == 2
    assert f"{path}: a symbolic link" in capsys.readouterr().err
    assert untouched(outside)


def test_a_hard_link_is_not_written_through(corpus: Corpus, copied: Run, outside: Path) -> None:
    folder = copied.folder / "evaluation" / "pairs"
    folder.mkdir(parents=True)
    os.link(outside / "thesis.tex", folder / "Lead-8.txt")
    evaluate = ("evaluate", copied.folder, "--pairs", corpus.pairs, "--models", "mu1-0", "--threads", "1")
    assert run(*evaluate) == 0
    assert untouched(outside)


@pytest.mark.parametrize("name", ["run.json", "recipe.toml", "steps/mu1-2/manifest.json", "steps/mu1-2/model.json"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(copied: Run, capsys: Capture, name: str) -> None:
    (copied.folder / name).unlink()
    os.mkfifo(copied.folder / name)
    assert run("summarize", "Profit fell on monday .", "--model", copied.folder / "mu1-2") == 2
    assert f"{copied.folder / name}: a named pipe" in capsys.readouterr().err


def test_names_in_a_manifest_stay_inside_the_folder(copied: Run, outside: Path) -> None:
    path = copied.step_folder("mu1-2") / "manifest.json"
    table = json.loads(path.read_text())
    digest = hashlib.sha256(b"years of work").hexdigest()
    for name in ("../../../mine/thesis.tex", str(outside / "thesis.tex"), "a\x1b[2J", ""):
        path.write_text(json.dumps(table | {"files": {name: {"size": 13, "sha256": digest}}}))
        with pytest.raises(RunError, match=r"manifest\.json: damaged"):
            copied.intact("mu1-2")


def test_an_evaluation_of_a_pipe_is_not_waited_for(copied: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    source = Source(str(tmp_path / "pipe.tsv"), 1, 1, "digest")
    assert Evaluation(copied.folder / "evaluation" / "pipe.json", source, (), {}).pairs() == []


@pytest.fixture
def exported(finished: Run, tmp_path: Path) -> Path:
    write(finished, tmp_path / "export")
    return tmp_path / "export"


@pytest.mark.parametrize("name", ["all-2/model.json", "all-2", "manifest.json"])
def test_an_export_with_links_is_refused_by_name(exported: Path, outside: Path, name: str) -> None:
    path = exported / name
    path.rename(outside / path.name)
    path.symlink_to(outside / path.name)
    with pytest.raises(RunError, match=rf"{re.escape(name)}: a symbolic link"):
        Export.open(exported)


@pytest.mark.parametrize(
    "names", [["../mine"], ["all-2\nnutgraf_up 1"], ["all-2", "\x1b[2J"], ["all-1"], [], [2], "all-2"]
)
def test_names_in_an_export_are_those_of_its_summarizers(exported: Path, names: object) -> None:
    table = json.loads((exported / "export.json").read_text())
    (exported / "export.json").write_text(json.dumps(table | {"models": names}))
    sign(exported)
    with pytest.raises(RunError, match=r"export"):
        Export.open(exported)


@pytest.mark.parametrize("default", [{"name": "mu1-2", "reason": "x"}, {"name": "all-2", "reason": "a\x1b[2Jb"}, {}, 3])
def test_the_default_of_an_export_is_one_of_its_summarizers(exported: Path, default: object) -> None:
    table = json.loads((exported / "export.json").read_text())
    (exported / "export.json").write_text(json.dumps(table | {"default": default}))
    sign(exported)
    with pytest.raises(RunError, match=r"export"):
        Export.open(exported)
