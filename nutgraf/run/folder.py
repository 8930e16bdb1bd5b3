"""The run folder: what was asked, and which steps are done.

    run.json        the inputs: where they were, how many lines, their digests
    recipe.toml     the resolved recipe
    steps/<name>/   what a step made, and its manifest
    evaluation/     scores and outputs, by the name of the pairs

The recipe and the inputs of a run are fixed, except for changes that affect no started step: more iterations, aligned
pairs, baselines, decoding, settings of steps to come.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nutgraf import recipe as recipes
from nutgraf.errors import RunError
from nutgraf.files import is_partial_of, read_bytes, refuse_links, write_atomically
from nutgraf.run import manifest as records
from nutgraf.run.evaluations import FOLDER as EVALUATION
from nutgraf.run.evaluations import evaluations
from nutgraf.run.holder import COPY
from nutgraf.run.inputs import Inputs, Source
from nutgraf.run.keys import step_keys
from nutgraf.run.lock import LOCK, lock
from nutgraf.run.manifest import Manifest
from nutgraf.run.names import ModelName, is_baseline, latest, summarizers
from nutgraf.run.plan import Step, make_plan
from nutgraf.run.seals import read_recipe, read_table, seal_recipe, seal_table

FORMAT = 2
RUN, RECIPE, STEPS, PROGRESS = "run.json", "recipe.toml", "steps", "progress.json"
REPORT, TENSORBOARD = "report.html", "tensorboard"
OURS = (RUN, RECIPE, STEPS, PROGRESS, EVALUATION, REPORT, TENSORBOARD, LOCK, COPY)  # all that we write
_MOST_LIMITS = 100
_FREE = ("plan.iterations", "plan.train_all", "plan.agreed", "plan.baselines", "decoding.")


@dataclass(frozen=True)
class Choice:
    """The summarizer to use, and why it is this one."""

    name: str
    reason: str


@dataclass(frozen=True)
class Run:
    """A run folder whose run.json and recipe.toml are in place."""

    folder: Path
    recipe: recipes.Recipe
    inputs: Inputs
    aligned_limits: tuple[int, ...] = ()

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Read a run that exists; what is damaged or a link is named."""
        if folder.is_file():
            raise RunError(f"{folder}: a file; expected a run folder or an export")
        try:
            refuse_links(folder, *OURS)
            table = read_table(folder / RUN)
            if table["format"] != FORMAT:
                raise RunError(
                    f"{folder / RUN}: format {table['format']!r}, made by another version of nutgraf; this one reads "
                    f"format {FORMAT}. Train into another folder with --out"
                )
            inputs = Inputs.from_table(table["inputs"])
            stored = recipes.parse(read_recipe(folder / RECIPE), str(folder / RECIPE))
            return cls(folder, stored, inputs, _check_limits(table["aligned_limits"]))
        except FileNotFoundError as error:
            if Path(error.filename).name == RECIPE:
                raise RunError(f"{error.filename}: missing. Put it back, or train into another folder") from error
            there = "is no run folder" if folder.exists() else "does not exist"
            raise RunError(f"{folder}: {there} (no {RUN}). `nutgraf train --out {folder}` makes one") from None
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RunError(f"{folder / RUN}: damaged ({error}). Train into another folder with --out") from error

    @classmethod
    def create(cls, folder: Path, asked: recipes.Recipe, inputs: Inputs, limits: Sequence[int] = ()) -> Run:
        """Open the folder for this work: a new run, or the same one as before; another one is an error."""
        run = cls(folder, asked, inputs, tuple(limits))
        if (folder / RUN).exists():
            before = cls.open(folder)
            run = before.extend(run, {path.name for path in folder.glob(f"{STEPS}/*")}, "--out", str(folder))
        run._write()
        return run

    def extend(self, asked: Run, started: Container[str], option: str, place: str) -> Run:
        """Return what is asked together with what was asked of this run before; an error if a started step changes.

        The option and the place say where this run is.
        """
        before, plan = self.recipe.plan, asked.recipe.plan
        plan = replace(
            plan,
            iterations=max(before.iterations, plan.iterations),
            train_all=before.train_all or plan.train_all,
            agreed=before.agreed or plan.agreed,
            baselines=tuple(dict.fromkeys([*before.baselines, *plan.baselines])),
        )
        inputs = replace(asked.inputs, aligned=asked.inputs.aligned or self.inputs.aligned)
        limits = tuple(dict.fromkeys([*self.aligned_limits, *asked.aligned_limits]))
        run = Run(asked.folder, replace(asked.recipe, plan=plan), inputs, limits)
        if affected := [name for name in run._changed_since(self) if name in started]:
            raise RunError(
                f"{option} {place}: holds another run, nothing was changed. It differs in\n  "
                + "\n  ".join(_differences(self, asked))
                + f"\nfor which {', '.join(affected)} would have to be redone. "
                + f"Give what the run was started with, or another {option}"
            )
        return run

    def _changed_since(self, before: Run) -> list[str]:
        """Return the steps of the run as it was that would be something else in this one."""
        old, new = (run.keys(run.plan()) for run in (before, self))
        return [name for name in old if name in new and old[name] != new[name]]

    def _write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        table = {"format": FORMAT, "inputs": asdict(self.inputs), "aligned_limits": self.aligned_limits}
        for name, content in ((RECIPE, seal_recipe(self.recipe.to_toml())), (RUN, seal_table(table))):
            path = self.folder / name
            if not path.exists() or read_bytes(path) != content.encode():
                write_atomically(path, content.encode())

    def plan(self) -> tuple[Step, ...]:
        """Return the steps of everything that was asked of the run so far."""
        return make_plan(self.recipe.plan, self.inputs.aligned is not None, self.aligned_limits)

    def keys(self, steps: Sequence[Step]) -> dict[str, str]:
        """Return the key of each step; each comes after its needs."""
        return step_keys(steps, self.recipe, self.inputs)

    def step_folder(self, name: str) -> Path:
        """Return where a step's files are."""
        return self.folder / STEPS / name

    def is_done(self, name: str) -> bool:
        """Whether a step is done; its files are not compared with their checksums."""
        return (self.step_folder(name) / records.MANIFEST).exists()

    def finished(self, name: str) -> Manifest | None:
        """Return the manifest of a step that is done; a DamagedError names the file that is not what was written."""
        manifest = records.read(self.step_folder(name))
        if manifest is not None:
            records.verify(self.step_folder(name), manifest)
        return manifest

    def intact(self, name: str) -> Path:
        """Return the folder of a step that must be done and undamaged, to load it."""
        try:
            manifest = self.finished(name)
        except records.DamagedError as error:
            raise RunError(f"{error}. The command that made the run, given again, redoes the step {name}") from error
        if manifest is None:
            done = ", ".join(self.summarizers()) or "none yet"
            raise RunError(f"{self.folder}: {name} is not done. Summarizers that are: {done}. See `nutgraf status`")
        return self.step_folder(name)

    def summarizers(self) -> list[str]:
        """Return the summarizers that are done, in the order of the paper's tables."""
        return summarizers(path.parent.name for path in self.folder.glob(f"{STEPS}/*/{records.MANIFEST}"))

    def best(self) -> Choice | None:
        """Return the summarizer to use where none is named; None where no summarizer is done.

        Of our own without aligned pairs, the one with the highest mean of ROUGE-1, ROUGE-2 and ROUGE-L in the
        evaluation with the most pairs; where that evaluation lacks the last agreed-N or All (or, without any, the last
        of mixed, mu1, dbae, pr-thr, near), that one. A RunError if the one with the highest scores is not done any
        more, or an evaluation cannot be read.
        """
        done = self.summarizers()
        default = latest(done)
        if default is None:
            return None
        found = max(evaluations(self.folder), key=lambda evaluation: evaluation.source.lines, default=None)
        ours = [row for row in found.rows if row.aligned == 0 and not is_baseline(row.name)] if found else []
        rows = [row for row in ours if row.name in done]
        if found is None or default not in (row.name for row in rows):
            return Choice(default, "the last one trained; it is not evaluated yet")
        row = max(rows, key=lambda row: row.mean_rouge)
        for lost in ours:
            if lost.name not in done and ModelName.find(lost.name) and lost.mean_rouge > row.mean_rouge:
                path = self.step_folder(lost.name) / records.MANIFEST
                raise RunError(
                    f"{path}: missing, so {lost.name} is not done, and it is the best one by {found.path}. The command "
                    f"that made the run, given again, redoes it; or name another one, such as {self.folder / row.name}"
                )
        scores = "/".join(f"{score.mean:.2f}" for score in (row.r1, row.r2, row.rl))
        return Choice(row.name, f"the highest mean ROUGE, {scores}, on the {row.pairs:,} pairs of {found.name}")


