"""How good a model of a finished run would be after how many minutes, had it been trained with other settings.

    python -m experiments.curves train RUN VALID.tsv OUT.jsonl --step mu1-2 --minutes 3 "batch 32|training.batch=32" ...
    python -m experiments.curves run RUN OUT.jsonl "recipe cpu"      # after `nutgraf evaluate RUN --pairs VALID.tsv`
    python -m experiments.curves plot OUT.jsonl OUT.svg

A trial is a name and settings as `nutgraf train --set` takes them; `start=mu1-2` trains on from that model, `start=`
from none. Every trial has the same pairs, the same held-out ones and the same seed; time for scoring is not counted.
LOG.md has what came of it. Validation pairs are read for the scores alone.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.scoring import Scorer
from nutgraf import recipe as recipes
from nutgraf.backtranslation.pairs import TrainingSet
from nutgraf.backtranslation.steps import Steps
from nutgraf.hardware import Hardware
from nutgraf.learning.loop import Fit, Job
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress
from nutgraf.run.evaluations import FOLDER, Evaluation
from nutgraf.run.folder import Run
from nutgraf.run.plan import ALIGNED, Kind, Step, learning_rate

KEY = "curves"
MARKS = 4  # scores a curve
CALIBRATION = 12  # steps to find the speed by
COLUMNS = 3  # panels in a row

app = typer.Typer(add_completion=False)


@dataclass
class Scored:
    """Scores a model now and then while it is trained, and keeps a clock that stands still meanwhile."""

    model: Seq2seq
    scorer: Scorer | None  # none: only the loss counts
    marks: frozenset[int]
    points: list[dict[str, float]] = field(default_factory=list)
    waited: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def __call__(self, progress: Progress) -> None:
        """Hear of a step that is done."""
        if progress.done not in self.marks:
            return
        now = time.monotonic()
        point = {"step": progress.done, "seconds": round(now - self.started - self.waited, 1)}
        self.points.append(point | self._scores())
        self.waited += time.monotonic() - now

    def _scores(self) -> dict[str, float]:
        if self.scorer is None:
            return {}
        self.model.eval()
        row = self.scorer(KEY, self.model)
        self.model.train()
        return {key: row[key] for key in ("r1", "r2", "rl", "low", "high")}


@app.command()
def train(
    run: Path,
    valid: Path,
    out: Path,
    trials: list[str],
    step: Annotated[str, typer.Option(help="The model of the run to train again.")] = "mu1-2",
    minutes: Annotated[float, typer.Option(help="For each trial.")] = 3.0,
    steps: Annotated[int, typer.Option(help="Instead of minutes.")] = 0,
    pairs: Annotated[int, typer.Option(help="Validation pairs to score.")] = 500,
) -> None:
    """Train each trial and append a line a trial to OUT.jsonl."""
    hardware = Hardware.of("cpu", 2)
    hardware.use()
    opened = Run.open(run)
    planned = next(one for one in opened.plan() if one.name == step)
    data = Steps(opened, hardware).training_set(planned)
    scorer = Scorer(opened, valid, pairs) if planned.kind is Kind.SUMMARIZER else None
    for trial in trials:
        name, _, values = trial.partition("|")
        settings = [value for value in values.split(",") if value and not value.startswith("start=")]
        starts = [value.removeprefix("start=") for value in values.split(",") if value.startswith("start=")]
        tried = replace(planned, start=starts[0]) if starts else planned
        recipe = recipes.override(opened.recipe, settings)
        work = Steps(replace(opened, recipe=recipe), hardware)
        count = steps or _steps_in(60 * minutes, work, tried, data)
        model, fitting = _untrained(work, tried, count)
        watch = Scored(model, scorer, frozenset(round(count * n / MARKS) - 1 for n in range(1, MARKS + 1)))
        history = learn(model, data.sources, data.targets, recipe.training, fitting, Job(KEY, report=watch))
        line = {"name": name, "step": step, "settings": values, "steps": count, "points": watch.points}
        line["held_out"] = next(point.held_out for point in history if point.held_out is not None)
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        typer.echo(json.dumps(line))


def _untrained(work: Steps, step: Step, count: int) -> tuple[Seq2seq, Fit]:
    fitting = fit_of(work.recipe.training, count, learning_rate(step, work.recipe.training))
    return work.untrained(step, KEY), replace(fitting, validate_every=count)


def _steps_in(seconds: float, work: Steps, step: Step, data: TrainingSet) -> int:
    """Return how many steps that time is enough for, by a short trial."""
    model, fitting = _untrained(work, step, 2 * CALIBRATION)
    ticks: list[float] = []
    job = Job(KEY, report=lambda _: ticks.append(time.monotonic()))
    learn(model, data.sources, data.targets, work.recipe.training, fitting, job)
    return max(MARKS, round(seconds * CALIBRATION / (ticks[-2] - ticks[-2 - CALIBRATION])))


@app.command("run")
def whole(folder: Path, out: Path, name: str, pairs: str = "valid") -> None:
    """Append the curve of a whole run: its best R-L so far, by the minutes that the steps up to it took."""
    opened = Run.open(folder)
    rows = Evaluation.load(folder / FOLDER / f"{pairs}.json").rows
    scores = {row.name: row.rl.mean for row in rows if not row.aligned}
    seconds, best, points = 0.0, 0.0, []
    for step in opened.plan():
        if ALIGNED in (step.name, *step.needs) or not (record := opened.finished(step.name)):
            continue
        seconds += record.seconds
        if scores.get(step.name, 0.0) > best:
            best = scores[step.name]
            points.append({"step": step.name, "seconds": seconds, "rl": best})
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, "step": "whole run", "points": points}) + "\n")


@app.command()
def plot(curves: Path, out: Path) -> None:
    """Draw R-L by minutes: a panel for each model that was trained again, and one for whole runs."""
    from matplotlib.figure import Figure

    lines: list[dict[str, Any]] = [json.loads(line) for line in curves.read_text("utf-8").splitlines()]
    lines = [line for line in lines if "rl" in line["points"][0]]
    steps = list(dict.fromkeys(line["step"] for line in lines))
    rows, columns = -(-len(steps) // COLUMNS), min(len(steps), COLUMNS)
    figure = Figure(figsize=(5.5 * columns, 4.5 * rows), layout="constrained")
    for number, step in enumerate(steps, 1):
        axes = figure.add_subplot(rows, columns, number)
        for curve, line in enumerate(one for one in lines if one["step"] == step):
            minutes = [point["seconds"] / 60 for point in line["points"]]
            style = ("-", "--", ":")[curve // 10 % 3]
            axes.plot(minutes, [point["rl"] for point in line["points"]], style, marker="o", ms=3, label=line["name"])
        axes.set(title=step, xlabel="minutes, two cores", ylabel="ROUGE-L on validation pairs")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(out)


if __name__ == "__main__":
    app()
