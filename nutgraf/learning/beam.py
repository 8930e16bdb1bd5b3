"""Beam search, in numpy alone: the one search for people and for ROUGE, whatever computes the probabilities.

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
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.hardware import count_threads, set_torch_threads
from nutgraf.progress import Progress, Report, ShouldStop, check_stop, ignore, never
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Ids

NEVER = float("-inf")
LEAST_BATCH = 16  # sentences: fewer are not searched faster in two batches on two threads (LOG.md, 2026-11-16)
T = TypeVar("T")
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]


class DecodingState(Protocol):
    """A batch being decoded; rows are sentences, or hypotheses of them."""

    def step(self, words: Longs) -> Floats:
        """Take the rows' previous words (EOS at first); return (rows, columns) log-probabilities of the next."""

    def words(self, rows: Longs, columns: Longs) -> Longs:
        """Return the words that columns of rows stand for."""

    def select(self, rows: Longs) -> None:
        """Continue with these rows, in this order; a row may come more than once."""


class Decoder(Protocol):
    """A model that can be searched."""

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> DecodingState:
        """Read the sources, one row each; `replace_unk` puts the most attended source word in UNK's place.

        At least the `top_words` most probable words must have columns, or all words.
        """


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

    @classmethod
    def of(cls, decoding: recipe.Decoding, width: int, unk: bool) -> Beam:
        """Return how summaries are searched for; a model that copies has a better way than UNK to write a word."""
        return cls(
            width,
            decoding.min_words,
            decoding.max_words,
            decoding.no_repeat_ngram,
            decoding.length_penalty,
            decoding.batch,
            unk,
            decoding.repeat_top_words,
        )


@dataclass(frozen=True)
class Hypothesis:
    """A finished sentence; the score is its log-probability divided by its length to the penalty."""

    words: Ids
    score: float


