"""Learning curves and scores as TensorBoard event files: RUN/tensorboard/<model>/ and RUN/tensorboard/<pairs>/<chain>/.

A model's points are written when its step is done, from its history, and a folder of them is there whole or not at
all: so a run that was killed and goes on has each point once. The package `tensorboard` is optional.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from nutgraf.backtranslation.engine import Event, Listener, State
from nutgraf.backtranslation.plan import ALL, Step, trained_as
from nutgraf.backtranslation.run import Run
from nutgraf.backtranslation.stages import HISTORY
from nutgraf.errors import InputError
from nutgraf.recipe import INITIALIZERS
from nutgraf.seq2seq.training import Fit
from nutgraf.tables import aligned_pairs

FOLDER, PARTIAL = "tensorboard", ".tensorboard.partial"


class Writer(Protocol):
    """What is used of torch's SummaryWriter."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Add a point."""

    def close(self) -> None:
        """Write everything to the disk."""


Open = Callable[[str], Writer]


class Scalar(NamedTuple):
    """One point of one curve."""

    tag: str
    step: int
    value: float


def writer() -> Open:
    """Return what opens event files."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "--tensorboard: needs the package tensorboard, which is not installed. "
            "`pip install tensorboard`, or leave the option out"
        ) from error
    return SummaryWriter


def charting(folder: Path, listener: Listener, warn: Callable[[str], None], opened: Open) -> Listener:
    """Return a listener to a training that passes every event on, and writes a model's points when it is done.

    Models that were done before get theirs, too, where they have none. Whatever goes wrong is a warning.
    """

    def heard(event: Event) -> None:
        listener(event)
        missing = event.state is State.KEPT and not (folder / FOLDER / event.step.name).exists()
        if event.state is State.DONE or missing:
            try:
                _write(folder, event.step.name, learned(Run.open(folder), event.step, event.seconds), opened)
            except Exception as error:
                warn(f"{folder / FOLDER}: {event.step.name} not written ({type(error).__name__}: {error})")

    return heard


def learned(run: Run, step: Step, seconds: float) -> list[Scalar]:
    """Return the learning curve of a step that is done; steps that train no seq2seq model have none."""
    path = run.step_folder(step.name) / HISTORY
    if not path.exists():
        return []
    points, fit = json.loads(path.read_text("utf-8")), _fit(run, step)
    scalars: list[Scalar] = []
    for point in points:
        number = int(point["step"])
        scalars.append(Scalar("loss/training", number, point["loss"]))
        if point["held_out"] is not None:
            scalars.append(Scalar("loss/held-out", number, point["held_out"]))
        scalars.append(Scalar("learning rate", number, fit.rate(number - 1)))  # of the update just made
    last = scalars[-1].step
    return [*scalars, Scalar("steps a second", last, last / max(seconds, 0.1))]


def _fit(run: Run, step: Step) -> Fit:
    """Return how the learning rate of a step went."""
    settings = trained_as(step, run.recipe.training, aligned_pairs(run, step.name))
    return Fit(settings.steps, settings.learning_rate, settings.clip, settings.warmup, settings.decay)


def write_scores(folder: Path, opened: Open) -> None:
    """Write the ROUGE scores of every evaluation of a run, chain by chain, by iteration."""
    for path in sorted((folder / "evaluation").glob("*.json")):
        chains: defaultdict[str, list[Scalar]] = defaultdict(list)
        for row in json.loads(path.read_text("utf-8"))["rows"]:
            chain, _, iteration = row["name"].rpartition("-")
            if chain in (*INITIALIZERS, ALL) and iteration.isdigit():
                for tag, key in (("ROUGE-1", "r1"), ("ROUGE-2", "r2"), ("ROUGE-L", "rl")):
                    chains[chain].append(Scalar(f"ROUGE/{tag}", int(iteration), row[key]["mean"]))
        for chain, scalars in chains.items():
            _write(folder, f"{path.stem}/{chain}", scalars, opened)


def _write(folder: Path, name: str, scalars: Sequence[Scalar], opened: Open) -> None:
    """Put one folder of points in the place of an earlier one; nothing where there are none."""
    if not scalars:
        return
    partial, target = folder / PARTIAL, folder / FOLDER / name
    shutil.rmtree(partial, ignore_errors=True)
    events = opened(str(partial))
    for scalar in scalars:
        events.add_scalar(scalar.tag, scalar.value, scalar.step)
    events.close()
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.replace(target)
