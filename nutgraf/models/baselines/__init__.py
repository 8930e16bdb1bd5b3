"""Other systems of the paper's tables, and since: each is a module of this room.

The module of `pre-dae` is `pre_dae`. It has three functions, `train`, `load` and `estimate`; what they make is used as
an initializer is: hc-0 summarizes, and may start a chain. Those that also learn from aligned pairs have
`train_with_pairs`; mass has not, for its pre-trained model learns from them as any seq2seq model does. `run.systems`
has a row for each, and its settings are a section of the recipe. A module imports what only training needs inside
`train`, if it summarizes without that.
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
from nutgraf.recipe import BASELINES, WITH_PAIRS, Recipe
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.run.sizes import Sizes
from nutgraf.text.lexicon import Vocab
from nutgraf.text.prepare import Prepared
from nutgraf.text.selection import Sentences

if TYPE_CHECKING:
    from nutgraf.learning.loop import Job
    from nutgraf.models.initializers import Initializer
    from nutgraf.models.seq2seq import Seq2seq


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


class Models(Material, Protocol):
    """The same, and seq2seq models, for baselines that are made of some."""

    def new_model(self, source: str, target: str, settings: Settings, seed: str) -> Seq2seq:
        """Return an untrained model from one vocabulary to another: F, S or joint. One that copies has joint ones."""

    def trained_model(self, name: str) -> Seq2seq:
        """Return the seq2seq model of another step, which must be among the needs."""


@dataclass(frozen=True)
class Pairs:
    """Aligned pairs, and how many steps a seq2seq model learns from them alone."""

    texts: Sentences
    summaries: Sentences
    steps: int


@dataclass(frozen=True)
class Seconds:
    """How long a baseline may take on one thread."""

    training: float
    summary: float  # of one text


class Baseline(Protocol):
    """A module of this room."""

    def train(self, material: Models, job: Job) -> Initializer:
        """Make the model; all randomness comes from the job's key."""

    def train_with_pairs(self, material: Models, pairs: Pairs, job: Job) -> Initializer:
        """Make the model with the help of aligned pairs; only some have this function."""

    def load(self, folder: Path) -> Initializer:
        """Read what the model's `save` wrote; a RunError names a file that is something else."""

    def estimate(self, recipe: Recipe, sizes: Sizes) -> Seconds:
        """Return how long it may take."""


def of(name: str) -> Baseline:
    """Return a baseline by its name, hc; what it imports is imported now."""
    if name not in (*BASELINES, *WITH_PAIRS):
        raise ValueError(f"{name!r} is none of {(*BASELINES, *WITH_PAIRS)}")
    return cast(Baseline, import_module(f"{__name__}.{name.replace('-', '_')}"))
