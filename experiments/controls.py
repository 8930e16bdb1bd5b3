"""What the gain of All comes from: models of a finished run trained again, from other pairs or for more steps.

    python -m experiments.controls train RUN VALID.tsv OUT.jsonl mu1 mixed found --seeds 3
    python -m experiments.controls table OUT.jsonl

Every model starts from random weights at the recipe's rate and is decoded as the recipe says; a seed changes weights,
batches and dropout, and nothing else. A control that is in OUT.jsonl is not trained again; the summaries are written
beside it. Validation pairs are read for the scores alone. RESULTS.md has what came of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from experiments.scoring import Scorer
from nutgraf import recipe as recipes
from nutgraf.backtranslation.pairs import TrainingSet, union
from nutgraf.backtranslation.steps import Steps
from nutgraf.hardware import Hardware
from nutgraf.learning.loop import Job
from nutgraf.models import storage
from nutgraf.models.generation import full_stop_of, sampler
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.progress import Progress
from nutgraf.run.folder import Run
from nutgraf.run.names import FOUND, ModelName
from nutgraf.run.pairs import ARTIFICIAL, share
from nutgraf.text.corpus import Corpus
from nutgraf.text.selection import Sentences

PART = 1_024  # sentences expanded at once
MU1, OF_PAPER = ModelName("mu1", 1), [ModelName(chain, 1) for chain in ("pr-thr", "dbae", "mu1")]

app = typer.Typer(add_completion=False)


class Controls:
    """Training sets made from the pairs of a run."""

    def __init__(self, run: Run, hardware: Hardware):
        self.run, self.work = run, Steps(run, hardware)
        self.steps = {step.name: step for step in run.plan()}

    @property
    def recipe(self) -> recipes.Recipe:
        """The run's recipe."""
        return self.run.recipe

    def artificial(self, makers: list[ModelName], min_coverage: float | None = None) -> TrainingSet:
        """Return the artificial pairs of some expanders."""
        least = self.recipe.training.min_coverage if min_coverage is None else min_coverage
        return union([(self._made(maker), self._summaries(maker)) for maker in makers], least)

    def found(self) -> TrainingSet:
        """Return the found pairs."""
        return union([(self.work.prepared.texts, self._made(FOUND))])

    def of_step(self, name: str) -> TrainingSet:
        """Return what a model of the run learned from."""
        return self.work.training_set(self.steps[name])

    def expanded(self, expander: Seq2seq, makers: list[ModelName], settings: recipes.Generation) -> TrainingSet:
        """Return pairs that an expander makes of the summaries that others had."""
        stop = full_stop_of(self.work.prepared.lexicon)
        parts = []
        for maker in makers:
            summaries = self._summaries(maker)
            apply = sampler(expander, settings, True, stop, f"controls {maker}")
            made = []
            for start in range(0, len(summaries), PART):
                made += apply(summaries[start : start + PART], start)
                _say(f"{start + PART:,} of {len(summaries):,} summaries of {maker}")
            parts.append((Corpus.of(made), summaries))
        return union(parts, self.recipe.training.min_coverage)

    def expander(self, name: str) -> Seq2seq:
        """Return an expander of the run."""
        return storage.load(self.run.step_folder(name), self.work.hardware.device)

    @cached_property
    def own_expander(self) -> Seq2seq:
        """mu1-1 from random weights: without the common expander, for as many steps as both had."""
        training = self.recipe.training
        steps = training.expander_steps + training.finetune_steps
        return self.train(self.of_step("mu1-1"), steps, "own expander", "mu1-1")

    def train(self, pairs: TrainingSet, steps: int, key: str, like: str = "mu1-2") -> Seq2seq:
        """Train a model such as `like` from random weights, for other steps, from other pairs."""
        settings, model = self.recipe.training, self.work.untrained(replace(self.steps[like], start=""), key)

        def report(progress: Progress) -> None:
            if progress.done % 100 == 0:
                _say(f"{key}: step {progress.done} of {steps}, {progress.note}")

        fitting = replace(fit_of(settings, steps, settings.learning_rate), validate_every=0)
        learn(model, pairs.sources, pairs.targets, settings, fitting, Job(key, report=report))
        return model

    def _summaries(self, maker: ModelName) -> Sentences:
        return share(self.work.prepared.summaries, self.recipe.generation.sentences_per_chain, maker)

    def _made(self, maker: ModelName) -> Corpus:
        return Corpus.open(self.run.step_folder(maker.pairs), ARTIFICIAL)


