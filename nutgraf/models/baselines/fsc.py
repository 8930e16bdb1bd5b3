"""FSC (Miao and Blunsom 2016): compression by forced attention, which also learns from texts without summaries.

A summary c is a hidden variable of its text s: p(s) = sum_c p(c) p(s | c). Three models share the work:

- q(c | s), the compressor: our seq2seq that copies. Its pointer alone, which can only choose words of the text, writes
  compressions to learn from; the same pointer, mixed with the vocabulary (FSC), writes summaries for people.
- p(s | c), the reconstructor: a seq2seq from compressions to texts.
- p(c), the prior: trigrams of real summaries.

Of texts without summaries, the lower bound E_q[log p(s | c)] - lambda KL(q(c | s) || p(c)) is made larger. With respect
to q it is REINFORCE with the signal log p(s | c) - lambda (log q(c | s) - log p(c)), less a baseline that is predicted
from the text, and less the batch's mean, divided by the batch's deviation where that is above 1. Of aligned pairs, the
log-probabilities of c given s and of s given c are made larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf import recipe as recipes
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Fit, Job, Point, fit
from nutgraf.models.baselines import Models, Pairs, Seconds
from nutgraf.models.baselines.reinforce import Drawn, draw, policy_loss
from nutgraf.models.baselines.streams import PairStream, Stream, numbers
from nutgraf.models.baselines.trained import Trained, load, training_seconds, writing_seconds
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq, linear
from nutgraf.recipe import Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.seeds import seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import PAD, Ids
from nutgraf.text.selection import Sentences
from nutgraf.text.trigrams import Trigrams

__all__ = ["estimate", "load", "train_with_pairs"]

ALWAYS = -40.0  # the gate's value at which every word is copied
SCORED = 100  # words of the vocabulary that are scored all the same: none of them is ever written
CLIP = 1.0


def pointer_of(model: Seq2seq) -> Seq2seq:
    """Return the same model, with the same weights, that only points at words of the text or at its end."""
    blank = [np.zeros((len(vocab), model.target_table.shape[1]), np.float32) for vocab in (model.source, model.target)]
    pointer = Seq2seq(model.source, model.target, model.settings, blank[0], blank[1], torch.Generator())
    pointer.encoder, pointer.decoder = model.encoder, model.decoder
    pointer.target_table, pointer.bias = model.target_table, model.bias
    gate = linear(model.settings.width, 1, torch.Generator()).requires_grad_(False).to(model.bias.device)
    gate.gain.zero_()
    gate.bias.fill_(ALWAYS)
    pointer.gate = gate
    return pointer.to(model.bias.device)


class Compression(nn.Module):
    """What learns: the compressor, the reconstructor, and the prediction of the signal."""

    def __init__(self, compressor: Seq2seq, reconstructor: Seq2seq):
        super().__init__()
        self.compressor, self.reconstructor = compressor, reconstructor
        self.baseline = nn.Linear(compressor.target_table.shape[1], 1)
        nn.init.zeros_(self.baseline.weight)
        nn.init.zeros_(self.baseline.bias)
        self._pointer = (pointer_of(compressor),)  # no submodule: its weights are the compressor's

    @property
    def pointer(self) -> Seq2seq:
        """The compressor that only points."""
        return self._pointer[0]

    def predict(self, source: Tensor) -> Tensor:
        """Return the signal that is expected of each text (B,), from the mean of its encoding."""
        with torch.no_grad():
            encoded = self.compressor.encode(source)
            real = (~encoded.pad)[:, :, None]
            mean = (encoded.values * real).sum(1) / real.sum(1)
        found: Tensor = self.baseline(mean).squeeze(1)
        return found


def signal(restored: Tensor, written: Tensor, prior: Tensor, weight: float) -> Tensor:
    """Return log p(s | c) - weight (log q(c | s) - log p(c)), each (B,)."""
    return restored - weight * (written - prior)


def normalise(signals: Tensor) -> Tensor:
    """Return signals less their mean, divided by their standard deviation where that is above 1."""
    centred = signals - signals.mean()
    return centred / centred.square().mean().sqrt().clamp_min(1.0)


@dataclass(frozen=True)
class Sources:
    """Texts without summaries, aligned pairs, what summaries read like, and how compressions are written."""

    texts: Corpus
    pairs: tuple[Sentences, Sentences]
    prior: Trigrams
    longest: int  # compression, in words
    shortlist: int


class Lesson:
    """What is minimised at each step."""

    def __init__(self, model: Compression, sources: Sources, settings: recipes.Fsc, key: str):
        self.model, self.sources, self.settings, self.key = model, sources, settings, key
        self.texts = Stream(sources.texts, settings.batch, f"{key}.F")
        self.pairs = PairStream(*sources.pairs, settings.batch, f"{key}.pairs")

    def __call__(self, indices: NDArray[np.int64]) -> Tensor:
        """Return the loss of a step's pairs and of its texts."""
        step = int(indices[0])
        self.model.train()
        loss = self.pairs_loss(*self.pairs(step))
        return loss + self.settings.reward_weight * self.texts_loss(self.texts(step), step)

    def pairs_loss(self, texts: Sequence[Ids], summaries: Sequence[Ids]) -> Tensor:
        """Return how badly summaries are written from their texts, and texts restored from their summaries."""
        source, target = self._tensor(texts), self._tensor(summaries)
        written = self.model.compressor.loss(source, target, self.sources.shortlist)
        return written + self.model.reconstructor.loss(target, source, self.sources.shortlist)

    def texts_loss(self, texts: Sequence[Ids], step: int) -> Tensor:
        """Return what has the gradient of the lower bound, negative; dropout is off."""
        model = self.model.eval()
        drawn = draw(model.pointer, texts, self.sources.longest, SCORED, seed_of(self.key, "drawn", step))
        source = self._tensor(texts)
        log_probs = model.pointer.log_probs(source, drawn.words, self.sources.shortlist)
        restored = model.reconstructor.log_probs(drawn.words, source, self.sources.shortlist).sum(1)
        signals = normalise(self.signals(log_probs, restored, drawn))
        expected = model.predict(source)
        returns = (signals - expected.detach())[:, None].expand_as(log_probs)
        words = (source != PAD).sum()
        fitted = (signals - expected).square().mean()
        return policy_loss(log_probs, drawn, returns) - restored.sum() / words + fitted

    def signals(self, log_probs: Tensor, restored: Tensor, drawn: Drawn) -> Tensor:
        """Return the signal of each compression (B,); no gradient goes through it."""
        bits = self.sources.prior.bits(drawn.sentences)
        prior = torch.from_numpy(-math.log(2) * bits).to(restored)
        written = (log_probs * drawn.chosen).sum(1)
        return signal(restored.detach(), written.detach(), prior, self.settings.prior_weight)

    def _tensor(self, sentences: Sequence[Ids]) -> Tensor:
        return pad_batch(sentences).to(self.model.compressor.bias.device)


