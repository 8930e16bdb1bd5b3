from __future__ import annotations

from pathlib import Path

import pytest

from nutgraf.errors import RunError
from nutgraf.run.folder import Run
from nutgraf.summarizing import ready
from nutgraf.summarizing.export import write
from nutgraf.summarizing.ready import find_model, list_models, list_ready
from nutgraf.summarizing.summarizer import Summarizer

TEXT = "Profit at the bank fell 5 percent on Monday, the company said."


@pytest.fixture
def package(finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of ready models, with two exports; the working folder is an empty one."""
    folder = tmp_path / "package"
    for name in ("news", "debian"):
        write(finished, folder / name, ["mu1-2", "all-2"])
    monkeypatch.setattr(ready, "READY", folder)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder


def test_the_ready_model_is_loaded_by_its_name_or_without_any(package: Path) -> None:
    expected = Summarizer.load(package / "news", "all-2")(TEXT)
    assert Summarizer.load()(TEXT) == Summarizer.load("news")(TEXT) == expected
    assert Summarizer.load("debian", "mu1-2").name == Summarizer.load("news/mu1-2").name == "mu1-2"
    assert list_ready() == ["news", "debian"]


@pytest.mark.usefixtures("package")
def test_a_folder_goes_before_a_name(finished: Run, tmp_path: Path) -> None:
    Path("news").mkdir()
    assert find_model("news").parent.name == "package"  # no run
    Path("news").rmdir()
    write(finished, Path("news"), ["mu1-2"])
    assert find_model("news") == Path("news")
    assert Summarizer.load("news/mu1-2").name == "mu1-2"
    assert find_model(tmp_path / "anything" / "else") == tmp_path / "anything" / "else"


def test_a_run_may_be_the_working_folder(finished: Run, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished.folder)
    assert Summarizer.load("mu1-2").name == "mu1-2"
    assert find_model("news") == package / "news"


def test_without_a_ready_model_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "READY", tmp_path / "none")
    with pytest.raises(RunError, match=r"no model was named.*--model run/.*Summarizer\.load.*nutgraf train"):
        Summarizer.load()
    with pytest.raises(RunError, match=r"sports: no such folder, and no model of that name.*nutgraf: none"):
        Summarizer.load("sports")


def test_an_unknown_name_is_told_the_known_ones(package: Path) -> None:
    with pytest.raises(RunError, match=r"sports: no such folder.*nutgraf: news, debian"):
        find_model("sports")


@pytest.mark.usefixtures("package")
def test_models_are_listed(finished: Run, copied: Run, tmp_path: Path) -> None:
    found = list_models(tmp_path)
    assert [(one.name, one.kind) for one in found] == [
        ("news", "ready"),
        ("debian", "ready"),
        (str(copied.folder), "run"),
    ]
    assert found[0].summarizers == ("mu1-2", "all-2")
    assert (found[0].default, found[0].note) == ("all-2", "the last one trained; it is not evaluated yet")
    assert found[2].summarizers == tuple(finished.summarizers())
    assert list_models(copied.folder) == found  # the run itself
    assert [one.name for one in list_models(Path())] == ["news", "debian"]
    (copied.folder / "run.json").write_text("{}")
    damaged = list_models(tmp_path)[2]
    assert (damaged.summarizers, damaged.default) == ((), "")
    assert "damaged" in damaged.note
    with pytest.raises(RunError, match="no such folder"):
        list_models(tmp_path / "none")
