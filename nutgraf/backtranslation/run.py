"""The run folder: what was asked, and which steps are done.

    run.json        the inputs: where they were, how many lines, their digests
    recipe.toml     the resolved recipe
    steps/<name>/   what a step made, and its manifest
    evaluation/     tables, by the name of the pairs

A step's key is a hash of its needs' keys, its slice of the recipe, the seed, the digests of the files it reads and the
version of its code. Device and number of workers stay out of it. A run keeps its recipe and its inputs, but for what
leaves every step that is done or begun as it is: more iterations, aligned pairs, decoding, settings of steps to come.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.backtranslation import manifest as records
from nutgraf.backtranslation.inputs import Inputs, Source
from nutgraf.backtranslation.manifest import Manifest
from nutgraf.backtranslation.plan import OF_SUMMARIES, OF_TEXTS, Kind, Step, in_order, make_plan
from nutgraf.errors import RunError

FORMAT = 1
RUN, RECIPE, STEPS, LOCK = "run.json", "recipe.toml", "steps", ".lock"
_FIRST = (LOCK, RECIPE, *(f".{name}.partial" for name in (RECIPE, RUN)))  # what a kill in a run's first moment leaves

# Raised when the code of a kind of step changes what it makes.
VERSIONS = dict.fromkeys(Kind, 1)

_SECTIONS: dict[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("text",),
    Kind.CASING: (),
    Kind.EMBEDDINGS: ("embeddings",),
    Kind.ALIGNED: (),
    Kind.INITIALIZER: (),  # its own section, see _slice
    Kind.PAIRS: ("generation",),
    Kind.EXPANDER: ("seq2seq", "training"),
    Kind.SUMMARIZER: ("seq2seq", "training"),
}
THRESHOLDED = ("pr-thr", "mu1")  # the initializers that look at validation pairs
_FREE = ("plan.iterations", "plan.together", "decoding.")


@dataclass(frozen=True)
class Run:
    """A run folder whose run.json and recipe.toml are in place."""

    folder: Path
    recipe: recipes.Recipe
    inputs: Inputs
    aligned_limits: tuple[int, ...] = ()

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Read a run that exists."""
        try:
            table = json.loads((folder / RUN).read_text("utf-8"))
            if table["format"] != FORMAT:
                raise RunError(f"{folder / RUN}: format {table['format']}, expected {FORMAT}; made by another version")
            sources = table["inputs"]
            inputs = Inputs(
                Source(**sources["texts"]),
                Source(**sources["summaries"]),
                Source(**sources["valid"]) if sources["valid"] else None,
                Source(**sources["aligned"]) if sources["aligned"] else None,
            )
            stored = recipes.parse((folder / RECIPE).read_text("utf-8"), str(folder / RECIPE))
            return cls(folder, stored, inputs, tuple(table["aligned_limits"]))
        except FileNotFoundError as error:
            if Path(error.filename).name == RECIPE:
                raise RunError(f"{error.filename}: missing. Put it back, or train into another folder") from error
            there = "is no run folder" if folder.exists() else "does not exist"
            raise RunError(f"{folder}: {there} (no {RUN}). `nutgraf train --out {folder}` makes one") from None
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{folder / RUN}: damaged ({error}). Train into another folder with --out") from error

    @classmethod
    def create(cls, folder: Path, asked: recipes.Recipe, inputs: Inputs, limits: Sequence[int] = ()) -> Run:
        """Open the folder for this work: a new run, or the same one as before; another one is an error."""
        if (folder / RUN).exists():
            return cls._again(cls.open(folder), asked, inputs, tuple(limits))
        run = cls(folder, asked, inputs, tuple(limits))
        run._write()
        return run

    @classmethod
    def _again(cls, before: Run, asked: recipes.Recipe, inputs: Inputs, limits: tuple[int, ...]) -> Run:
        iterations = max(before.recipe.plan.iterations, asked.plan.iterations)
        together = before.recipe.plan.together or asked.plan.together
        kept = replace(asked, plan=replace(asked.plan, iterations=iterations, together=together))
        kept_inputs = replace(inputs, aligned=inputs.aligned or before.inputs.aligned)
        run = cls(before.folder, kept, kept_inputs, tuple(dict.fromkeys([*before.aligned_limits, *limits])))
        if spoilt := run._spoils(before):
            differences = [*_recipe_differences(before.recipe, asked), *_input_differences(before.inputs, inputs)]
            raise RunError(
                f"--out {before.folder}: holds another run, nothing was changed. It differs in\n  "
                + "\n  ".join(differences)
                + f"\nfor which {', '.join(spoilt)} would have to be made anew. "
                + "Give what the run was begun with, or another --out"
            )
        if run != before:
            run._write()
        return run

    def _spoils(self, before: Run) -> list[str]:
        """Return the steps of the run as it was, done or begun, that would be something else in this one."""
        old, new = (run.keys(run.plan()) for run in (before, self))
        return [name for name in old if self.step_folder(name).exists() and name in new and old[name] != new[name]]

    def _write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        table = {"format": FORMAT, "inputs": asdict(self.inputs), "aligned_limits": self.aligned_limits}
        records.write_atomically(self.folder / RECIPE, self.recipe.to_toml().encode())
        records.write_atomically(self.folder / RUN, json.dumps(table, indent=1).encode())

    def plan(self) -> tuple[Step, ...]:
        """Return the steps of everything that was asked of the run so far."""
        return make_plan(self.recipe.plan, self.inputs.aligned is not None, self.aligned_limits)

    def step_folder(self, name: str) -> Path:
        """Return where a step's files are."""
        return self.folder / STEPS / name

    def keys(self, steps: Sequence[Step]) -> dict[str, str]:
        """Return the key of each step; each comes after its needs."""
        keys: dict[str, str] = {}
        for step in steps:
            facts = {
                "step": step.name,
                "version": VERSIONS[step.kind],
                "seed": self.recipe.seed,
                "recipe": {name: asdict(getattr(self.recipe, name)) for name in _slice(step)},
                "files": _digests(step, self.inputs),
                "needs": [keys[name] for name in step.needs],
            }
            keys[step.name] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        return keys

    def finished(self, name: str) -> Manifest | None:
        """Return the manifest of a step that is done; a DamagedError names the file that is not what was written."""
        manifest = records.read(self.step_folder(name))
        if manifest is not None:
            records.verify(self.step_folder(name), manifest)
        return manifest

    def intact(self, name: str) -> Path:
        """Return the folder of a step that must be done and whole, to load it."""
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
        return in_order(path.parent.name for path in self.folder.glob(f"{STEPS}/*/{records.MANIFEST}"))


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder; the lock goes when the process does, however it ends.

    A folder that is in use for something else is an error, and is left as it is.
    """
    if folder.exists() and not folder.is_dir():
        raise RunError(f"--out {folder}: a file. Name a folder that does not exist yet")
    if folder.exists() and not (folder / RUN).exists() and any(path.name not in _FIRST for path in folder.iterdir()):
        raise RunError(f"--out {folder}: not empty and no run folder. Name a folder that does not exist yet")
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        yield


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{folder}: another process is training there. Wait for it, or name another --out") from None
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is training in the folder."""
    if not (folder / LOCK).exists():
        return False
    try:
        with _lock(folder):
            return False
    except RunError:
        return True


def _slice(step: Step) -> tuple[str, ...]:
    if step.kind is Kind.INITIALIZER:
        return (step.chain.replace("-", "_"),)
    apart = ("pr_thr",) if step.name in (OF_TEXTS, OF_SUMMARIES) else ()
    return (*_SECTIONS[step.kind], *apart)


def _digests(step: Step, inputs: Inputs) -> list[str]:
    sources: dict[Kind, tuple[Source | None, ...]] = {
        Kind.TEXT: (inputs.texts, inputs.summaries),
        Kind.CASING: (inputs.texts, inputs.summaries),
        Kind.INITIALIZER: (inputs.valid if step.chain in THRESHOLDED else None,),
        Kind.ALIGNED: (inputs.aligned,),
    }
    return [source.digest for source in sources.get(step.kind, ()) if source]


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
