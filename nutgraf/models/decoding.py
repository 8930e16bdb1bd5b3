"""Incremental decoding of the convolutional model: one word a step, touching only the newest position.

Each block keeps its last k inputs, so a convolution is one matrix product of (rows, k C); weight norm is folded once a
batch. The source is kept once a sentence, whatever the number of hypotheses. Only the best words of the vocabulary and
the source's own are scored in full; the others only add to the normaliser. A test checks that the probabilities equal
the model's `log_probs` in evaluation mode. Choosing words is left to the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from nutgraf import recipe
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.search import NEVER, Beam
from nutgraf.models.seq2seq import HALF, TINY, Affine, Attention, Encoded, Seq2seq, local
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Ids

SPECIAL = len(SPECIALS)
FREE_WORDS = 20  # the most frequent words say nothing that a text would have to support
Forbid = Callable[[Ids], Ids]  # of a source, the words that may not be generated for it; both are lexicon ids


class ConvDecoder:
    """A trained model, ready for the search.

    It generates only the `output_words` most frequent words of its vocabulary (0: all): less arithmetic. `only_copied`
    (vocabulary,) marks words that it may not generate, and `forbid` says which more of a source it may not. A model
    that copies generates, except for the most frequent words, only what is near to a word of the source: words whose
    embeddings have a cosine of at least `min_support` (0: any). Any word of the source can still be copied.
    """

    def __init__(
        self,
        model: Seq2seq,
        output_words: int = 0,
        only_copied: Tensor | None = None,
        forbid: Forbid | None = None,
        min_support: float = 0.0,
    ):
        self.model = model.eval()
        self.output_words = min(output_words or len(model.target), len(model.target))
        bias = model.bias.detach()
        self.bias = bias if only_copied is None else bias.masked_fill(only_copied.to(bias.device), NEVER)
        self.forbid, self.min_support = forbid, min_support if model.settings.copy else 0.0
        self.directions = F.normalize(model.target_table.detach(), dim=1) if self.min_support else None  # (V, E)

    @torch.no_grad()
    def start(self, sources: Sequence[Ids], replace_unk: bool, top_words: int) -> ConvState:
        """Read the sources, one row each."""
        device = self.model.bias.device
        source, bias = self.model.encode(pad_batch(sources).to(device)), self.bias[: self.output_words]
        barred = self._forbidden(sources).to(device) if self.forbid else None
        if self.directions is not None:
            unsupported = self._unsupported(source.words, self.directions)
            barred = unsupported if barred is None else barred | unsupported
        return ConvState(self.model, source, replace_unk, bias, top_words, barred)

    def _forbidden(self, sources: Sequence[Ids]) -> Tensor:
        """Return (sentences, output words): True for words that would contradict the sentence."""
        assert self.forbid is not None
        barred = torch.zeros(len(sources), self.output_words, dtype=torch.bool)
        for row, source in enumerate(sources):
            found = self.model.target.local(self.forbid(source))
            barred[row, torch.from_numpy(found[(found >= SPECIAL) & (found < self.output_words)]).long()] = True
        return barred

    def _unsupported(self, words: Tensor, directions: Tensor) -> Tensor:
        """Return (sentences, output words): True for words that no word of the sentence is near to."""
        known, table = local(self.model.target_local, words), directions[: self.output_words].t()
        barred = torch.ones(len(words), self.output_words, dtype=torch.bool, device=words.device)
        for column in known.t():  # one word of each sentence at a time: all at once would take gigabytes
            near = directions[column] @ table >= self.min_support
            barred &= ~(near & (column >= SPECIAL)[:, None])
        barred[:, : SPECIAL + FREE_WORDS] = False
        return barred


class ConvState:
    """A batch being decoded.

    Columns are PAD, EOS, UNK, then the `top_words` most probable words of the vocabulary, then the source's own words
    where the model copies. A word has one column; a second one that it would have is impossible.
    """

    def __init__(
        self, model: Seq2seq, source: Encoded, replace_unk: bool, bias: Tensor, top_words: int, barred: Tensor | None
    ):
        self.model, self.source, self.replace_unk, self.bias = model, source, replace_unk, bias
        self.barred = barred  # (sentences, output words) True: may not be generated; None: any may
        decoder, output_words = model.decoder, len(bias)
        self.enter, self.leave = _fold(decoder.enter), _fold(decoder.leave)
        self.layers = [(_fold(layer), _FoldedAttention(a)) for layer, a in zip(*_blocks(model), strict=True)]
        self.table = model.target_table[:output_words].t()
        self.vocabulary = torch.from_numpy(model.target.ids[:output_words].astype("int64")).to(source.words.device)
        self.top_words = min(top_words, output_words - SPECIAL)
        self.known = local(model.target_local, source.words)  # (sentences, S) the vocabulary's ids, or UNK
        self.known = torch.where(self.known < output_words, self.known, UNK)
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
        logits = torch.addmm(self.bias, F.linear(x, *self.leave), self.table)
        if self.barred is not None:
            logits.masked_fill_(self._repeat(self.barred), NEVER)
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
        best = torch.where(columns < SPECIAL, columns, self.best[rows, ranks])
        own = self.source.words[rows // self.repeats, (columns - first).clamp_min(0)]
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
            self.barred = self.barred if self.barred is None else self.barred[sentences]
        self.buffers = [buffer[rows] for buffer in self.buffers]
        self.weights, self.best = self.weights[rows], self.best[rows]


def beam_settings(model: Seq2seq, decoding: recipe.Decoding, width: int) -> Beam:
    """Return how a model's summaries are searched for; one that copies has a better way than UNK to write a word."""
    return Beam(
        width,
        decoding.min_words,
        decoding.max_words,
        decoding.no_repeat_ngram,
        decoding.length_penalty,
        decoding.batch,
        unk=not model.settings.copy,
        repeat_top_words=decoding.repeat_top_words,
    )


@torch.no_grad()
def attend(model: Seq2seq, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return the (B, T) log-probabilities of target words, and their (B, T, S) attention over the source."""
    previous = F.pad(local(model.target_local, target)[:, :-1], (1, 0), value=EOS)
    _, _, weights = model.decoder(model.target_table[previous], model.encode(source))
    return model.log_probs(source, target), weights


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
