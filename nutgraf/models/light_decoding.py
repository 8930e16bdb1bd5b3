"""Incremental decoding in numpy: `nutgraf.models.decoding` without torch.

One word a step, touching only the newest position: each block keeps its last k inputs. Choosing words is left to the
search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nutgraf.learning.beam import NEVER, Floats, Longs, top_columns
from nutgraf.models.light import HALF, Block, LightModel, Mask, Source, glu, log, log_sum_exp
from nutgraf.text.corpus import pad_sentences
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Ids

SPECIAL = len(SPECIALS)
FREE_WORDS = 20  # the most frequent words say nothing that a text would have to support
Forbid = Callable[[Ids], Ids]  # of a source, the words that may not be generated for it; both are lexicon ids
T = TypeVar("T", bound=np.generic)


class LightDecoder:
    """A trained model, ready for the search; the arguments are those of `nutgraf.models.decoding.ConvDecoder`."""

    def __init__(
        self,
        model: LightModel,
        output_words: int = 0,
        only_copied: Mask | None = None,
        forbid: Forbid | None = None,
        related_words: int = 0,
    ):
        self.model = model
        self.output_words = min(output_words or len(model.target), len(model.target))
        self.bias = model.bias if only_copied is None else np.where(only_copied, np.float32(NEVER), model.bias)
        self.forbid, self.related_words = forbid, related_words if model.settings.copy else 0

    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> LightState:
        """Read the sources, one row each."""
        words = pad_sentences(sources)
        output = self._related(words) if self.related_words else self._all(len(words))
        if self.forbid:
            for row, source in enumerate(sources):
                barred = self.model.target.local(self.forbid(source))
                output.bias[row, np.isin(output.words[row], barred[barred >= SPECIAL])] = NEVER
        return LightState(self.model, self.model.encode(words), replace_unk, output, top_words)

    def _all(self, sentences: int) -> Output:
        """Return the first words of the vocabulary, for every sentence."""
        words, table = np.arange(self.output_words), self.model.table[: self.output_words].T
        return Output(np.tile(words, (sentences, 1)), np.tile(self.bias[words], (sentences, 1)), table)

    def _related(self, words: Longs) -> Output:
        """Return the special words, the most frequent ones, and those nearest to a word of each sentence."""
        free, directions = min(SPECIAL + FREE_WORDS, self.output_words), self.model.directions
        found, places = np.unique(self.model.target.local(words), return_inverse=True)
        cosines = directions[found] @ directions[free : self.output_words].T  # (distinct words, output words)
        cosines[found < SPECIAL] = NEVER
        nearness = np.stack([cosines[row].max(0) for row in places.reshape(words.shape)])
        columns = top_columns(nearness, self.related_words)
        related = np.concatenate([np.tile(np.arange(free), (len(words), 1)), columns + free], 1)
        bias = self.bias[related]
        bias[:, free:][np.take_along_axis(nearness, columns, 1) == NEVER] = NEVER  # a sentence of unknown words
        return Output(related, bias, self.model.table[related].transpose(0, 2, 1))


@dataclass
class Output:
    """The words that may be generated for each sentence, as columns of an output layer; special words come first."""

    words: Longs  # (sentences, words) the vocabulary's ids
    bias: Floats  # (sentences, words)
    table: Floats  # (sentences, E, words), or (E, words) where all sentences have the same

    def logits(self, x: Floats) -> Floats:
        """Return (rows, words) for the decoder's (rows, E), of equally many rows a sentence."""
        rows = x.reshape(len(self.words), -1, x.shape[1])
        product = rows @ self.table if self.table.ndim == 3 else (x @ self.table).reshape(*rows.shape[:2], -1)
        return (product + self.bias[:, None]).reshape(len(x), -1)

    def columns(self, known: Ids, vocabulary: int) -> Longs:
        """Return the columns of (sentences, S) words of the vocabulary, UNK's where a word has none."""
        column = np.full((len(known), vocabulary), UNK)
        np.put_along_axis(column, self.words, np.arange(self.words.shape[1])[None], 1)
        return np.take_along_axis(column, known.astype(np.int64), 1)

    def take(self, sentences: Longs) -> Output:
        """Return the words of these sentences."""
        table = self.table[sentences] if self.table.ndim == 3 else self.table
        return Output(self.words[sentences], self.bias[sentences], table)


