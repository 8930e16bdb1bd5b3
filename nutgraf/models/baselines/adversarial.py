"""Adversarial REINFORCE (Wang and Lee 2018): summaries that a critic takes for real ones, and that tell their text.

- The generator writes summaries of texts. It starts from Pre-DAE, and learns from rewards (REINFORCE).
- The critic, an LSTM over words, tells real summaries from the generator's after each word. Its reward for a word is
  2 D - 1, less the mean over the batch at that place; rewards of later words count, each place 0.3 times as much.
- The reconstructor restores the text from the summary. Its reward, for all words alike, is the text's mean
  log-probability given the drawn summary, less that given the most probable one (a self-critical baseline), less the
  mean over the batch: nearly all that is drawn earns less than the most probable, and all would be made improbable.

All three learn in every step from the same batch; at first the generator waits. Where aligned pairs are given, the
generator also learns from a batch of them in every step. Nothing here reads pairs unless it is given some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf import recipe as recipes
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.loop import Fit, Job, Point, fit
from nutgraf.models.arithmetic import TRAINING_FLOPS
from nutgraf.models.baselines import Models, Pairs, Seconds
from nutgraf.models.baselines.reinforce import (
    Drawn,
    discount,
    draw,
    draw_best,
    mean_log_probs,
    never_write,
    policy_loss,
)
from nutgraf.models.baselines.streams import PairStream, Stream, numbers
from nutgraf.models.baselines.trained import Trained, load, training_seconds, writing_seconds
from nutgraf.models.learn import fit_of, learn
from nutgraf.models.seq2seq import Seq2seq, local
from nutgraf.recipe import Recipe
from nutgraf.run.sizes import Sizes
from nutgraf.run.systems import JOINT
from nutgraf.seeds import generator_of, seed_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import PAD, Ids, Vocab
from nutgraf.text.selection import Sentences

__all__ = ["estimate", "load", "train", "train_with_pairs"]

START = "pre-dae-0"
CLIP = 5.0  # largest norm of a gradient, of each of the three


class Critic(nn.Module):
    """Tells real summaries from others, after each word."""

    known: Tensor  # (lexicon,) lexicon id -> the vocabulary's

    def __init__(self, vocab: Vocab, vectors: NDArray[np.float32], width: int, generator: torch.Generator):
        super().__init__()
        self.table = nn.Parameter(torch.from_numpy(vectors.copy()))
        self.lstm = nn.LSTM(vectors.shape[1], width, batch_first=True)
        self.leave = nn.Linear(width, 1)
        self.register_buffer("known", torch.from_numpy(vocab.table.astype(np.int64)), persistent=False)
        with torch.no_grad():
            for parameter in [*self.lstm.parameters(), *self.leave.parameters()]:
                drawn = torch.rand(parameter.shape, generator=generator)
                parameter.copy_((2 * drawn - 1) * width**-0.5)

    def forward(self, words: Tensor) -> Tensor:
        """(B, T) lexicon ids -> (B, T): above 0 where the words so far look real."""
        states, _ = self.lstm(F.embedding(local(self.known, words), self.table))
        found: Tensor = self.leave(states).squeeze(2)
        return found

    def loss(self, real: Tensor, made: Tensor) -> Tensor:
        """Return -log D(real) - log(1 - D(made)), each the mean over its words."""
        return F.softplus(-self(real))[real != PAD].mean() + F.softplus(self(made))[made != PAD].mean()


def word_rewards(logits: Tensor, chosen: Tensor) -> Tensor:
    """Return 2 D - 1 of each word, less the mean over the sentences that have a word at that place (B, T)."""
    scores = (2 * torch.sigmoid(logits) - 1) * chosen
    means = scores.sum(0) / chosen.sum(0).clamp_min(1)
    return (scores - means) * chosen


class Game(nn.Module):
    """The three models."""

    def __init__(self, generator: Seq2seq, reconstructor: Seq2seq, critic: Critic):
        super().__init__()
        self.generator, self.reconstructor, self.critic = generator, reconstructor, critic


@dataclass(frozen=True)
class Sources:
    """What is learned from, and how sentences are written meanwhile."""

    texts: Corpus
    summaries: Corpus
    pairs: tuple[Sentences, Sentences] | None
    longest: int  # summary, in words
    shortlist: int


class Lesson:
    """What is minimised at each step."""

    def __init__(self, game: Game, sources: Sources, settings: recipes.Adversarial, key: str):
        self.game, self.sources, self.settings, self.key = game, sources, settings, key
        self.texts = Stream(sources.texts, settings.batch, f"{key}.F")
        self.summaries = Stream(sources.summaries, settings.batch, f"{key}.S")
        self.pairs = PairStream(*sources.pairs, settings.batch, f"{key}.pairs") if sources.pairs else None

    def __call__(self, indices: NDArray[np.int64]) -> Tensor:
        """Return the sum of the three models' losses; each depends on its own weights alone.

        Dropout is off, as in the original: it would be most of the difference between two rewards.
        """
        step, game = int(indices[0]), self.game.eval()
        texts, real = self.texts(step), self.summaries(step)
        drawn = draw(game.generator, texts, self.sources.longest, 0, seed_of(self.key, "drawn", step))
        best = draw_best(game.generator, texts, self.sources.longest, 0)
        told = mean_log_probs(game.reconstructor, best.sentences, texts, self.sources.shortlist)
        loss = game.critic.loss(pad_batch(real).to(drawn.words.device), drawn.words) - told.mean()
        if step >= self.settings.alone * self.settings.steps:
            loss = loss + self.generator_loss(texts, drawn, told)
        return loss + self.pairs_loss(step) if self.pairs else loss

    def generator_loss(self, texts: Sequence[Ids], drawn: Drawn, told: Tensor) -> Tensor:
        """Return the policy's loss; `told` is how well the texts are restored from the most probable summaries."""
        source = pad_batch(texts).to(drawn.words.device)
        with torch.no_grad():
            returns = self.returns(texts, drawn, told)
        return policy_loss(self.game.generator.log_probs(source, drawn.words, self.sources.shortlist), drawn, returns)

    def returns(self, texts: Sequence[Ids], drawn: Drawn, told: Tensor) -> Tensor:
        """Return the reward of each word and of what follows it (B, T)."""
        restored = mean_log_probs(self.game.reconstructor, drawn.sentences, texts, self.sources.shortlist) - told
        restored = restored - restored.mean()
        rewards = discount(word_rewards(self.game.critic(drawn.words), drawn.chosen), self.settings.discount)
        return rewards + self.settings.reconstruction_weight * restored[:, None]

    def pairs_loss(self, step: int) -> Tensor:
        """Return the loss of real summaries of real texts."""
        assert self.pairs is not None
        device = self.game.generator.bias.device
        texts, summaries = (pad_batch(side).to(device) for side in self.pairs(step))
        return self.game.generator.train().loss(texts, summaries, self.sources.shortlist)


