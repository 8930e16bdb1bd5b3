"""What the steps of the tiny run make, in a few numbers that another processor's rounding does not change.

    make fingerprints     stores them in fingerprints.json, once VERSIONS in nutgraf/run/keys.py is raised

An array is projected on random signs and divided by its norm: rounding moves that by next to nothing, another random
stream or another formula by much more. Sentences count as the sum of their words, so that a single one that came out
differently moves it little.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file

from nutgraf.run.folder import Run
from nutgraf.run.keys import VERSIONS
from nutgraf.run.names import ALL, ModelName
from nutgraf.run.plan import Step
from nutgraf.text.corpus import Corpus

STORED = Path(__file__).with_name("fingerprints.json")
EQUAL = 1e-4  # what needs a step that differs by more may differ itself
TOLERANCE = {"npy": 0.2, "safetensors": 0.01, "json": 0.01}  # by kind of file
# Batch normalisation takes this bias out again: its gradient is rounding alone, of which Adam makes whole steps.
NOISE = "encoder.linear.bias"
Fingerprint = dict[str, float | str]


class Stored(TypedDict):
    """What is kept of a step."""

    version: int
    files: Fingerprint


def project(values: NDArray[np.float64]) -> float:
    """Return the projection of an array on random signs, as a multiple of its norm."""
    signs = np.random.default_rng(len(values)).choice([-1.0, 1.0], len(values))
    return float(signs @ values / (np.linalg.norm(values) or 1.0))


def fingerprint(folder: Path) -> Fingerprint:
    """Return a few numbers for the files of a step."""
    found: Fingerprint = {}
    for path in sorted(folder.iterdir()):
        name = path.name
        if name.endswith(".tokens.npy"):
            corpus = Corpus.open(folder, name.removesuffix(".tokens.npy"))
            found[name] = project(np.array([sentence.sum() for sentence in corpus], dtype=np.float64))
        elif name.endswith(".safetensors"):
            for key, tensor in load_file(path).items():
                if key != NOISE:
                    found[f"{name} {key}"] = project(tensor.astype(np.float64).ravel())
        elif name.endswith(".json") and name != "manifest.json":
            numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path.read_text("utf-8"))
            found[name] = project(np.array([float(number) for number in numbers]))
        elif name.endswith((".txt", ".tsv")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def difference(one: Fingerprint, other: Fingerprint) -> tuple[bool, bool]:
    """Return whether two fingerprints differ at all, and whether by more than rounding explains."""
    if one.keys() != other.keys():
        return True, True
    slightly = clearly = False
    for key, value in one.items():
        if isinstance(value, str):
            slightly = clearly = clearly or value != other[key]
        else:
            by, kind = abs(value - float(other[key])), key.split(" ")[0].rpartition(".")[2]
            slightly, clearly = slightly or by > EQUAL, clearly or by > TOLERANCE[kind]
    return slightly, clearly


def stored_name(step: Step) -> str:
    """Return the name that a step is stored by: All is another one where it learns from found pairs, too."""
    found = any(ModelName.of_pairs(name).finds for name in step.pairs)
    return f"{step.name} with near" if step.chain == ALL and found else step.name


def changed_without_a_version(run: Run, stored: Mapping[str, Stored]) -> list[str]:
    """Return the steps whose output changed, though neither their version nor anything that they need did."""
    changed: set[str] = set()
    blamed = []
    for step in run.plan():
        before = stored.get(stored_name(step))
        if before is None:  # a new one
            continue
        slightly, clearly = difference(fingerprint(run.step_folder(step.name)), before["files"])
        if clearly and before["version"] == VERSIONS[step.kind] and not changed & set(step.needs):
            blamed.append(step.name)
        if slightly:
            changed.add(step.name)
    return blamed


def current(run: Run) -> dict[str, Stored]:
    """Return what is to be stored of a run."""
    return {
        stored_name(step): {"version": VERSIONS[step.kind], "files": fingerprint(run.step_folder(step.name))}
        for step in run.plan()
    }


def main() -> None:
    from tests.tiny import add_near, train_tiny, write_corpus

    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        corpus = write_corpus(Path(folder))
        run = train_tiny(corpus, Path(folder) / "run")
        runs = [run, add_near(corpus, run, Path(folder) / "near")]
        stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
        if blamed := [name for run in runs for name in changed_without_a_version(run, stored)]:
            sys.exit(f"{', '.join(blamed)}: raise their kinds in VERSIONS (nutgraf/run/keys.py) first")
        found = {name: step for run in runs for name, step in current(run).items()}
        STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