@contextmanager
def claim(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder; one that is in use for something else is left as it is."""
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError(f"--out {folder}: a file. Name a folder that does not exist yet")
        if folder.exists() and not (folder / RUN).exists() and not all(map(_is_first, folder.iterdir())):
            raise RunError(f"--out {folder}: not empty and no run folder. Name a folder that does not exist yet")
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise RunError(f"--out {folder}: cannot be written to. Name another folder, or get the right to write")
    except OSError as error:
        raise RunError(f"--out {str(folder)[:200]}: cannot be used: {error.strerror}. Name another folder") from error
    refuse_links(folder, *OURS)
    with lock(folder):
        yield


def _is_first(path: Path) -> bool:
    """Whether a kill in the first moment of a run can leave this behind."""
    return path.name in (LOCK, COPY, RECIPE) or any(is_partial_of(path.name, name) for name in (COPY, RECIPE, RUN))


def _check_limits(limits: Any) -> tuple[int, ...]:
    if not all(type(limit) is int and limit > 0 for limit in limits) or len(limits) > _MOST_LIMITS:
        raise ValueError("aligned_limits")
    return tuple(limits)


def _differences(before: Run, asked: Run) -> list[str]:
    return [*_recipe_differences(before.recipe, asked.recipe), *_input_differences(before.inputs, asked.inputs)]


def _recipe_differences(before: recipes.Recipe, asked: recipes.Recipe) -> list[str]:
    differences = [] if before.seed == asked.seed else [f"seed: {before.seed} there, {asked.seed} asked for"]
    wanted = asdict(asked)
    for section, values in asdict(before).items():
        for key, value in values.items() if isinstance(values, dict) else ():
            name = f"{section}.{key}"
            if value != wanted[section][key] and not name.startswith(_FREE):
                differences.append(f"{name}: {value!r} there, {wanted[section][key]!r} asked for")
    return differences


def _input_differences(before: Inputs, asked: Inputs) -> list[str]:
    differences = []
    for name in ("texts", "summaries", "valid", "aligned"):
        old: Source | None = getattr(before, name)
        new: Source | None = getattr(asked, name)
        added = name == "aligned" and (old is None or new is None)
        if not added and (old and old.digest) != (new and new.digest):
            differences.append(f"--{name}: {_described(old)} there, {_described(new)} asked for")
    return differences


def _described(source: Source | None) -> str:
    return f"{source.path} ({source.lines:,} lines, digest {source.digest[:8]})" if source else "none"