def play(game: Game, sources: Sources, settings: recipes.Adversarial, job: Job) -> list[Point]:
    """Let the three models play all steps."""
    lesson = Lesson(game, sources, settings, job.key)
    fitting = Fit(settings.steps, settings.generator_rate, CLIP, validate_every=max(1, settings.steps // 20))
    rates = {"critic": settings.critic_rate, "reconstructor": settings.reconstructor_rate}
    factors = {name: rate / settings.generator_rate for name, rate in rates.items()}
    return fit(game, lesson, numbers, fitting, job, factors=factors)


def train(material: Models, job: Job) -> Trained:
    """Play without any pair."""
    return _train(material, material.trained_model(START), None, job)


def train_with_pairs(material: Models, pairs: Pairs, job: Job) -> Trained:
    """Let the generator learn from the pairs alone, then play with them at hand."""
    generator, settings = material.trained_model(START), material.recipe.training
    fitting = fit_of(settings, pairs.steps, settings.learning_rate)
    first = replace(job, checkpoint=job.checkpoint / "pairs" if job.checkpoint else None)
    learn(generator, pairs.texts, pairs.summaries, settings, fitting, first)
    return _train(material, generator, (pairs.texts, pairs.summaries), job)


def _train(material: Models, generator: Seq2seq, pairs: tuple[Sentences, Sentences] | None, job: Job) -> Trained:
    recipe, prepared = material.recipe, material.prepared
    settings, longest = recipe.adversarial, recipe.generation.max_summary_words
    reconstructor = material.new_model("S", "F", recipe.seq2seq, f"{job.key}.reconstructor")
    never_write(generator)
    vocab = generator.target
    critic = Critic(vocab, material.vectors(JOINT, vocab), settings.critic_width, generator_of(job.key, "critic"))
    game = Game(generator, reconstructor, critic.to(generator.bias.device))
    sources = Sources(prepared.texts, prepared.summaries, pairs, longest, recipe.training.shortlist)
    return Trained(generator, play(game, sources, settings, job))


def estimate(recipe: Recipe, sizes: Sizes) -> Seconds:
    """Return how long the game may take: two summaries are written, each is read by the others, and all learn."""
    settings, long, short = recipe.adversarial, sizes.text_words, recipe.generation.max_summary_words
    count = settings.steps * settings.batch
    writing = 2 * count * writing_seconds(recipe, long, short)
    critic = count * 2 * 3 * short * 16 * settings.critic_width**2 / TRAINING_FLOPS
    learning = training_seconds(recipe, count, long, short) + training_seconds(recipe, count, short, long, passes=4)
    return Seconds(writing + critic + learning, writing_seconds(recipe, long, sizes.summary_words))
