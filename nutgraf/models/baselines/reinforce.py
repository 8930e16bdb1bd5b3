"""REINFORCE (Williams 1992): a model writes summaries at random, and those that earn more become more probable.

The gradient of the expected reward is that of sum_t R_t log p(y_t | y_<t, x), averaged over drawn y: R_t is the reward
of the words from t on, less anything that does not depend on the words from t on. Dropout must be off, so that words
are drawn by the probabilities that are then made larger. Nor may a model find anything probable that is never drawn:
all that earns too little would become that. So an end may come first, too, and `never_write` is for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nutgraf.learning.batches import pad_batch
from nutgraf.learning.search import Sampling, sample
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.text.lexicon import PAD, UNK, Ids

CANDIDATES = (
    300  # most probable words that one is drawn from, besides the source's own; the others have next to nothing
)
IMPOSSIBLE = -40.0  # bias of a word; others are near 0


@dataclass(frozen=True)
class Drawn:
    """Sentences that a model wrote."""

    sentences: list[Ids]
    words: Tensor  # (B, T) each sentence, EOS, then PAD
    chosen: Tensor  # (B, T) 1 for what the model chose: not PAD, and no EOS that the longest length forced

    @classmethod
    def of(cls, sentences: list[Ids], longest: int, device: torch.device) -> Drawn:
        """Return sentences that were written with this longest length."""
        words = pad_batch(sentences).to(device)
        chosen = (words != PAD) & (torch.arange(words.shape[1], device=device) < longest)
        return cls(sentences, words, chosen.float())


def never_write(model: Seq2seq) -> None:
    """Make PAD and UNK as good as impossible, which `draw` does not draw."""
    with torch.no_grad():
        model.bias[[PAD, UNK]] = IMPOSSIBLE


def draw(model: Seq2seq, sources: Sequence[Ids], longest: int, output_words: int, seed: int) -> Drawn:
    """Write one sentence per source at random, an empty one perhaps; the model is left in evaluation mode."""
    return _write(model, sources, Sampling(CANDIDATES, 0, longest, len(sources), unk=False), output_words, seed)


def draw_best(model: Seq2seq, sources: Sequence[Ids], longest: int, output_words: int) -> Drawn:
    """Write one sentence per source, the most probable word after the other."""
    return _write(model, sources, Sampling(1, 1, longest, len(sources), unk=False), output_words, seed=0)


def _write(model: Seq2seq, sources: Sequence[Ids], settings: Sampling, output_words: int, seed: int) -> Drawn:
    sentences = sample(ConvDecoder(model, output_words), sources, settings, seed)
    return Drawn.of(sentences, settings.max_words, model.bias.device)


def policy_loss(log_probs: Tensor, drawn: Drawn, returns: Tensor) -> Tensor:
    """Return what has the gradient of the expected reward, negative: log-probabilities and returns (B, T)."""
    return -(log_probs * returns.detach() * drawn.chosen).sum(1).mean()


def discount(rewards: Tensor, factor: float) -> Tensor:
    """Return R_t = r_t + factor R_{t+1}, for rewards (B, T)."""
    returns = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[:, 0])
    for place in reversed(range(rewards.shape[1])):
        following = rewards[:, place] + factor * following
        returns[:, place] = following
    return returns


def mean_log_probs(model: Seq2seq, sources: Sequence[Ids], targets: Sequence[Ids], shortlist: int) -> Tensor:
    """Return the mean log-probability of a word of each target, its end included (B,)."""
    device = model.bias.device
    wanted = pad_batch(targets).to(device)
    total = model.log_probs(pad_batch(sources).to(device), wanted, shortlist).sum(1)
    return total / (wanted != PAD).sum(1)
