"""Exports in a store, on a real server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nutgraf.errors import InputError, RunError
from nutgraf.run import stored
from nutgraf.run.folder import Run
from nutgraf.summarizing import export, fetching
from nutgraf.summarizing.summarizer import Summarizer
from tests.cli.commands import Capture, run
from tests.storing import client, needs_server, new_bucket, use_s3

pytestmark = needs_server
TEXTS = ["Shares of Ford fell 4 percent on Monday .", "The company said profit rose ."]


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with use_s3():
        yield


@pytest.fixture(scope="module")
def exported(finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export.write(finished, tmp_path_factory.mktemp("export") / "model", ["mu1-2", "all-2"]).folder


@pytest.fixture
def url(server: None, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An export in a bucket of its own, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"{new_bucket()}/model"
    client().put(f"{exported}/", f"{url}/", recursive=True)
    return url


def cached(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "nutgraf" / "exports").iterdir())


def test_an_export_in_a_store_summarizes_as_the_folder_does(
    url: str, exported: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert Summarizer.load(url)(TEXTS) == Summarizer.load(exported)(TEXTS)
    for name in ("mu1-2", "all-2"):
        assert Summarizer.load(f"{url}/{name}").name == name
        assert run("summarize", *TEXTS, "--model", exported / name, "--threads", "1") == 0
        here = capsys.readouterr().out
        assert run("summarize", *TEXTS, "--model", f"{url}/{name}", "--threads", "1") == 0
        assert capsys.readouterr().out == here
    (folder,) = cached(tmp_path)
    there = {path.relative_to(exported): path.read_bytes() for path in exported.rglob("*") if path.is_file()}
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == there


def test_it_is_fetched_once_and_again_if_it_has_changed_or_the_cache_is_damaged(
    url: str, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []
    fetch_file = stored.fetch_file

    def count_fetched(*given: object) -> None:
        fetched.append(given[1])
        fetch_file(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(fetching, "fetch_file", count_fetched)
    folder = fetching.fetch_export(url)
    count = len(fetched)
    assert count > 5
    assert fetching.fetch_export(f"{url}/") == folder
    assert len(fetched) == count
    (folder / "lexicon.txt").write_text("other words")
    assert fetching.fetch_export(url) == folder
    assert len(fetched) == 2 * count
    assert "other words" not in (folder / "lexicon.txt").read_text()
    client().rm(url, recursive=True)
    client().put(f"{export.write(finished, tmp_path / 'new', ['mu1-2']).folder}/", f"{url}/", recursive=True)
    other = fetching.fetch_export(url)
    assert other != folder
    assert Summarizer.load(other).name == "mu1-2"


def test_a_process_that_was_faster_has_fetched_it(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch_file = stored.fetch_file

    def fetch_late(*given: object) -> None:
        monkeypatch.setattr(fetching, "fetch_file", fetch_file)
        fetching.fetch_export(url)
        fetch_file(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(fetching, "fetch_file", fetch_late)
    assert [fetching.fetch_export(url)] == cached(tmp_path)


def test_a_damaged_object_is_named_and_nothing_is_kept(url: str, tmp_path: Path) -> None:
    content = client().cat_file(f"{url}/lexicon.txt")
    client().pipe_file(f"{url}/lexicon.txt", content[:-2] + b"x\n")
    with pytest.raises(RunError, match=f"^{url}/lexicon.txt: damaged, its checksum"):
        Summarizer.load(url)
    client().rm_file(f"{url}/lexicon.txt")
    with pytest.raises(RunError, match=f"^{url}/lexicon.txt: missing"):
        Summarizer.load(url)
    client().pipe_file(f"{url}/manifest.json", b"{")
    with pytest.raises(RunError, match=f"^{url}/manifest.json: damaged"):
        Summarizer.load(url)
    assert cached(tmp_path) == []


def test_what_is_no_export_is_explained(url: str, finished: Run, capsys: Capture) -> None:
    bucket = url.rpartition("/")[0]
    for name in ("run.json", "recipe.toml"):
        client().put_file(str(finished.folder / name), f"{bucket}/run/{name}")
    client().put_file(str(finished.folder / "steps/text/manifest.json"), f"{bucket}/step/manifest.json")
    for place, error, message in (
        (f"{bucket}/run", RunError, "a run. Only exports are fetched"),
        (f"{bucket}/step", RunError, "no export is there: its manifest has no export.json"),
        (f"{bucket}/none", RunError, "no export is there: manifest.json is missing"),
        (f"{url}/mu1-1", RunError, "no summarizer mu1-1 that is done. There are: mu1-2, all-2"),
        (bucket, InputError, "expected s3://BUCKET/FOLDER"),
        ("gs://bucket/model", InputError, "--model gs://bucket/model: expected s3://BUCKET/FOLDER"),
    ):
        with pytest.raises(error, match=message):
            Summarizer.load(place)
    assert run("summarize", "-", "--model", url, "--cluster", "ray") == 2
    assert f"--model {url}: with --cluster, expected a folder" in capsys.readouterr().err
