"""The neural start of Lample et al. 2018: one encoder for both sides, denoising both ways, then back-translation.

Two seq2seq models, texts -> summaries and summaries -> texts, have one encoder and one table of embeddings; each has
its own decoder. At first each decoder learns to restore real sentences of its own side from noised ones. Since both
sides are encoded alike, either decoder can then read the other side, too. So, from a third of the steps on, each side
is also translated by the models as they are (greedily), and each model learns to get the real sentence back; denoising
counts less and less. The paper (Section 3.1) says that this relies on both sides having similar lengths and content.

Noise: words move by at most 3 places, a tenth is dropped, a fifth of the others is blanked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf import recipe as recipes
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Fit, Job, Point, fit
from nutgraf.learning.search import Sampling, sample
from nutgraf.models.baselines import Models, Seconds
from nutgraf.models.baselines.streams import Stream, numbers
from nutgraf.models.baselines.trained import Trained, load, training_seconds, writing_seconds
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.learn import fit_of
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.recipe import Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids

__all__ = ["estimate", "load", "train"]

MOVED = 3  # places that a word moves at most
DROPPED, BLANKED = 0.1, 0.2
ALONE = 1 / 3  # share of the steps in which there is only denoising
LAST_WEIGHT = 0.1  # of denoising, at the last step


def jitter(words: Ids, rng: np.random.Generator) -> Ids:
    """Return a sentence with its noise; at least one word stays."""
    order = np.argsort(np.arange(len(words)) + rng.uniform(0, MOVED + 1, len(words)), kind="stable")
    kept = rng.random(len(words)) >= DROPPED
    if not kept.any():
        kept[rng.integers(0, len(words))] = True
    moved = words[order[kept[order]]]
    return np.where(rng.random(len(moved)) < BLANKED, UNK, moved).astype(np.int32)


class TwoWay(nn.Module):
    """A summarizer and an expander that share their encoder and their embeddings."""

    def __init__(self, summarizer: Seq2seq, expander: Seq2seq):
        super().__init__()
        expander.encoder, expander.target_table = summarizer.encoder, summarizer.target_table
        expander.own_source_table = summarizer.own_source_table
        self.summarizer = summarizer
        # What is the expander's own. It is no submodule itself: each weight is registered once.
        self.decoder, self.bias, self.gate = expander.decoder, expander.bias, expander.gate
        self._expander = (expander,)

    @property
    def expander(self) -> Seq2seq:
        """The model that turns summaries into texts."""
        return self._expander[0]


@dataclass(frozen=True)
class Languages:
    """Both piles, and how they are translated while the models learn."""

    texts: Corpus
    summaries: Corpus
    generation: recipes.Generation
    shortlist: int
    batch: int
    key: str


class Lesson:
    """What is minimised at each step."""

    def __init__(self, model: TwoWay, languages: Languages, steps: int):
        self.model, self.languages, self.steps = model, languages, steps
        self.texts = Stream(languages.texts, languages.batch, f"{languages.key}.F")
        self.summaries = Stream(languages.summaries, languages.batch, f"{languages.key}.S")

    def __call__(self, indices: NDArray[np.int64]) -> Tensor:
        """Return the loss of a step, which is given by its number."""
        step = int(indices[0])
        texts, summaries = self.texts(step), self.summaries(step)
        loss = self.denoising_loss(texts, summaries, step)
        if step < ALONE * self.steps:
            return loss
        return self.weight(step) * loss + self.translation_loss(texts, summaries)

    def weight(self, step: int) -> float:
        """Return how much denoising counts: 1 until there is back-translation, then less and less."""
        first = ALONE * self.steps
        return 1 - (1 - LAST_WEIGHT) * max(0.0, step - first) / max(1.0, self.steps - 1 - first)

    def denoising_loss(self, texts: Sequence[Ids], summaries: Sequence[Ids], step: int) -> Tensor:
        """Return how badly each side is restored by its own decoder."""
        rng = np.random.default_rng(seed_of(self.languages.key, "noise", step))
        noised = [[jitter(words, rng) for words in side] for side in (texts, summaries)]
        return self._loss(self.model.expander, noised[0], texts) + self._loss(
            self.model.summarizer, noised[1], summaries
        )

    def translation_loss(self, texts: Sequence[Ids], summaries: Sequence[Ids]) -> Tensor:
        """Return how badly each side is restored from its translation by the models as they are."""
        model = self.model
        short, long = self.translate(model.summarizer, texts), self.translate(model.expander, summaries)
        return self._loss(model.expander, short, texts) + self._loss(model.summarizer, long, summaries)

    def translate(self, model: Seq2seq, sentences: Sequence[Ids]) -> list[Ids]:
        """Return the most probable word after the other, for each sentence."""
        settings = self.languages.generation
        longest = settings.max_summary_words if model is self.model.summarizer else settings.max_text_words
        greedy = Sampling(1, 1, longest, settings.batch, unk=not model.settings.copy)
        found = sample(ConvDecoder(model, settings.output_words), sentences, greedy, seed=0)
        self.model.train()
        return found

    def _loss(self, model: Seq2seq, sources: Sequence[Ids], targets: Sequence[Ids]) -> Tensor:
        device = model.bias.device
        return model.loss(pad_batch(sources).to(device), pad_batch(targets).to(device), self.languages.shortlist)


def learn_both(model: TwoWay, languages: Languages, fitting: Fit, job: Job) -> list[Point]:
    """Train both models; there is no pair to validate on, so all steps are done."""
    lesson = Lesson(model, languages, fitting.steps)
    return fit(model, lesson, numbers, replace(fitting, patience=0), job)


def train(material: Models, job: Job) -> Trained:
    """Train a summarizer and an expander; only the summarizer is kept."""
    recipe, prepared = material.recipe, material.prepared
    settings = recipe.training
    summarizer, expander = (
        material.new_model("joint", "joint", recipe.seq2seq, f"{job.key}.{side}") for side in ("S", "F")
    )
    languages = Languages(
        prepared.texts, prepared.summaries, recipe.generation, settings.shortlist, settings.batch, job.key
    )
    fitting = fit_of(settings, recipe.nmt.steps, settings.learning_rate)
    return Trained(summarizer, learn_both(TwoWay(summarizer, expander), languages, fitting, job))


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take: denoising in all steps, translation and learning from it in two thirds."""
    long, short = sizes.text_words, sizes.summary_words
    made_long, made_short = recipe.generation.max_text_words, recipe.generation.max_summary_words
    pairs = recipe.nmt.steps * recipe.training.batch
    denoising = sum(training_seconds(recipe, pairs, words, words) for words in (long, short))
    learning = training_seconds(recipe, pairs, made_short, long) + training_seconds(recipe, pairs, made_long, short)
    writing = pairs * (writing_seconds(recipe, long, made_short) + writing_seconds(recipe, short, made_long))
    return Seconds(denoising + (1 - ALONE) * (learning + writing), writing_seconds(recipe, long, short))
