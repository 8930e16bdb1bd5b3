"""Other systems of the paper's tables, and since: each learns from no pairs, and is a module of this room.

The module of `pre-dae` would be `pre_dae`. It has three functions, `train`, `load` and `estimate`; what they make is
used as an initializer is: hc-0 summarizes, and may start a chain. `run.systems` has a row for each, and its settings
are a section of the recipe. A module imports what only training needs inside `train`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from nutgraf.hardware import Hardware
from nutgraf.recipe import BASELINES, Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.text.lexicon import Vocab
from nutgraf.text.prepare import Prepared

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job
    from nutgraf.models.initializers import Initializer


class Material(Protocol):
    """What a baseline may be made from; its row in `run.systems` must name the steps and the settings that it uses."""

    recipe: Recipe
    hardware: Hardware

    @property
    def prepared(self) -> Prepared:
        """The two corpora and their lexicon."""

    @property
    def vocabularies(self) -> Mapping[str, Vocab]:
        """V^F, V^S and the joint list, by F, S and joint."""

    def vectors(self, name: str, vocab: Vocab) -> NDArray[np.float32]:
        """Return the vectors of a vocabulary's words, row by row, from an embeddings step."""


@dataclass(frozen=True)
class Seconds:
    """How long a baseline may take on one thread."""

    training: float
    summary: float  # of one text


class Baseline(Protocol):
    """A module of this room."""

    def train(self, material: Material, job: Job) -> Initializer:
        """Make the model; all randomness comes from the job's key."""

    def load(self, folder: Path) -> Initializer:
        """Read what the model's `save` wrote; a RunError names a file that is something else."""

    def estimate(self, recipe: Recipe, sizes: Sizes) -> Seconds:
        """Return how long it may take."""


def of(name: str) -> Baseline:
    """Return a baseline by its name, hc; what it imports is imported now."""
    if name not in BASELINES:
        raise ValueError(f"{name!r} is none of {BASELINES}")
    return cast(Baseline, import_module(f"{__name__}.{name.replace('-', '_')}"))