class LightState:
    """A batch being decoded.

    Columns are PAD, EOS, UNK, then the `top_words` most probable words of the output, then the source's own words where
    the model copies. A word has one column; a second one that it would have is impossible.
    """

    def __init__(self, model: LightModel, source: Source, replace_unk: bool, output: Output, top_words: int):
        self.model, self.source, self.replace_unk, self.output = model, source, replace_unk, output
        self.top_words = min(top_words, output.words.shape[1] - SPECIAL)
        # (sentences, S) columns of the output
        self.known = output.columns(model.target.local(source.words), len(model.target))
        # (sentences, columns of the output) whether a column is one of the source's own words
        self.copied: Mask = np.zeros(output.words.shape, dtype=np.bool_)
        np.put_along_axis(self.copied, self.known, True, 1)
        # (sentences, S) where each word occurs first
        self.first = (source.words[:, :, None] == source.words[:, None, :]).argmax(2)
        self.repeats = 1  # rows of each sentence, which are adjacent
        # One buffer a block: the last k inputs, (rows, k, C).
        shape = (len(source.words), model.settings.kernel, model.settings.width)
        self.buffers = [np.zeros(shape, dtype=np.float32) for _ in model.blocks]
        self.length = 0
        self.weights: Floats = np.zeros(source.words.shape, dtype=np.float32)  # (rows, S) the last block's attention
        self.best = np.zeros((len(source.words), self.top_words), dtype=np.int64)

    def step(self, words: Longs) -> Floats:
        """Take the previous words, (rows,) lexicon ids; return (rows, columns) log-probabilities of the next."""
        model = self.model
        target = model.table[model.target.local(words)] + model.positions[self.length]
        enter, leave = model.ends[2:]
        x = enter(target)
        for number, block in enumerate(model.blocks):
            self.buffers[number] = np.concatenate([self.buffers[number][:, 1:], x[:, None]], 1)
            inner = glu(block.convolution(self.buffers[number].reshape(len(x), -1)))
            x = (self._attend(block, inner, target) + x) * HALF
        self.length += 1
        logits = self.output.logits(leave(x))
        self.best = self._choose_columns(logits[:, SPECIAL:]) + SPECIAL
        scores = np.concatenate([logits[:, :SPECIAL], np.take_along_axis(logits, self.best, 1)], 1)
        own = np.take_along_axis(logits, self._repeat(self.known), 1)
        normaliser = log_sum_exp(logits)
        if model.gate is None:
            return scores - normaliser
        return self._mix(scores - normaliser, own - normaliser, model.gate(x))

    def _choose_columns(self, logits: Floats) -> Longs:
        """Return (rows, `top_words`) the columns with the highest logits; all of them need no order."""
        if self.top_words == logits.shape[1]:
            return np.broadcast_to(np.arange(self.top_words), logits.shape)
        return top_columns(logits, self.top_words)

    def _attend(self, block: Block, x: Floats, target: Floats) -> Floats:
        """Return (rows, C) new states of a block, and keep its (rows, S) weights."""
        states, targets = (each.reshape(-1, self.repeats, each.shape[1]) for each in (x, target))
        states, weights = block.attend(states, targets, self.source)
        self.weights = weights.reshape(x.shape[0], -1)
        return states.reshape(x.shape)

    def _mix(self, scores: Floats, own: Floats, gate: Floats) -> Floats:
        """p(y) = g p_vocab(y) + (1 - g) sum_i a_i [x_i = y], for the special words, the best and the source's own."""
        generating, copying = -np.logaddexp(0, -gate), -np.logaddexp(0, gate)
        words, known, first = (self._repeat(each) for each in (self.source.words, self.known, self.first))
        attended = np.zeros_like(self.weights)
        np.add.at(attended, (np.arange(len(first))[:, None], first), self.weights)
        copied = log(attended) + copying
        own = np.logaddexp(np.where(known == UNK, np.float32(NEVER), own + generating), copied)
        # EOS has a column of its own, and a word that occurs twice has the column of its first place.
        own[(words < SPECIAL) | (first != np.arange(first.shape[1]))] = NEVER
        scores += generating
        for word in (EOS, UNK):
            attention = log((self.weights * (words == word)).sum(1)) + copying[:, 0]
            scores[:, word] = np.logaddexp(scores[:, word], attention)
        sentences = np.arange(len(scores))[:, None] // self.repeats
        scores[:, SPECIAL:][self.copied[sentences, self.best]] = NEVER
        return np.concatenate([scores, own], 1)

    def _repeat(self, of_sentences: NDArray[T]) -> NDArray[T]:
        return of_sentences if self.repeats == 1 else of_sentences.repeat(self.repeats, 0)

    def words(self, rows: Longs, columns: Longs) -> Longs:
        """Return the lexicon ids of columns; with `replace_unk` UNK is the most attended word of the source."""
        rows, own = np.broadcast_to(rows, columns.shape), columns - SPECIAL - self.top_words
        sentences = rows // self.repeats
        best = self.best[rows, np.clip(columns - SPECIAL, 0, self.top_words - 1)]
        generated = self.output.words[sentences, np.where(columns < SPECIAL, columns, best)]
        found = np.where(own < 0, self.model.target.ids[generated], self.source.words[sentences, np.maximum(own, 0)])
        if self.replace_unk:
            words = self._repeat(self.source.words)
            attended = np.where((words == PAD) | (words == EOS), -1, self.weights).argmax(1)
            replacement = np.take_along_axis(words, attended[:, None], 1)[:, 0]
            # A source without any word has none to put there.
            replacement = np.where(replacement == EOS, UNK, replacement)
            found = np.where(found == UNK, replacement[rows], found)
        return found.astype(np.int64)

    def select(self, rows: Longs) -> None:
        """Continue with these rows; a source is kept only once where all have equally many adjacent rows."""
        sentences = rows // self.repeats
        starts = np.flatnonzero(np.diff(sentences, prepend=-1))
        counts = np.diff(starts, append=len(rows))
        if len(counts) and (counts == counts[0]).all():
            sentences, self.repeats = sentences[starts], int(counts[0])
        else:
            self.repeats = 1
        if not np.array_equal(sentences, np.arange(len(self.known))):
            self.source, self.output = self.source.take(sentences), self.output.take(sentences)
            self.known, self.first = self.known[sentences], self.first[sentences]
            self.copied = self.copied[sentences]
        self.buffers = [buffer[rows] for buffer in self.buffers]
        self.weights, self.best = self.weights[rows], self.best[rows]
