"""Incremental decoding of the convolutional model: one word a step, touching only the newest position.

Each block keeps its last k inputs, so a convolution is one matrix product of (rows, k C); weight norm is folded once a
batch. The source is kept once a sentence, whatever the number of hypotheses. Only the best words of the vocabulary and
the source's own are scored in full; the others only add to the normaliser. Where each sentence may generate only a few
words, only these are multiplied with. A test checks that the probabilities equal the model's `log_probs` in evaluation
mode. Choosing words is left to the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from nutgraf.learning.batches import pad_batch
from nutgraf.learning.beam import NEVER
from nutgraf.models.light_decoding import FREE_WORDS, SPECIAL, Forbid
from nutgraf.models.seq2seq import HALF, TINY, Affine, Attention, Encoded, Seq2seq, local
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids


class ConvDecoder:
    """A trained model, ready for the search.

    It generates only the `output_words` most frequent words of its vocabulary (0: all): less arithmetic. `only_copied`
    (vocabulary,) marks words that it may not generate, and `forbid` says which more of a source it may not. A model
    that copies generates, except for the most frequent words, only the `related_words` words that are nearest to a word
    of the source, by the cosine of their embeddings (0: any word). Any word of the source can still be copied.
    """

    def __init__(
        self,
        model: Seq2seq,
        output_words: int = 0,
        only_copied: Tensor | None = None,
        forbid: Forbid | None = None,
        related_words: int = 0,
    ):
        self.model = model.eval()
        self.output_words = min(output_words or len(model.target), len(model.target))
        bias = model.bias.detach()
        self.bias = bias if only_copied is None else bias.masked_fill(only_copied.to(bias.device), NEVER)
        self.forbid, self.related_words = forbid, related_words if model.settings.copy else 0

    @cached_property
    def directions(self) -> Tensor:
        """The (V, E) embeddings with a length of 1; only `related_words` needs them."""
        return F.normalize(self.model.target_table.detach(), dim=1)

    @torch.no_grad()
    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> ConvState:
        """Read the sources, one row each."""
        device = self.model.bias.device
        source = self.model.encode(pad_batch(sources).to(device))
        output = self._related(source.words) if self.related_words else self._all()
        if self.forbid:
            output = output.without(self._forbidden(sources, self.forbid).to(device))
        return ConvState(self.model, source, replace_unk, output, top_words)

    def _forbidden(self, sources: Sequence[Ids], forbid: Forbid) -> Tensor:
        """Return (sentences, output words): True for words that would contradict the sentence."""
        barred = torch.zeros(len(sources), self.output_words, dtype=torch.bool)
        for row, source in enumerate(sources):
            found = self.model.target.local(forbid(source))
            barred[row, torch.from_numpy(found[(found >= SPECIAL) & (found < self.output_words)]).long()] = True
        return barred

    def _all(self) -> Output:
        """Return the first words of the vocabulary, for every sentence."""
        words = torch.arange(self.output_words, device=self.bias.device)
        return Output(words, self.model.target_table[: self.output_words].t(), self.bias[: self.output_words])

    def _related(self, words: Tensor) -> Output:
        """Return the special words, the most frequent ones, and those nearest to a word of each sentence."""
        free, directions = SPECIAL + FREE_WORDS, self.directions
        found, places = torch.unique(local(self.model.target_local, words), return_inverse=True)
        cosines = directions[found] @ directions[free : self.output_words].t()  # (distinct words, output words)
        cosines[found < SPECIAL] = NEVER
        nearness = cosines[places[:, 0]]
        for place in places.t()[1:]:
            torch.maximum(nearness, cosines[place], out=nearness)
        nearest, columns = nearness.topk(min(self.related_words, nearness.shape[1]), dim=1)
        frequent = torch.arange(min(free, self.output_words), device=words.device).expand(len(words), -1)
        related = torch.cat([frequent, columns + free], 1)
        bias = self.bias[related]
        bias[:, free:].masked_fill_(nearest == NEVER, NEVER)  # a sentence of unknown words
        return Output(related, self.model.target_table[related].transpose(1, 2), bias)


@dataclass(frozen=True)
class Output:
    """The words that may be generated, as columns of an output layer: the same for all sentences, or each its own.

    The special words come first.
    """

    words: Tensor  # (words,) or (sentences, words) the vocabulary's ids
    table: Tensor  # (E, words) or (sentences, E, words)
    bias: Tensor  # (words,) or (sentences, words)

    def without(self, barred: Tensor) -> Output:
        """Return the same, with words (sentences, first words of the vocabulary) made impossible."""
        here = barred if self.words.dim() == 1 else barred.gather(1, self.words)
        return replace(self, bias=self.bias.masked_fill(here, NEVER))

    def logits(self, x: Tensor, repeats: int) -> Tensor:
        """Return (rows, words) for the decoder's (rows, E), of `repeats` rows a sentence."""
        if self.table.dim() == 2:
            bias = self.bias if self.bias.dim() == 1 else self.bias.repeat_interleave(repeats, 0)
            return torch.addmm(bias, x, self.table)
        return torch.baddbmm(self.bias[:, None], x.view(len(self.words), repeats, -1), self.table).flatten(0, 1)

    def columns(self, known: Tensor) -> Tensor:
        """Return the columns of (sentences, S) words of the vocabulary, UNK's where a word has none."""
        size = self.words.shape[-1]
        if self.words.dim() == 1:
            return torch.where(known < size, known, UNK)
        column = known.new_full((len(known), int(max(known.max(), self.words.max())) + 1), UNK)
        column.scatter_(1, self.words, torch.arange(size, device=known.device).expand_as(self.words))
        return column.gather(1, known)

    def at(self, sentences: Tensor, columns: Tensor) -> Tensor:
        """Return the vocabulary's words in columns of sentences."""
        return self.words[columns] if self.words.dim() == 1 else self.words[sentences, columns]

    def select(self, sentences: Tensor) -> Output:
        """Return the words of these sentences."""
        if self.words.dim() == 1:
            return self if self.bias.dim() == 1 else replace(self, bias=self.bias[sentences])
        return Output(self.words[sentences], self.table[sentences], self.bias[sentences])


