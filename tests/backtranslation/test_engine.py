import errno
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier, active_count

import pytest
import torch

from nutgraf.backtranslation.steps import Steps, Task
from nutgraf.backtranslation.train import run_training
from nutgraf.errors import InputError, RunError
from nutgraf.progress import Progress, ignore
from nutgraf.run.events import Event, Listener, State
from nutgraf.run.folder import Run
from tests.tiny import Corpus, checksums, ended, request, train_tiny


def test_every_step_of_the_plan_is_done(finished: Run) -> None:
    assert [step.name for step in finished.plan() if finished.finished(step.name) is None] == []
    assert finished.summarizers() == ["pr-thr-0", "dbae-0", "mu1-0", "pr-thr-2", "dbae-2", "mu1-2", "all-2"]
    assert not list(finished.folder.glob("steps/*/work"))


def test_every_manifest_has_the_number_of_threads(finished: Run) -> None:
    records = [finished.finished(step.name) for step in finished.plan()]
    assert {(record.threads, record.device) for record in records if record} == {(1, "cpu")}


def test_the_same_call_again_does_nothing(corpus: Corpus, copied: Run) -> None:
    events: list[Event] = []
    train_tiny(corpus, copied.folder, listener=events.append)
    assert set(ended(events).values()) == {"kept"}
    assert len(ended(events)) == len(copied.plan())


def test_work_that_a_kill_left_beside_a_manifest_is_removed(corpus: Corpus, copied: Run) -> None:
    before = checksums(copied.folder)
    work = copied.step_folder("mu1-1.pairs") / "work"
    work.mkdir()
    (work / "seconds").write_text("5.0")
    events: list[Event] = []
    train_tiny(corpus, copied.folder, listener=events.append)
    assert not work.exists()
    assert set(ended(events).values()) == {"kept"}
    assert checksums(copied.folder) == before


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "manifest"])
def test_damage_is_named_and_only_that_step_is_redone(corpus: Corpus, copied: Run, damage: str) -> None:
    before = checksums(copied.folder)
    path = copied.step_folder("mu1-1.pairs") / ("manifest.json" if damage == "manifest" else "artificial.tokens.npy")
    if damage == "flip":
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    elif damage == "truncate":
        os.truncate(path, path.stat().st_size - 8)
    elif damage == "remove":
        path.unlink()
    else:
        path.write_text("{")
    with pytest.raises(RunError, match=path.name):
        copied.intact("mu1-1.pairs")
    events: list[Event] = []
    train_tiny(corpus, copied.folder, listener=events.append)
    assert {name for name, state in ended(events).items() if state == "done"} == {"mu1-1.pairs"}
    assert [path.name in event.note for event in events if event.state is State.REDONE] == [True]
    assert checksums(copied.folder) == before


def test_what_depends_on_a_step_that_came_out_differently_is_redone(corpus: Corpus, copied: Run) -> None:
    # As if mu1-1 had been trained from other pairs than those that are there now.
    path = copied.step_folder("mu1-1") / "manifest.json"
    record = json.loads(path.read_text())
    record["inputs"]["mu1-0.pairs"] = "other"
    path.write_text(json.dumps(record))
    events: list[Event] = []
    train_tiny(corpus, copied.folder, listener=events.append)
    assert {name for name, state in ended(events).items() if state == "done"} == {"mu1-1"}
    assert "differently" in next(event.note for event in events if event.state is State.REDONE)


