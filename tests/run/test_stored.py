"""Runs in a store: a real server of S3, on loopback."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from nutgraf.backtranslation.train import Request, run_training
from nutgraf.errors import InputError, RunError
from nutgraf.recipe import override
from nutgraf.run.events import Event
from nutgraf.run.folder import Run
from nutgraf.run.holder import CLAIM, Holder, hold
from nutgraf.run.inputs import Source
from nutgraf.run.stored import use_store
from nutgraf.store import Store
from tests.cli import commands
from tests.cli.commands import Capture
from tests.storing import client, free_port, needs_server, new_bucket, use_s3
from tests.tiny import Corpus, checksums, ended, request

pytestmark = needs_server
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with use_s3():
        yield


@pytest.fixture
def url(server: None) -> str:
    return f"{new_bucket()}/runs/one"


@pytest.fixture(scope="module")
def stored(server: None, corpus: Corpus, finished: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of mu1-0 and what it needs, of the finished run; nothing there must be changed."""
    url, out = f"{new_bucket()}/finished", tmp_path_factory.mktemp("stored") / "run"
    shutil.copytree(finished.folder, out)
    train(replace(request(corpus, out), store=url, only=("mu1-0",)))
    return url


@pytest.fixture
def copy(stored: str, url: str) -> str:
    """The URL of a copy of the stored run, to change."""
    client().copy(f"{stored}/", f"{url}/", recursive=True)
    return url


def train(asked: Request, warnings: list[str] | None = None) -> dict[str, str]:
    """Train; return what became of each step."""
    events: list[Event] = []
    run_training(asked, events.append, (warnings if warnings is not None else []).append)
    return ended(events)


def folders(place: Path) -> tuple[Path, Path]:
    """Two run folders."""
    for name in ("one", "two"):
        (place / name).mkdir()
    return place / "one", place / "two"


def contents(url: str) -> dict[str, bytes]:
    """All objects, by their names."""
    start = len(url.removeprefix("s3://")) + 1
    return {path[start:]: client().cat_file(path) for path in client().find(url)}


def test_one_of_two_claims_wins(url: str, tmp_path: Path) -> None:
    first, second = (Holder(Store(url), folder) for folder in folders(tmp_path))
    first.claim()
    with pytest.raises(RunError, match=r"process \d+ on .+, since .+ UTC, trains with it.* add --take-store"):
        second.claim()
    first.check()
    second.release()  # of what it does not hold
    first.check()
    first.release()
    second.claim()
    second.check()


def test_a_run_that_was_killed_gives_its_claim_to_the_next_one_in_its_folder(url: str, tmp_path: Path) -> None:
    own, other = folders(tmp_path)
    Holder(Store(url), own).claim()  # and never released
    with pytest.raises(RunError, match="trains with it"):
        Holder(Store(url), other).claim()
    following = Holder(Store(url), own)
    following.claim()
    following.check()


def test_a_store_is_released_however_a_run_ends(url: str, tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), hold(Store(url), tmp_path):
        assert Store(url).read(CLAIM)
        raise ZeroDivisionError
    assert Store(url).read(CLAIM) is None


def test_a_claim_whose_answer_was_lost_is_ones_own(url: str, tmp_path: Path) -> None:
    holder = Holder(Store(url), tmp_path)
    Store(url).write(CLAIM, holder._claim)
    holder.claim()
    holder.check()


def test_a_claim_that_cannot_be_read_is_a_claim(url: str, tmp_path: Path) -> None:
    Store(url).write(CLAIM, b"\xff")
    with pytest.raises(RunError, match="a run that left no name trains with it"):
        Holder(Store(url), tmp_path).claim()


def test_a_server_without_conditional_writes_is_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(store: Store, name: str, content: bytes) -> bool:
        store.write(name, content)
        return True

    monkeypatch.setattr(Store, "create", create)
    with pytest.raises(RunError, match="ignores If-None-Match"):
        Holder(Store(url), tmp_path).claim()
    assert Store(url).read(CLAIM) is None


