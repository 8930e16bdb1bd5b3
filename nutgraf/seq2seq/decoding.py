"""Incremental decoding of the convolutional model: one word a step, touching only the newest position.

Each block keeps its last k inputs, so a convolution is one matrix product of (rows, k C); weight norm is folded once a
batch. Equal to the model's `log_probs` in evaluation mode; a test holds that. Choosing words is the search's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from nutgraf.seq2seq.batch import padded
from nutgraf.seq2seq.model import HALF, TINY, Affine, Attention, Encoded, Seq2seq, local
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids


class ConvDecoder:
    """A trained model, as the search wants it.

    It says only the `spoken` most frequent words of its vocabulary (0: all), and what it copies: less arithmetic.
    `unsaid` marks words, (vocabulary,) True, that it may only copy.
    """

    def __init__(self, model: Seq2seq, spoken: int = 0, unsaid: Tensor | None = None):
        self.model = model.eval()
        self.spoken = min(spoken or len(model.target), len(model.target))
        bias = model.bias.detach()
        self.bias = bias if unsaid is None else bias.masked_fill(unsaid.to(bias.device), float("-inf"))

    @torch.no_grad()
    def start(self, sources: Sequence[Ids], replace_unk: bool) -> ConvDecoding:
        """Read the sources, one row each."""
        words = padded(sources).to(self.model.bias.device)
        return ConvDecoding(self.model, self.model.encode(words), replace_unk, self.bias[: self.spoken])


class ConvDecoding:
    """One batch under way."""

    def __init__(self, model: Seq2seq, source: Encoded, replace_unk: bool, bias: Tensor):
        self.model, self.source, self.replace_unk = model, source, replace_unk
        decoder = model.decoder
        self.enter, self.leave = _folded(decoder.enter), _folded(decoder.leave)
        self.layers = [(_folded(layer), _FoldedAttention(a)) for layer, a in zip(*_blocks(model), strict=True)]
        rows, width = len(source.words), model.settings.width
        # One buffer a block: the last k inputs, (rows, k, C).
        self.buffers = [source.keys.new_zeros(rows, decoder.kernel, width) for _ in self.layers]
        self.length = 0
        self.weights = source.keys.new_zeros(rows, source.words.shape[1])
        spoken = len(bias)
        self.table, self.bias = model.target_table[:spoken], bias
        self.columns = _columns(source.words, local(model.target_local, source.words), spoken)
        self.vocabulary = torch.from_numpy(model.target.ids[:spoken].astype("int64")).to(source.words.device)

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
        logits = torch.addmm(self.bias, F.linear(x, *self.leave), self.table.t())
        if model.gate is None:
            return logits.log_softmax(1)
        return self._mixed(logits, torch.sigmoid(model.gate(x)))

    def _mixed(self, logits: Tensor, gate: Tensor) -> Tensor:
        """Add the copied probability to the columns of the source's words; those outside the vocabulary come last."""
        probs = F.pad(logits.softmax(1).mul_(gate), (0, self.columns.shape[1]))
        probs.scatter_add_(1, self.columns, self.weights * (1 - gate))
        return probs.clamp_min_(TINY).log_()

    def words(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the lexicon ids of columns; with `replace_unk` UNK is the most attended word of the source."""
        rows = rows.expand_as(columns).to(columns.device)
        known = columns < len(self.vocabulary)
        place = torch.where(known, 0, columns - len(self.vocabulary))
        found = torch.where(known, self.vocabulary[torch.where(known, columns, 0)], self.source.words[rows, place])
        if self.replace_unk:
            ends = (self.source.words == PAD) | (self.source.words == EOS)
            attended = self.weights.masked_fill(ends, -1).argmax(1)
            replacement = self.source.words.gather(1, attended[:, None]).squeeze(1)
            # A source without a single word has nothing to give.
            replacement = torch.where(replacement == EOS, UNK, replacement)
            found = torch.where(found == UNK, replacement[rows], found)
        return found

    def select(self, rows: Tensor) -> None:
        """Go on with these rows."""
        rows = rows.to(self.source.words.device)
        s = self.source
        self.source = replace(
            s, words=s.words[rows], keys=s.keys[rows], values=s.values[rows], pad=s.pad[rows], scale=s.scale[rows]
        )
        self.buffers = [buffer[rows] for buffer in self.buffers]
        self.weights, self.columns = self.weights[rows], self.columns[rows]


@torch.no_grad()
def explained(model: Seq2seq, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return the (B, T) log-probabilities of target words, and their (B, T, S) attention over the source."""
    previous = F.pad(local(model.target_local, target)[:, :-1], (1, 0), value=EOS)
    _, _, weights = model.decoder(model.target_table[previous], model.encode(source))
    return model.log_probs(source, target), weights


class _FoldedAttention:
    """`Attention` for one position a row."""

    def __init__(self, attention: Attention):
        self.enter, self.leave = _folded(attention.enter), _folded(attention.leave)

    def __call__(self, x: Tensor, target: Tensor, source: Encoded) -> tuple[Tensor, Tensor]:
        query = (F.linear(x, *self.enter) + target) * HALF
        scores = torch.bmm(source.keys, query[:, :, None]).squeeze(2).masked_fill(source.pad, float("-inf"))
        weights = scores.softmax(1)
        seen = torch.bmm(weights[:, None, :], source.values).squeeze(1) * source.scale[:, 0]
        return (F.linear(seen, *self.leave) + x) * HALF, weights


def _folded(affine: Affine) -> tuple[Tensor, Tensor]:
    return affine.weight, affine.bias


def _blocks(model: Seq2seq) -> tuple[list[Affine], list[Attention]]:
    return list(model.decoder.convolutions), list(model.decoder.attentions)  # type: ignore[arg-type]


def _columns(words: Tensor, known: Tensor, spoken: int) -> Tensor:
    """Return (rows, S) each source word's column: its own where it is spoken, or one past those, for its first place.

    The source's EOS counts as the word EOS, as in training; padding has no weight, so its column does not matter.
    """
    first = (words[:, :, None] == words[:, None, :]).int().argmax(2)
    return torch.where(((known == UNK) & (words != UNK)) | (known >= spoken), spoken + first, known)
