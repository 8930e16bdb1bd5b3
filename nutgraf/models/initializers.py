"""The initializers by their names: the paper's three (Section 3.1), `near`, and the baselines, which are used alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from nutgraf.errors import RunError
from nutgraf.extras import need_extra, need_torch
from nutgraf.models import baselines
from nutgraf.models.mu1 import Mu1
from nutgraf.models.pr_thr import PrThr
from nutgraf.recipe import INITIALIZERS
from nutgraf.text.lexicon import Ids


class Initializer(Protocol):
    """A summarizer of word ids that can be saved."""

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""

    def save(self, folder: Path) -> None:
        """Write the model's files."""


def load_initializer(chain: str, folder: Path, lexicon: int | None = None) -> Initializer:
    """Read an initializer by the name of its chain; `lexicon` is the number of words that it must be for, if known."""
    model = _load(chain, folder)
    if lexicon is not None and model.lexicon_size != lexicon:
        raise RunError(f"{folder}: made for a lexicon of {model.lexicon_size:,} words, and this one has {lexicon:,}")
    return model


def _load(chain: str, folder: Path) -> Initializer:
    if chain not in INITIALIZERS:
        return baselines.of(chain).load(folder)
    if chain == "pr-thr":
        return PrThr.load(folder)
    if chain == "near":
        need_extra("train", "near-0")
        from nutgraf.models.near import Near

        return Near.load(folder)
    if chain == "mu1":
        return Mu1.load(folder)
    need_torch(f"{chain}-0")
    from nutgraf.models.dbae import Dbae

    return Dbae.load(folder)