def test_a_run_that_lost_its_store_writes_no_more(url: str, finished: Run, tmp_path: Path) -> None:
    with use_store(url, tmp_path) as first:
        assert first is not None
        with use_store(url, tmp_path, take=True):
            with pytest.raises(RunError, match=r"process \d+ on .* has taken it from this run"):
                first.keep(finished.step_folder("text"))
            assert {*contents(url)} == {CLAIM}


def test_a_lost_machine_loses_nothing_that_was_stored(
    corpus: Corpus, finished: Run, stored: str, tmp_path: Path
) -> None:
    assert CLAIM not in contents(stored)
    before = contents(stored)
    states = train(replace(request(corpus, tmp_path / "run"), store=stored, only=("mu1-0",)))
    assert states == dict.fromkeys(["text", "casing", "embeddings", "mu1-0"], "kept")
    same = {name: digest for name, digest in checksums(finished.folder).items() if name.split("/")[1] in states}
    assert checksums(tmp_path / "run") == same
    assert contents(stored) == before
    names = ("steps/mu1-0/manifest.json", "recipe.toml", "run.json")
    assert [before[name] for name in names] == [(finished.folder / name).read_bytes() for name in names]


def test_only_what_is_needed_is_fetched(corpus: Corpus, stored: str, tmp_path: Path) -> None:
    train(replace(request(corpus, tmp_path / "run"), store=stored, only=("casing",)))
    assert {path.name for path in (tmp_path / "run" / "steps").iterdir()} == {"casing"}


def test_what_a_killed_run_had_begun_gives_way_to_what_is_stored(
    corpus: Corpus, finished: Run, stored: str, tmp_path: Path
) -> None:
    work = tmp_path / "run" / "steps" / "casing" / "work"
    work.mkdir(parents=True)
    (work / "key").write_text("half")
    for name in ("run.json", "recipe.toml"):
        shutil.copy(finished.folder / name, tmp_path / "run")
    assert train(replace(request(corpus, tmp_path / "run"), store=stored, only=("casing",)))["casing"] == "kept"
    assert not work.exists()


