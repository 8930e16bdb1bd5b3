"""The one search: top-k sampling for artificial data, beam search for people and for ROUGE.

It knows no model. A `Decoder` starts a batch of sentences; its `DecodingState` gives log-probabilities of the next
word, row by row, over columns. Columns 0, 1, 2 are PAD, EOS, UNK, the others the most probable words; `words` says
which. Words are lexicon ids throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from nutgraf.progress import Progress, Report, ignore
from nutgraf.seeds import generator_of
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Ids

NEVER = float("-inf")
LEAST_BATCH = 16  # sentences: fewer are not searched faster in two batches on two threads (LOG.md, 2026-11-16)
T = TypeVar("T")


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


@dataclass(frozen=True)
class Beam:
    """Beam search; scores are divided by (words + 1) ** length_penalty.

    No n-gram of `no_repeat_ngram` words comes twice (0: any may), and only the `repeat_top_words` most frequent words
    come more than once (0: all may).
    """

    beam: int
    min_words: int
    max_words: int
    no_repeat_ngram: int
    length_penalty: float
    batch: int
    unk: bool = True
    repeat_top_words: int = 0


@dataclass(frozen=True)
class Hypothesis:
    """A finished sentence; the score is its log-probability divided by its length to the penalty."""

    words: Ids
    score: float


def sample(decoder: Decoder, sources: Sequence[Ids], settings: Sampling, seed: int) -> list[Ids]:
    """Draw one sentence a source, each word from the k most probable ones by their renormalised probabilities."""
    result: list[Ids] = [np.zeros(0, dtype=np.int32)] * len(sources)
    batches = _batch_by_length(sources, settings.batch)
    top_words = settings.top_k + (settings.max_words if settings.repeat_top_words else 0)

    def draw(number: int) -> list[Ids]:
        state = decoder.start([sources[i] for i in batches[number]], replace_unk=False, top_words=top_words)
        return _sample_batch(state, len(batches[number]), settings, generator_of("batch", seed, number))

    for places, drawn in zip(batches, _side_by_side(draw, len(batches)), strict=True):
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


def beam(decoder: Decoder, sources: Sequence[Ids], settings: Beam, report: Report = ignore) -> list[list[Hypothesis]]:
    """Return the finished hypotheses of each source, best first: at least one, at most `beam`."""
    result: list[list[Hypothesis]] = [[] for _ in sources]
    size = max(LEAST_BATCH, -(-len(sources) // torch.get_num_threads()))  # a batch a thread, where that pays
    batches, done = _batch_by_length(sources, min(settings.batch, size)), 0
    top_words = 2 * settings.beam + (settings.max_words if settings.no_repeat_ngram or settings.repeat_top_words else 0)

    def find(number: int) -> list[list[Hypothesis]]:
        state = decoder.start([sources[i] for i in batches[number]], replace_unk=True, top_words=top_words)
        return _BeamSearch(state, len(batches[number]), settings).run()

    for places, found in zip(batches, _side_by_side(find, len(batches)), strict=True):
        for place, hypotheses in zip(places, found, strict=True):
            result[place] = hypotheses
        done += len(places)
        report(Progress(done, len(sources), "sentences"))
    return result


@dataclass
class _BeamSearch:
    """A batch of sentences, `beam` rows each: scores (sentences, beam), history (rows, words so far)."""

    state: DecodingState
    n: int
    settings: Beam
    finished: list[list[Hypothesis]] = field(init=False)
    sentences: Tensor = field(init=False)
    scores: Tensor = field(init=False)
    history: Tensor = field(init=False)

    def __post_init__(self) -> None:
        beam = self.settings.beam
        self.finished = [[] for _ in range(self.n)]
        self.sentences = torch.arange(self.n)
        self.scores = torch.full((self.n, beam), NEVER)
        self.scores[:, 0] = 0.0
        self.history = torch.zeros(self.n * beam, 0, dtype=torch.long)
        self.state.select(torch.arange(self.n).repeat_interleave(beam))

    def run(self) -> list[list[Hypothesis]]:
        words = torch.full((len(self.history),), EOS)
        for length in range(self.settings.max_words + 1):
            scores, columns, candidates = self._candidates(self.state.step(words), length)
            rows, words = self._advance(scores, columns, candidates, length)
            if len(self.sentences) == 0:
                break
            self.state.select(rows)
        return [sorted(found, key=lambda h: -h.score)[: self.settings.beam] for found in self.finished]

    def _candidates(self, log_probs: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return (rows, c) scores, columns and words of each row's best continuations."""
        log_probs = _forbid(log_probs, length, self.settings.min_words, self.settings.unk)
        if length == self.settings.max_words:
            end = log_probs[:, EOS].clone()
            log_probs.fill_(NEVER)
            log_probs[:, EOS] = end
        banned = self._banned()
        bans = int((banned >= 0).sum(1).max()) if banned.shape[1] else 0
        best, columns = log_probs.topk(min(2 * self.settings.beam + bans, log_probs.shape[1]), dim=1)
        words = self.state.words(torch.arange(len(best))[:, None].expand_as(columns), columns).cpu()
        best, columns = best.cpu(), columns.cpu()
        best = best.masked_fill(_is_among(words, banned), NEVER)
        return self.scores.view(-1, 1) + best, columns, words

    def _banned(self) -> Tensor:
        """Return (rows, places) the words that may not come next, -1 where none."""
        none = torch.full((len(self.history), 0), -1)
        used = none
        if self.settings.repeat_top_words:
            used = _unrepeatable(self.history, self.settings.repeat_top_words, -1)
        n, length = self.settings.no_repeat_ngram, self.history.shape[1]
        if n == 0 or length < n:
            return used
        grams = self.history.unfold(1, n, 1)  # (rows, length - n + 1, n)
        last = self.history[:, length - n + 1 :]  # (rows, n - 1)
        same = (grams[:, :, :-1] == last[:, None, :]).all(2)
        return torch.cat([used, torch.where(same, grams[:, :, -1], -1)], 1)

    def _advance(self, scores: Tensor, columns: Tensor, words: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Finish hypotheses that ended, keep each sentence's best others; return the rows to continue with."""
        beam, per_row = self.settings.beam, scores.shape[1]
        best, flat = scores.view(len(self.sentences), -1).topk(min(2 * beam, beam * per_row), dim=1)
        rows = flat // per_row + (torch.arange(len(best)) * beam)[:, None]
        ends = columns[rows, flat % per_row] == EOS
        real = best > NEVER
        self._finish(best, rows, ends & real, length)
        enough = torch.tensor([len(self.finished[s]) >= beam for s in self.sentences.tolist()])
        going = ~enough & (real & ~ends).any(1)
        # The first `beam` candidates that did not end, in order of score.
        order = (ends.long() * per_row * beam + torch.arange(best.shape[1])).argsort(1)[:, :beam]
        order = order[going]
        rows, flat, kept = rows[going].gather(1, order), flat[going].gather(1, order), best[going].gather(1, order)
        self.scores = kept.masked_fill(ends[going].gather(1, order), NEVER)
        self.sentences = self.sentences[going]
        chosen = words[rows, flat % per_row].view(-1)
        rows = rows.view(-1)
        self.history = torch.cat([self.history[rows], chosen[:, None]], 1)
        return rows, chosen

    def _finish(self, best: Tensor, rows: Tensor, ends: Tensor, length: int) -> None:
        """Record the ended hypotheses among each sentence's first `beam` candidates."""
        for i, rank in ends[:, : self.settings.beam].nonzero().tolist():
            found = self.finished[int(self.sentences[i])]
            if len(found) < self.settings.beam:
                words = self.history[rows[i, rank]].numpy().astype(np.int32)
                found.append(Hypothesis(words, float(best[i, rank]) / (length + 1) ** self.settings.length_penalty))


def _batch_by_length(sources: Sequence[Ids], batch: int) -> list[list[int]]:
    """Return batches of places, longest sources first, so that little is padded."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    return [order[i : i + batch] for i in range(0, len(order), batch)]


def _side_by_side(work: Callable[[int], T], batches: int) -> Iterator[T]:
    """Do batches on as many threads as torch has, one thread a batch: two threads in one batch are slower than one.

    The steps of a search are many and small, and threads that wait for each other at every one lose more than they win,
    above all beside other programs (LOG.md, 2026-11-16).
    """
    threads = torch.get_num_threads()

    def alone(number: int) -> T:
        torch.set_num_threads(1)
        return work(number)

    try:
        if min(threads, batches) < 2:
            yield from map(alone, range(batches))
        else:
            with ThreadPoolExecutor(min(threads, batches)) as pool:
                yield from pool.map(alone, range(batches))
    finally:
        torch.set_num_threads(threads)