@dataclass(frozen=True)
class Control:
    """One row: what it shows, the pairs, and for how many times All's steps it is trained."""

    says: str
    pairs: Callable[[Controls], TrainingSet]
    times: float = 1.0


CONTROLS = {
    "mu1": Control("mu1-1's pairs", lambda run: run.artificial([MU1])),
    "mu1-long": Control("mu1-1's pairs, twice the steps", lambda run: run.artificial([MU1]), 2),
    "mixed": Control("pairs of the paper's three chains", lambda run: run.artificial(OF_PAPER)),
    "mixed-long": Control("the same, twice the steps", lambda run: run.artificial(OF_PAPER), 2),
    "mu1-more": Control(
        "mu1-1's pairs of all summaries that the three chains had",
        lambda run: run.expanded(run.expander("mu1-1"), OF_PAPER, run.recipe.generation),
    ),
    "found": Control("mu1-1's pairs and found ones (all-2a)", lambda run: run.of_step("all-2a")),
    "found-long": Control("the same, twice the steps", lambda run: run.of_step("all-2a"), 2),
    "found-only": Control("found pairs alone", lambda run: run.found(), 0.5),
    "taught": Control("what the teachers agree on, and found pairs (all-2)", lambda run: run.of_step("all-2")),
    "own-expander": Control(
        "mu1-1 without the common expander",
        lambda run: run.expanded(run.own_expander, [MU1], run.recipe.generation),
    ),
    "any-coverage": Control("mu1-1's pairs, min_coverage off", lambda run: run.artificial([MU1], 0.0)),
    "free-words": Control(
        "mu1-1's pairs, generation.repeat_top_words off",
        lambda run: run.expanded(run.expander("mu1-1"), [MU1], replace(run.recipe.generation, repeat_top_words=0)),
    ),
    "supervised": Control("aligned pairs", lambda run: run.of_step("seq2seq")),
    "supervised-2": Control("aligned pairs, twice the steps", lambda run: run.of_step("seq2seq"), 2),
    "supervised-4": Control("aligned pairs, four times the steps", lambda run: run.of_step("seq2seq"), 4),
    "supervised-8": Control("aligned pairs, eight times the steps", lambda run: run.of_step("seq2seq"), 8),
}


@app.command()
def train(
    run: Path,
    valid: Path,
    out: Path,
    names: Annotated[list[str], typer.Argument(help=", ".join(CONTROLS))],
    seeds: Annotated[int, typer.Option(help="How many of each.")] = 1,
    threads: int = 2,
) -> None:
    """Train controls and append a line for each to OUT.jsonl."""
    hardware = Hardware.of("cpu", threads)
    hardware.use()
    opened = Run.open(run)
    controls, scorer = Controls(opened, hardware), Scorer(opened, valid)
    for name in names:
        control, pairs = CONTROLS[name], None
        for seed in range(1, seeds + 1):
            if any((line["name"], line["seed"]) == (name, seed) for line in _read(out)):
                continue
            pairs = pairs or control.pairs(controls)
            steps, began = round(control.times * opened.recipe.training.all_steps), time.monotonic()
            model = controls.train(pairs, steps, f"{name} {seed}")
            minutes = (time.monotonic() - began) / 60
            facts = {"name": name, "says": control.says, "seed": seed, "steps": steps, "pairs": len(pairs.sources)}
            row = scorer(f"{name}-{seed}", model, out.with_suffix("") / f"{name}-{seed}.txt")
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(facts | {"minutes": round(minutes, 1)} | row) + "\n")
            _say(json.dumps(facts | row))


@app.command()
def table(out: Path) -> None:
    """Print a row for each control: the mean of its seeds, and R-L of each."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in _read(out):
        rows.setdefault(line["name"], []).append(line)
    typer.echo("| trained on | pairs | steps | R-1 | R-2 | R-L | R-L of each seed | words | copied | bits | contr. |")
    typer.echo("| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for lines in rows.values():
        mean = {key: np.mean([line[key] for line in lines]) for key in ("r1", "r2", "rl", "words", "copied", "bits")}
        contradicted = np.mean([line["contradicted"] for line in lines])
        each, first = ", ".join(f"{line['rl']:.1f}" for line in lines), lines[0]
        typer.echo(
            f"| {first['says']} | {first['pairs']:,} | {first['steps']:,} | {mean['r1']:.1f} | {mean['r2']:.1f} |"
            f" {mean['rl']:.1f} | {each} | {mean['words']:.1f} | {mean['copied']:.0%} | {mean['bits']:.2f} |"
            f" {contradicted:.1%} |"
        )


def _read(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []


def _say(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    app()
