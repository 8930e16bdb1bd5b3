"""Decoders of torch: top-k sampling for artificial data, and the way to the beam search of `nutgraf.learning.beam`.

It knows no model. Decoders and states are as there, with tensors in place of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from nutgraf.learning.beam import NEVER, Beam, Floats, Hypothesis, Longs, batch_by_length, side_by_side
from nutgraf.learning.beam import beam as search_beam
from nutgraf.progress import Report, ShouldStop, ignore, never
from nutgraf.seeds import generator_of
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Ids


class DecodingState(Protocol):
    """A batch being decoded; rows are sentences, or hypotheses of them."""

    def step(self, words: Tensor) -> Tensor:
        """Take the rows' previous words (EOS at first); return (rows, columns) log-probabilities of the next."""

    def words(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the words that columns of rows stand for."""

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, in this order; a row may come more than once."""


class Decoder(Protocol):
    """A model that can be searched."""

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> DecodingState:
        """Read the sources, one row each; `replace_unk` puts the most attended source word in UNK's place.

        At least the `top_words` most probable words must have columns, or all words.
        """


@dataclass(frozen=True)
class Sampling:
    """Top-k sampling. `stop` is a word that ends a sentence besides EOS, and is kept (-1: none).

    Only the `repeat_top_words` most frequent words may come more than once in a sentence (0: all may).
    """

    top_k: int
    min_words: int
    max_words: int
    batch: int
    stop: int = -1
    unk: bool = True
    repeat_top_words: int = 0


def sample(decoder: Decoder, sources: Sequence[Ids], settings: Sampling, seed: int) -> list[Ids]:
    """Draw one sentence a source, each word from the k most probable ones by their renormalised probabilities."""
    result: list[Ids] = [np.zeros(0, dtype=np.int32)] * len(sources)
    batches = batch_by_length(sources, settings.batch)
    top_words = settings.top_k + (settings.max_words if settings.repeat_top_words else 0)

    def draw(number: int) -> list[Ids]:
        state = decoder.start([sources[i] for i in batches[number]], replace_unk=False, top_words=top_words)
        return _sample_batch(state, len(batches[number]), settings, generator_of("batch", seed, number))

    for places, drawn in zip(batches, side_by_side(draw, len(batches)), strict=True):
        for place, words in zip(places, drawn, strict=True):
            result[place] = words
    return result


def _sample_batch(state: DecodingState, n: int, settings: Sampling, generator: torch.Generator) -> list[Ids]:
    drawn = np.full((n, settings.max_words), EOS, dtype=np.int32)
    alive = torch.arange(n)
    words = torch.full((n,), EOS)
    ended = torch.zeros(n, dtype=torch.bool)
    used = torch.full((n, settings.max_words), PAD)  # words that may not be repeated
    for length in range(settings.max_words):
        scores = _forbid(state.step(words), length, settings.min_words, settings.unk)
        rows = torch.arange(len(alive))[:, None]
        if settings.repeat_top_words:
            known = state.words(rows, torch.arange(scores.shape[1]).expand(len(alive), -1)).cpu()
            scores.masked_fill_(_is_among(known, used[:, :length]).to(scores.device), NEVER)
        best, columns = scores.topk(min(settings.top_k, scores.shape[1]), dim=1)
        choice = torch.multinomial(best.softmax(1).cpu(), 1, generator=generator).to(columns.device)
        words = state.words(rows, columns.gather(1, choice)).squeeze(1).cpu()
        used[:, length] = _unrepeatable(words, settings.repeat_top_words, PAD)
        drawn[alive[~ended].numpy(), length] = words[~ended].numpy()
        ended |= (words == EOS) | (words == settings.stop)
        if ended.all():
            break
        # Ended rows are removed when they are many: removing costs a copy of the others.
        if ended.float().mean() > 0.2:
            stay = (~ended).nonzero().squeeze(1)
            state.select(stay)
            alive, words, ended, used = alive[stay], words[stay], ended[stay], used[stay]
    return [_cut_at_end(row) for row in drawn]


def _unrepeatable(words: Tensor, repeat_top_words: int, other: int) -> Tensor:
    """Return the words that may come only once, and `other` in place of those that may be repeated."""
    return torch.where(words < len(SPECIALS) + repeat_top_words, other, words)


def _is_among(words: Tensor, others: Tensor) -> Tensor:
    """Return whether each of a row's words is among the row's others: (rows, a), (rows, b) -> (rows, a)."""
    return (words[:, :, None] == others[:, None, :]).any(2)


def _cut_at_end(row: Ids) -> Ids:
    ends = np.flatnonzero(row == EOS)
    return row[: ends[0]].copy() if len(ends) else row.copy()


def _forbid(scores: Tensor, length: int, min_words: int, unk: bool) -> Tensor:
    """Forbid PAD always, EOS before the minimum length, UNK where it is not wanted."""
    scores[:, PAD] = NEVER
    if length < min_words:
        scores[:, EOS] = NEVER
    if not unk:
        scores[:, UNK] = NEVER
    return scores


def beam(
    decoder: Decoder,
    sources: Sequence[Ids],
    settings: Beam,
    report: Report = ignore,
    should_stop: ShouldStop = never,
) -> list[list[Hypothesis]]:
    """Return the finished hypotheses of each source, best first: at least one, at most `beam`."""
    return search_beam(ArrayDecoder(decoder), sources, settings, report, should_stop)


@dataclass(frozen=True)
class ArrayDecoder:
    """A decoder of torch, for the beam search, which is in numpy."""

    decoder: Decoder

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> ArrayState:
        """Read the sources, one row each."""
        return ArrayState(self.decoder.start(sources, replace_unk, top_words))


@dataclass(frozen=True)
class ArrayState:
    """A batch being decoded by torch, seen from numpy."""

    state: DecodingState

    @property
    def weights(self) -> Floats:
        """The (rows, places) attention over the source, of a state that has one."""
        return np.asarray(self.state.weights.cpu().numpy())  # type: ignore[attr-defined]

    def step(self, words: Longs) -> Floats:
        """Take the rows' previous words; return (rows, columns) log-probabilities of the next."""
        return np.asarray(self.state.step(torch.from_numpy(words)).cpu().numpy())

    def words(self, rows: Longs, columns: Longs) -> Longs:
        """Return the words that columns of rows stand for."""
        found = self.state.words(torch.from_numpy(rows), torch.from_numpy(columns))
        return np.asarray(found.cpu().numpy())

    def select(self, rows: Longs) -> None:
        """Continue with these rows, in this order."""
        self.state.select(torch.from_numpy(rows))