def beam(
    decoder: Decoder,
    sources: Sequence[Ids],
    settings: Beam,
    report: Report = ignore,
    should_stop: ShouldStop = never,
) -> list[list[Hypothesis]]:
    """Return the finished hypotheses of each source, best first: at least one, at most `beam`.

    `should_stop` is called before every step; if it is true, Stopped is raised.
    """
    result: list[list[Hypothesis]] = [[] for _ in sources]
    size = max(LEAST_BATCH, -(-len(sources) // count_threads()))  # a batch a thread, where that pays
    batches, done = batch_by_length(sources, min(settings.batch, size)), 0
    top_words = 2 * settings.beam + (settings.max_words if settings.no_repeat_ngram or settings.repeat_top_words else 0)

    def find(number: int) -> list[list[Hypothesis]]:
        state = decoder.start([sources[i] for i in batches[number]], replace_unk=True, top_words=top_words)
        return _BeamSearch(state, len(batches[number]), settings, should_stop).run()

    for places, found in zip(batches, side_by_side(find, len(batches)), strict=True):
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
    should_stop: ShouldStop
    finished: list[list[Hypothesis]] = field(init=False)
    sentences: Longs = field(init=False)
    scores: Floats = field(init=False)
    history: Longs = field(init=False)

    def __post_init__(self) -> None:
        beam = self.settings.beam
        self.finished = [[] for _ in range(self.n)]
        self.sentences = np.arange(self.n)
        self.scores = np.full((self.n, beam), NEVER, dtype=np.float32)
        self.scores[:, 0] = 0.0
        self.history = np.zeros((self.n * beam, 0), dtype=np.int64)
        self.state.select(np.arange(self.n).repeat(beam))

    def run(self) -> list[list[Hypothesis]]:
        words = np.full(len(self.history), EOS)
        for length in range(self.settings.max_words + 1):
            check_stop(self.should_stop)
            scores, columns, candidates = self._candidates(self.state.step(words), length)
            rows, words = self._advance(scores, columns, candidates, length)
            if len(self.sentences) == 0:
                break
            self.state.select(rows)
        return [sorted(found, key=lambda h: -h.score)[: self.settings.beam] for found in self.finished]

    def _candidates(self, log_probs: Floats, length: int) -> tuple[Floats, Longs, Longs]:
        """Return (rows, c) scores, columns and words of each row's best continuations."""
        self._forbid(log_probs, length)
        banned = self._banned()
        bans = int((banned >= 0).sum(1).max()) if banned.shape[1] else 0
        columns = top_columns(log_probs, 2 * self.settings.beam + bans)
        words = self.state.words(np.arange(len(columns))[:, None], columns)
        best = np.take_along_axis(log_probs, columns, 1)
        best[(words[:, :, None] == banned[:, None, :]).any(2)] = NEVER
        return self.scores.reshape(-1, 1) + best, columns, words

    def _forbid(self, log_probs: Floats, length: int) -> None:
        """Forbid PAD always, EOS before the minimum length, UNK where it is not wanted; at the limit, all but EOS."""
        log_probs[:, PAD] = NEVER
        if length < self.settings.min_words:
            log_probs[:, EOS] = NEVER
        if not self.settings.unk:
            log_probs[:, UNK] = NEVER
        if length == self.settings.max_words:
            log_probs[:, np.arange(log_probs.shape[1]) != EOS] = NEVER

    def _banned(self) -> Longs:
        """Return (rows, places) the words that may not come next, -1 where none."""
        used = self.history[:, :0]
        if top := self.settings.repeat_top_words:
            used = np.where(self.history < len(SPECIALS) + top, -1, self.history)
        n, length = self.settings.no_repeat_ngram, self.history.shape[1]
        if n == 0 or length < n:
            return used
        grams = np.lib.stride_tricks.sliding_window_view(self.history, n, axis=1)  # (rows, length - n + 1, n)
        last = self.history[:, length - n + 1 :]  # (rows, n - 1)
        same = (grams[:, :, :-1] == last[:, None, :]).all(2)
        return np.concatenate([used, np.where(same, grams[:, :, -1], -1)], 1)

    def _advance(self, scores: Floats, columns: Longs, words: Longs, length: int) -> tuple[Longs, Longs]:
        """Finish hypotheses that ended, keep each sentence's best others; return the rows to continue with."""
        beam, per_row = self.settings.beam, scores.shape[1]
        scores = scores.reshape(len(self.sentences), -1)
        flat = top_columns(scores, 2 * beam)
        best = np.take_along_axis(scores, flat, 1)
        rows = flat // per_row + (np.arange(len(best)) * beam)[:, None]
        ends = columns[rows, flat % per_row] == EOS
        real = best > NEVER
        self._finish(best, rows, ends & real, length)
        enough = np.array([len(self.finished[s]) >= beam for s in self.sentences])
        going = ~enough & (real & ~ends).any(1)
        # The first `beam` candidates that did not end, in order of score.
        order = np.argsort(ends[going], axis=1, kind="stable")[:, :beam]
        rows, flat, kept, ends = (np.take_along_axis(each[going], order, 1) for each in (rows, flat, best, ends))
        self.scores = np.where(ends, np.float32(NEVER), kept)
        self.sentences = self.sentences[going]
        chosen = words[rows, flat % per_row].reshape(-1)
        rows = rows.reshape(-1)
        self.history = np.concatenate([self.history[rows], chosen[:, None]], 1)
        return rows, chosen

    def _finish(self, best: Floats, rows: Longs, ends: NDArray[np.bool_], length: int) -> None:
        """Record the ended hypotheses among each sentence's first `beam` candidates."""
        for i, rank in np.argwhere(ends[:, : self.settings.beam]).tolist():
            found = self.finished[int(self.sentences[i])]
            if len(found) < self.settings.beam:
                words = self.history[rows[i, rank]].astype(np.int32)
                found.append(Hypothesis(words, float(best[i, rank]) / (length + 1) ** self.settings.length_penalty))


def top_columns(scores: Floats, count: int) -> Longs:
    """Return the columns of each row's highest scores, highest first: (rows, columns) -> (rows, at most `count`)."""
    if count < scores.shape[1]:
        columns = np.argpartition(scores, -count, axis=1)[:, -count:]
        columns.sort(axis=1)  # so that of equal scores, the first column goes first
    else:
        columns = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    order = np.argsort(-np.take_along_axis(scores, columns, 1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, 1)


def batch_by_length(sources: Sequence[Ids], batch: int) -> list[list[int]]:
    """Return batches of places, longest sources first, so that little is padded."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    return [order[i : i + batch] for i in range(0, len(order), batch)]


def side_by_side(work: Callable[[int], T], batches: int) -> Iterator[T]:
    """Do batches on as many threads as there are, one thread a batch: two threads in one batch are slower than one.

    The steps of a search are many and small, and threads that wait for each other at every one lose more than they win,
    above all beside other programs (LOG.md, 2026-11-16).
    """
    threads = count_threads()

    def alone(number: int) -> T:
        set_torch_threads(1)
        return work(number)

    try:
        if min(threads, batches) < 2:
            yield from map(alone, range(batches))
        else:
            with ThreadPoolExecutor(min(threads, batches)) as pool:
                yield from pool.map(alone, range(batches))
    finally:
        set_torch_threads(threads)