def test_a_killed_upload_leaves_nothing_that_counts_as_done(
    corpus: Corpus, finished: Run, url: str, tmp_path: Path
) -> None:
    arguments = [str(corpus.folder), str(tmp_path / "killed"), url, "2"]
    killed = subprocess.run(
        [sys.executable, "-m", "tests.run.killed_upload", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len([name for name in contents(url) if name.startswith("steps/")]) == 2
    assert not [name for name in contents(url) if name.endswith("manifest.json")]
    asked = replace(request(corpus, tmp_path / "new"), store=url, only=("text", "casing"))
    with pytest.raises(RunError, match=r"process \d+ on .* trains with it"):
        train(asked)
    assert train(replace(asked, take_store=True)) == {"text": "done", "casing": "done"}
    same = [name for name in checksums(finished.folder) if name.split("/")[1] in ("text", "casing")]
    assert [contents(url)[name] for name in same] == [(finished.folder / name).read_bytes() for name in same]
    # Where the machine itself is still there, the step is done, and only stored.
    assert train(replace(asked, out=tmp_path / "killed"))["text"] == "kept"


@pytest.mark.parametrize("damage", ["changed", "shortened", "removed", "manifest"])
def test_a_damaged_object_is_named_and_its_step_redone(
    corpus: Corpus, finished: Run, copy: str, damage: str, tmp_path: Path
) -> None:
    name = min(name for name in checksums(finished.folder) if name.startswith("steps/casing/"))
    name = "steps/casing/manifest.json" if damage == "manifest" else name
    content = client().cat_file(f"{copy}/{name}")
    if damage == "removed":
        client().rm_file(f"{copy}/{name}")
    else:
        client().pipe_file(f"{copy}/{name}", content[:-1] + b"!" * (damage == "changed"))
    warnings: list[str] = []
    asked = replace(request(corpus, tmp_path / "run"), store=copy, only=("casing",))
    assert train(asked, warnings) == {"casing": "done"}
    assert [warning for warning in warnings if warning.startswith(f"{copy}/{name}: ")], warnings
    assert checksums(tmp_path / "run").items() <= checksums(finished.folder).items()
    assert train(replace(asked, out=tmp_path / "other")) == {"casing": "kept"}


def test_another_run_in_the_store_is_refused_and_nothing_is_changed(
    corpus: Corpus, stored: str, tmp_path: Path
) -> None:
    before = contents(stored)
    asked = request(corpus, tmp_path / "run", "embeddings.window=3")
    with pytest.raises(RunError, match=rf"--store {stored}: holds another run.*(\n.*)*embeddings\.window.*(\n.*)*"):
        train(replace(asked, store=stored))
    assert contents(stored) == before
    assert not (tmp_path / "run" / "run.json").exists()


def test_what_the_stored_run_has_more_is_kept(copy: str, finished: Run, tmp_path: Path) -> None:
    more = replace(
        finished,
        recipe=override(finished.recipe, ["plan.iterations=4", 'plan.baselines=["hc"]']),
        inputs=replace(finished.inputs, aligned=Source("pairs.tsv", 1, 2, "aa")),
    )
    with use_store(copy, tmp_path) as held:
        assert held is not None
        assert held.join(finished) == finished
        joined = held.join(more)
        assert joined == more
    with use_store(f"{copy}-empty", tmp_path) as held:
        assert held is not None
        assert held.join(finished) == finished


def test_a_damaged_run_in_the_store_is_named(copy: str, finished: Run, tmp_path: Path) -> None:
    table = json.loads(client().cat_file(f"{copy}/run.json"))
    client().pipe_file(f"{copy}/run.json", json.dumps({**table, "aligned_limits": [3]}).encode())
    with use_store(copy, tmp_path) as held:
        assert held is not None
        with pytest.raises(RunError, match=rf"^{copy}/run\.json: damaged.* folder with --store$"):
            held.join(finished)


def test_a_store_that_goes_during_a_run_ends_it_and_the_same_command_resumes(
    corpus: Corpus, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(request(corpus, tmp_path / "run"), store=url, only=("text",))
    send = Store.send

    def send_nowhere(store: Store, path: Path, name: str) -> None:
        if name.startswith("steps/"):
            from s3fs import S3FileSystem

            store._system = S3FileSystem(endpoint_url=f"http://127.0.0.1:{free_port()}")
        send(store, path, name)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "send", send_nowhere)
        with pytest.raises(RunError, match=rf"^step text: {url}/steps/text/\S+: the store cannot be used: Could not"):
            train(asked)
    assert CLAIM in contents(url)
    assert train(asked) == {"text": "kept"}
    assert "steps/text/manifest.json" in contents(url)


def test_a_store_that_is_gone_is_one_line(
    corpus: Corpus, server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    client().clear_instance_cache()
    assert commands.train(corpus, tmp_path / "run", "--store", "s3://bucket/run") == 2
    client().clear_instance_cache()
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("error: s3://bucket/run/claim.json: the store cannot be used: Could not connect")
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_bucket_that_is_not_there_is_one_line(corpus: Corpus, server: None, tmp_path: Path, capsys: Capture) -> None:
    assert commands.train(corpus, tmp_path / "run", "--store", "s3://no-such-bucket/run") == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message == "error: s3://no-such-bucket/run/claim.json: no such object, or no such bucket"


@pytest.mark.parametrize("place", ["s3://bucket", "s3://bucket/", "/folder", "gs://bucket/run", "s3:///run"])
def test_what_is_no_store_is_refused(place: str) -> None:
    with pytest.raises(InputError, match=f"--store {place}: expected s3://BUCKET/FOLDER"):
        Store(place)


def test_there_must_be_a_store_to_take(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--take-store: needs --store"):
        replace(request(corpus, tmp_path), take_store=True)