def learn_all(model: Compression, sources: Sources, settings: recipes.Fsc, job: Job) -> list[Point]:
    """Learn from pairs and from texts alone, together; all steps are done."""
    lesson = Lesson(model, sources, settings, job.key)
    fitting = Fit(settings.steps, settings.learning_rate, CLIP, validate_every=max(1, settings.steps // 20))
    return fit(model, lesson, numbers, fitting, job, factors={"compressor": 1.0, "reconstructor": 1.0})


def train_with_pairs(material: Models, pairs: Pairs, job: Job) -> Trained:
    """Let both models learn from the pairs alone, then from texts without summaries, too."""
    recipe, prepared, settings = material.recipe, material.prepared, material.recipe.training
    copying = replace(recipe.seq2seq, copy=True)  # it has a pointer, whatever the others have
    sides, models = [pairs.texts, pairs.summaries], []
    for name, (source, target) in {"compressor": sides, "reconstructor": sides[::-1]}.items():
        model = material.new_model("joint", "joint", copying, f"{job.key}.{name}")
        fitting = fit_of(settings, pairs.steps, settings.learning_rate)
        first = replace(job, key=f"{job.key}.{name}", checkpoint=job.checkpoint / name if job.checkpoint else None)
        learn(model, source, target, settings, fitting, first)
        models.append(model)
    prior = Trigrams.train(prepared.summaries, prepared.lexicon)
    sources = Sources(
        prepared.texts, (sides[0], sides[1]), prior, recipe.generation.max_summary_words, settings.shortlist
    )
    history = learn_all(Compression(models[0], models[1]).to(models[0].bias.device), sources, recipe.fsc, job)
    return Trained(models[0], history)


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long it may take besides the summarizer's own learning from pairs."""
    settings, long, short = recipe.fsc, sizes.text_words, sizes.summary_words
    count = settings.steps * settings.batch
    taught = recipe.training.all_steps * recipe.training.batch  # the reconstructor, at most
    both = training_seconds(recipe, 2 * count, long, short) + training_seconds(recipe, 2 * count + taught, short, long)
    written = writing_seconds(recipe, long, recipe.generation.max_summary_words)
    return Seconds(both + count * written, writing_seconds(recipe, long, short))
