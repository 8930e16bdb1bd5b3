"""TensorBoard's package is heavy, so what is written is held by a writer of our own; one test needs the real one."""

import importlib.util
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from nutgraf import tensorboard
from nutgraf.backtranslation.engine import Event, State, unheard
from nutgraf.backtranslation.plan import Step
from nutgraf.backtranslation.run import Run
from nutgraf.errors import InputError
from nutgraf.tensorboard import Scalar, charting, learned, write_scores
from tests.tiny import Corpus, untold

MISSING = importlib.util.find_spec("tensorboard") is None


class Fake:
    """Writes its points as JSON when it is closed."""

    def __init__(self, folder: str):
        self.folder, self.points = Path(folder), list[Scalar]()

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.points.append(Scalar(tag, global_step, scalar_value))

    def close(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "points.json").write_text(json.dumps(self.points))


def points(run: Run, name: str) -> list[Scalar]:
    found = json.loads((run.folder / "tensorboard" / name / "points.json").read_text())
    return [Scalar(*point) for point in found]


def step_of(run: Run, name: str) -> Step:
    return next(step for step in run.plan() if step.name == name)


def tell(run: Run, state: State, *names: str) -> None:
    """Pass events to a listener as the engine does."""
    listener = charting(run.folder, unheard, pytest.fail, Fake)
    for step in run.plan():
        if not names or step.name in names:
            listener(Event(step, state, 1, 1, seconds=6.0))


def test_curves_are_those_of_the_history(finished: Run) -> None:
    scalars = learned(finished, step_of(finished, "all-2"), 6.0)
    history = json.loads((finished.step_folder("all-2") / "history.json").read_text())
    assert [p["step"] for p in history] == [5, 10, 12]
    assert [s.value for s in scalars if s.tag == "loss/training"] == [p["loss"] for p in history]
    assert [s.value for s in scalars if s.tag == "loss/held-out"] == [p["held_out"] for p in history]
    assert [s for s in scalars if s.tag == "steps a second"] == [Scalar("steps a second", 12, 2.0)]
    # Two steps of rise, ten of a fall to a tenth: update 5 is number 4 from 0, and 2 of 10 down.
    rate = finished.recipe.training.tuning_rate if step_of(finished, "all-2").start else 5e-4
    rates = {s.step: s.value for s in scalars if s.tag == "learning rate"}
    assert rates[5] == pytest.approx(rate * (1 - 0.9 * 0.2))
    assert learned(finished, step_of(finished, "text"), 6.0) == []


def test_every_model_has_each_point_once_however_often_the_run_goes_on(copied: Run) -> None:
    tell(copied, State.KEPT)  # a run that was trained without
    models = {step.name for step in copied.plan() if (copied.step_folder(step.name) / "history.json").exists()}
    folder = copied.folder / "tensorboard"
    assert {path.name for path in folder.iterdir()} == models
    first = points(copied, "mu1-2")
    assert max(Counter((point.tag, point.step) for point in first).values()) == 1
    (folder / "mu1-2" / "mark").touch()
    tell(copied, State.KEPT)
    assert (folder / "mu1-2" / "mark").exists()  # nothing was written again
    tell(copied, State.STARTED, "mu1-2")
    (copied.folder / ".tensorboard.partial").mkdir()  # of a process that was killed
    tell(copied, State.DONE, "mu1-2")
    assert not (folder / "mu1-2" / "mark").exists()
    assert points(copied, "mu1-2") == first
    assert not (copied.folder / ".tensorboard.partial").exists()


def test_what_goes_wrong_is_a_warning(copied: Run) -> None:
    def full(_: str) -> Fake:
        raise OSError("No space left on device")

    warned: list[str] = []
    listener = charting(copied.folder, unheard, warned.append, full)
    listener(Event(step_of(copied, "all-2"), State.DONE, 1, 1))
    assert len(warned) == 1
    assert "all-2 not written" in warned[0]


def test_scores_by_iteration(copied: Run) -> None:
    scores = {"r1": {"mean": 30.0}, "r2": {"mean": 10.0}, "rl": {"mean": 28.0}}
    names = ("Lead-8", "mu1-0", "mu1-2", "mu1-2+100", "seq2seq")
    folder = copied.folder / "evaluation"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "test.json").write_text(json.dumps({"rows": [{"name": name, **scores} for name in names]}))
    write_scores(copied.folder, Fake)
    assert [path.name for path in (copied.folder / "tensorboard" / "test").iterdir()] == ["mu1"]
    assert [p for p in points(copied, "test/mu1") if p.tag == "ROUGE/ROUGE-L"] == [
        Scalar("ROUGE/ROUGE-L", 0, 28.0),
        Scalar("ROUGE/ROUGE-L", 2, 28.0),
    ]


@pytest.mark.skipif(not MISSING, reason="the package tensorboard is installed")
def test_a_missing_package_is_explained_before_anything_is_done(corpus: Corpus, tmp_path: Path) -> None:
    from nutgraf.training import train

    with pytest.raises(InputError, match="pip install tensorboard"):
        train(corpus.texts, corpus.summaries, tmp_path / "run", corpus.recipe, tensorboard=True, warn=untold)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(MISSING, reason="the package tensorboard is not installed")
def test_the_real_writer_writes_event_files(copied: Run) -> None:
    listener = charting(copied.folder, unheard, pytest.fail, tensorboard.writer())
    listener(Event(step_of(copied, "all-2"), State.DONE, 1, 1, seconds=6.0))
    files = list((copied.folder / "tensorboard" / "all-2").rglob("events.out.tfevents.*"))
    assert len(files) == 1
    assert files[0].stat().st_size > 100
