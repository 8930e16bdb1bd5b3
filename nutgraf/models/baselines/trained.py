"""Baselines that are seq2seq models: how they are stored, and how long they may take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from nutgraf.learning.loop import Point, save_history
from nutgraf.models import storage
from nutgraf.models.arithmetic import GENERATION_FLOPS, TRAINING_FLOPS, forward
from nutgraf.models.baselines.reinforce import draw_best
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.recipe import Recipe
from nutgraf.text.lexicon import Ids

LONGEST = 30  # words of a summary that is not searched for


class Trained:
    """A trained model. The Summarizer searches its files as any seq2seq model's; called, it writes word after word."""

    def __init__(self, model: Seq2seq, history: Sequence[Point] = ()):
        self.model, self.history = model, history

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.model.target.table)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences, by the most probable word after the other."""
        return draw_best(self.model, sentences, LONGEST, 0).sentences if sentences else []

    def save(self, folder: Path) -> None:
        """Write the model's files, and its learning curve."""
        storage.save(self.model, folder)
        save_history(self.history, folder)


def load(folder: Path) -> Trained:
    """Read what `save` wrote; a RunError names a file that is something else."""
    return Trained(storage.load(folder, torch.device("cpu")))


def training_seconds(recipe: Recipe, pairs: float, source: float, target: float, passes: float = 3.0) -> float:
    """Return how long this many pairs may take: forward alone is one pass, with gradients it is three."""
    return pairs * passes * forward(recipe, source, target, recipe.training.shortlist) / TRAINING_FLOPS


def writing_seconds(recipe: Recipe, source: float, target: float) -> float:
    """Return how long it may take to write one sentence, word after word."""
    return forward(recipe, source, target, recipe.generation.output_words) / GENERATION_FLOPS
