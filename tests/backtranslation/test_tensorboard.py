"""Event files are read back with TensorBoard's own reader."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nutgraf.backtranslation.tensorboard import charting
from nutgraf.backtranslation.train import run_training
from nutgraf.errors import InputError
from nutgraf.progress import Progress, ignore
from nutgraf.run.events import Event, State
from nutgraf.run.folder import Run
from nutgraf.run.names import ModelName
from nutgraf.run.plan import Kind, Step
from tests.tiny import Corpus, request

STEP = Step("mu1-2", Kind.SUMMARIZER, (), ModelName.parse("mu1-2"))


def points(run: Path, tag: str) -> list[tuple[int, float]]:
    reader = EventAccumulator(str(run / "tensorboard" / "mu1-2"))
    reader.Reload()
    return [(point.step, round(point.value, 4)) for point in reader.Scalars(tag)]


def running(step: int, loss: float) -> Event:
    return Event(STEP, State.RUNNING, 1, 1, Progress(step, 50, "steps", loss=loss), rate=4.0)


def test_losses_are_there_while_the_model_is_trained(tmp_path: Path) -> None:
    heard: list[Event] = []
    listener = charting(tmp_path, heard.append, pytest.fail)
    for step in range(1, 51):
        listener(running(step, 100 / step))
        if step == 30:
            listener.flush()  # torch's writer does so every ten seconds
            assert points(tmp_path, "loss") == [(10, 10.0), (20, 5.0), (30, 3.3333)]
    listener(Event(STEP, State.DONE, 1, 1))
    assert points(tmp_path, "loss")[3:] == [(40, 2.5), (50, 2.0)]
    assert points(tmp_path, "steps a second")[0] == (10, 4.0)
    assert len(heard) == 51


def test_a_resumed_training_replaces_the_points_that_were_written_past_its_checkpoint(tmp_path: Path) -> None:
    killed, resumed = (charting(tmp_path, ignore, pytest.fail) for _ in range(2))
    for step in range(1, 41):
        killed(running(step, 1.0))
    killed.flush()
    for step in range(21, 51):
        resumed(running(step, 2.0))
    resumed(Event(STEP, State.DONE, 1, 1))
    assert points(tmp_path, "loss") == [(10, 1.0), (20, 1.0), (30, 2.0), (40, 2.0), (50, 2.0)]


def test_what_goes_wrong_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "tensorboard").write_text("no folder")
    warned: list[str] = []
    listener = charting(tmp_path, ignore, warned.append)
    for step in (10, 20):
        listener(running(step, 1.0))
    assert len(warned) == 1
    assert "mu1-2" in warned[0]


def test_a_training_writes_its_models(corpus: Corpus, copied: Run) -> None:
    import shutil

    shutil.rmtree(copied.step_folder("mu1-2"))
    run_training(replace(request(corpus, copied.folder), tensorboard=True), warn=ignore)
    assert [step for step, _ in points(copied.folder, "loss")] == [10, 12]


def test_a_missing_package_is_explained_before_anything_is_done(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="pip install tensorboard"):
        run_training(replace(request(corpus, tmp_path / "run"), tensorboard=True))
    assert not (tmp_path / "run").exists()