class ConvState:
    """A batch being decoded.

    Columns are PAD, EOS, UNK, then the `top_words` most probable words of the vocabulary, then the source's own words
    where the model copies. A word has one column; a second one that it would have is impossible.
    """

    def __init__(self, model: Seq2seq, source: Encoded, replace_unk: bool, output: Output, top_words: int):
        self.model, self.source, self.replace_unk, self.output = model, source, replace_unk, output
        decoder = model.decoder
        self.enter, self.leave = _fold(decoder.enter), _fold(decoder.leave)
        self.layers = [(_fold(layer), _FoldedAttention(a)) for layer, a in zip(*_blocks(model), strict=True)]
        self.vocabulary = torch.from_numpy(model.target.ids.astype("int64")).to(source.words.device)
        self.top_words = min(top_words, output.words.shape[-1] - SPECIAL)
        self.known = output.columns(local(model.target_local, source.words))  # (sentences, S) columns of the output
        same = source.words[:, :, None] == source.words[:, None, :]
        self.first = same.int().argmax(2)  # (sentences, S) where each word occurs first
        self.repeats = 1  # rows of each sentence
        rows, width = len(source.words), model.settings.width
        # One buffer a block: the last k inputs, (rows, k, C).
        self.buffers = [source.keys.new_zeros(rows, decoder.kernel, width) for _ in self.layers]
        self.length = 0
        self.weights = source.keys.new_zeros(rows, source.words.shape[1])
        self.best = self.known.new_zeros(rows, self.top_words)

    @torch.no_grad()
    def step(self, words: Tensor) -> Tensor:
        """Take the previous words, (rows,) lexicon ids; return (rows, columns) log-probabilities of the next."""
        model = self.model
        embedded = model.target_table[local(model.target_local, words.to(self.source.words.device))]
        target = embedded + model.decoder.positions[self.length]
        x = F.linear(target, *self.enter)
        for number, (layer, attention) in enumerate(self.layers):
            buffer = torch.cat([self.buffers[number][:, 1:], x[:, None]], 1)
            self.buffers[number] = buffer
            inner = F.glu(F.linear(buffer.flatten(1), *layer), 1)
            inner, self.weights = attention(inner, target, self.source)
            x = (inner + x) * HALF
        self.length += 1
        logits = self.output.logits(F.linear(x, *self.leave), self.repeats)
        best, columns = logits[:, SPECIAL:].topk(self.top_words, dim=1)
        self.best = columns + SPECIAL
        special = logits[:, :SPECIAL].clone()
        if model.gate is None:
            return torch.cat([special, best], 1) - _logsumexp(logits, special, best)
        known = logits.gather(1, self._repeat(self.known))
        return self._mix(special, best, known, _logsumexp(logits, special, best), model.gate(x))

    def _mix(self, special: Tensor, best: Tensor, generated: Tensor, normaliser: Tensor, gate: Tensor) -> Tensor:
        """p(y) = g p_vocab(y) + (1 - g) sum_i a_i [x_i = y], for the special words, the best and the source's own."""
        generating = F.logsigmoid(gate) - normaliser
        copying = F.logsigmoid(-gate)
        words, known, first = (self._repeat(each) for each in (self.source.words, self.known, self.first))
        copied = torch.zeros_like(self.weights).scatter_add_(1, first, self.weights).clamp_min_(TINY).log_() + copying
        generated = (generated + generating).masked_fill(known == UNK, NEVER)
        own = torch.logaddexp(generated, copied)
        # EOS has a column of its own, and a word that occurs twice has the column of its first place.
        own.masked_fill_((words < SPECIAL) | (first != torch.arange(first.shape[1], device=first.device)), NEVER)
        repeated = (self.best[:, :, None] == known[:, None, :]).any(2)
        special += generating
        for word in (EOS, UNK):
            attended = (self.weights * (words == word)).sum(1).clamp_min_(TINY).log_() + copying[:, 0]
            special[:, word] = torch.logaddexp(special[:, word], attended)
        return torch.cat([special, (best + generating).masked_fill_(repeated, NEVER), own], 1)

    def _repeat(self, of_sentences: Tensor) -> Tensor:
        return of_sentences if self.repeats == 1 else of_sentences.repeat_interleave(self.repeats, 0)

    def words(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the lexicon ids of columns; with `replace_unk` UNK is the most attended word of the source."""
        rows, columns = rows.expand_as(columns).to(self.best.device), columns.to(self.best.device)
        first = SPECIAL + self.top_words
        ranks = (columns - SPECIAL).clamp(0, self.top_words - 1)
        sentences = rows // self.repeats
        best = self.output.at(sentences, torch.where(columns < SPECIAL, columns, self.best[rows, ranks]))
        own = self.source.words[sentences, (columns - first).clamp_min(0)]
        found = torch.where(columns < first, self.vocabulary[best], own)
        if self.replace_unk:
            words = self._repeat(self.source.words)
            attended = self.weights.masked_fill((words == PAD) | (words == EOS), -1).argmax(1)
            replacement = words.gather(1, attended[:, None]).squeeze(1)
            # A source without any word has none to put there.
            replacement = torch.where(replacement == EOS, UNK, replacement)
            found = torch.where(found == UNK, replacement[rows], found)
        return found

    def select(self, rows: Tensor) -> None:
        """Continue with these rows; a source is kept only once where all have equally many adjacent rows."""
        rows = rows.to(self.source.words.device)
        sentences, counts = torch.unique_consecutive(rows // self.repeats, return_counts=True)
        if len(counts) and bool((counts != counts[0]).any()):
            sentences, counts = rows // self.repeats, torch.ones_like(rows)
        self.repeats = int(counts[0]) if len(counts) else 1
        if len(sentences) != len(self.known) or bool(
            (sentences != torch.arange(len(sentences), device=rows.device)).any()
        ):
            s = self.source
            kept = {name: getattr(s, name)[sentences] for name in ("words", "keys", "values", "pad", "scale")}
            self.source = replace(s, **kept)
            self.known, self.first = self.known[sentences], self.first[sentences]
            self.output = self.output.select(sentences)
        self.buffers = [buffer[rows] for buffer in self.buffers]
        self.weights, self.best = self.weights[rows], self.best[rows]


class _FoldedAttention:
    """`Attention` for one position a row, and equally many rows a sentence."""

    def __init__(self, attention: Attention):
        self.enter, self.leave = _fold(attention.enter), _fold(attention.leave)

    def __call__(self, x: Tensor, target: Tensor, source: Encoded) -> tuple[Tensor, Tensor]:
        query = ((F.linear(x, *self.enter) + target) * HALF).view(len(source.words), -1, target.shape[1])
        scores = torch.bmm(query, source.keys.transpose(1, 2)).masked_fill_(source.pad[:, None], NEVER)
        weights = scores.softmax(2)
        seen = (torch.bmm(weights, source.values) * source.scale).view(len(x), -1)
        return (F.linear(seen, *self.leave) + x) * HALF, weights.view(len(x), -1)


def _logsumexp(logits: Tensor, special: Tensor, best: Tensor) -> Tensor:
    """Return log sum exp of each row, overwriting the logits; the largest is among `special` or `best`."""
    largest = torch.maximum(special.amax(1, keepdim=True), best[:, :1])
    return logits.sub_(largest).exp_().sum(1, keepdim=True).log_() + largest


def _fold(affine: Affine) -> tuple[Tensor, Tensor]:
    return affine.weight, affine.bias


def _blocks(model: Seq2seq) -> tuple[list[Affine], list[Attention]]:
    return list(model.decoder.convolutions), list(model.decoder.attentions)  # type: ignore[arg-type]