def test_a_full_disk_is_explained_and_what_is_done_stays(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, error = Steps.make, OSError(errno.ENOSPC, "No space left on device")

    def full(self: Steps, task: Task) -> None:
        if task.step.name == "embeddings":
            raise error
        make(self, task)

    monkeypatch.setattr(Steps, "make", full)
    with pytest.raises(RunError, match=r"embeddings.*full"):
        train_tiny(corpus, tmp_path / "run")
    error = OSError("1000000 requested and 65504 written")  # numpy's
    with pytest.raises(RunError, match=r"embeddings.*full"):
        train_tiny(corpus, tmp_path / "run")
    assert Run.open(tmp_path / "run").finished("text") is not None
    assert Run.open(tmp_path / "run").finished("embeddings") is None


@pytest.mark.parametrize("step", ["text", "casing"])
def test_texts_that_change_after_their_digest_are_refused(corpus: Corpus, tmp_path: Path, step: str) -> None:
    texts = tmp_path / "texts.txt"
    shutil.copy(corpus.texts, texts)

    def change(event: Event) -> None:
        if event.step.name == step and event.state is State.STARTED:
            texts.write_text(texts.read_text() + "One more line is here now .\n")

    asked = replace(request(corpus, tmp_path / "run"), texts=str(texts), stop_after="casing")
    with pytest.raises(InputError, match=rf"step {step}: .*texts\.txt: changed while"):
        run_training(asked, change, ignore)
    assert Run.open(tmp_path / "run").finished(step) is None


def test_a_part_of_the_plan(corpus: Corpus, finished: Run, tmp_path: Path) -> None:
    asked = request(corpus, tmp_path / "run")
    with pytest.raises(RunError, match="nonsense"):
        run_training(replace(asked, stop_after="nonsense"))
    assert not (tmp_path / "run").exists()
    run = run_training(replace(asked, only=("mu1-0",), stop_after="text"), warn=ignore)
    assert {path.name for path in (run.folder / "steps").iterdir()} == {"text"}
    assert checksums(run.folder)["steps/text/lexicon.txt"] == checksums(finished.folder)["steps/text/lexicon.txt"]


def test_supervised_rows_and_validation_pairs(corpus: Corpus, copied: Run, tmp_path: Path) -> None:
    """Aligned pairs may be added to a run; validation pairs change the thresholds, so they may not."""
    asked = request(corpus, copied.folder)
    events: list[Event] = []
    run = run_training(replace(asked, aligned=corpus.pairs, aligned_limits=(8,)), events.append)
    assert {name for name, state in ended(events).items() if state == "done"} == {"aligned", "seq2seq", "all-2+8"}
    assert run.summarizers()[-2:] == ["all-2+8", "seq2seq"]
    with pytest.raises(RunError, match="--valid"):
        run_training(replace(asked, valid=corpus.pairs))
    tuned = run_training(replace(asked, out=tmp_path / "tuned", valid=corpus.pairs, only=("mu1-0",)), warn=ignore)
    assert tuned.keys(tuned.plan())["mu1-0"] != copied.keys(copied.plan())["mu1-0"]
    assert tuned.keys(tuned.plan())["dbae-0"] == copied.keys(copied.plan())["dbae-0"]


@pytest.fixture
def two_threads(corpus: Corpus, tmp_path: Path) -> Iterator[Callable[[Listener], Run]]:
    """Train up to the vectors of Pr-Thr with two threads."""
    asked = replace(request(corpus, tmp_path / "run"), threads=2, only=("pr-thr-0",), stop_after="embeddings-S")

    def begin(listener: Listener = ignore) -> Run:
        return run_training(asked, listener, ignore)

    yield begin
    torch.set_num_threads(1)


def test_steps_of_one_thread_go_side_by_side_and_come_out_the_same(
    two_threads: Callable[[Listener], Run], finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, both, events = Steps.make, Barrier(2, timeout=60), list[Event]()

    def met(self: Steps, task: Task) -> None:
        if task.step.name.startswith("embeddings-"):
            both.wait()  # it would break if they came one after the other
        make(self, task)

    monkeypatch.setattr(Steps, "make", met)
    run = two_threads(events.append)
    states = {(event.step.name, event.state) for event in events}
    assert {("embeddings-F", State.DONE), ("embeddings-S", State.DONE)} <= states
    made = {path: digest for path, digest in checksums(run.folder).items() if "embeddings-" in path}
    assert made
    assert made.items() <= checksums(finished.folder).items()


def test_an_error_beside_another_step_is_raised_and_the_other_is_kept(
    two_threads: Callable[[Listener], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, failed = Steps.make, Barrier(2, timeout=60)

    def fails(self: Steps, task: Task) -> None:
        if task.step.name.startswith("embeddings-"):
            failed.wait()
        if task.step.name == "embeddings-F":
            raise OSError(errno.ENOSPC, "No space left on device")
        make(self, task)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "make", fails)
        with pytest.raises(RunError, match=r"embeddings-F.*full"):
            two_threads(ignore)
    assert Run.open(tmp_path / "run").finished("embeddings-S") is not None
    events: list[Event] = []
    two_threads(events.append)
    assert {name for name, state in ended(events).items() if state == "done"} == {"embeddings-F"}


@pytest.mark.parametrize("last", ["embeddings-F", "embeddings-S"])
def test_after_an_interrupt_nobody_writes_any_more(
    two_threads: Callable[[Listener], Run], monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    make, both, before = Steps.make, Barrier(2, timeout=60), active_count()

    def endless(self: Steps, task: Task) -> None:
        if not task.step.name.startswith("embeddings-"):
            make(self, task)
            return
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)
        try:
            for _ in range(6_000):  # a minute
                task.report(Progress(0, 1, "sentences"))
                time.sleep(0.01)
        finally:
            time.sleep(0.5 if task.step.name == last else 0)  # it is waited for, whichever ends last

    monkeypatch.setattr(Steps, "make", endless)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # else ignored in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            two_threads(ignore)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert active_count() == before
