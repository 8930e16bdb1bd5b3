"""The model of `nutgraf.seq2seq.model` written the obvious way, to measure the shipped one against.

nn.Conv1d, torch's own weight norm, the full softmax over all words, the copy distribution as a scatter over all words;
sampling and beam search with a buffer of the last inputs a block and no other thought. The same function of the same
weights: tests compare log-probabilities, gradients, samples and beams. A word's id is its number in the vocabulary; ids
past its end are words that can only be copied. It is not meant to be used for anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

from nutgraf.models.seq2seq import HALF, TINY, Affine, Seq2seq
from nutgraf.text.lexicon import EOS, PAD, UNK

NEVER = float("-inf")
FORBIDDEN = [PAD, EOS, UNK]  # until the wanted length


@dataclass(frozen=True)
class Source:
    """The encoded sources."""

    words: Tensor  # (B, S)
    columns: Tensor  # (B, S) where each word's copied probability goes: past the vocabulary for unknown words
    keys: Tensor  # (B, S, E)
    values: Tensor  # (B, S, E)
    pad: Tensor  # (B, 1, S)
    scale: Tensor  # (B, 1, 1)


class PlainModel(nn.Module):
    """A shipped model's weights, in obvious layers."""

    def __init__(self, shipped: Seq2seq):
        super().__init__()
        self.settings, self.vocabulary = shipped.settings, len(shipped.target)
        kernel, encoder, decoder = shipped.settings.kernel, shipped.encoder, shipped.decoder
        self.target_words = _embedding(shipped.target_table)
        self.source_words = self.target_words if self.settings.copy else _embedding(shipped.source_table)
        self.source_positions, self.target_positions = _embedding(encoder.positions), _embedding(decoder.positions)
        self.encoder_in, self.encoder_out = _layer(encoder.enter), _layer(encoder.leave)
        self.decoder_in, self.decoder_out = _layer(decoder.enter), _layer(decoder.leave)
        self.encoder = nn.ModuleList(_layer(c, kernel, kernel // 2) for c in encoder.convolutions)
        self.decoder = nn.ModuleList(_layer(c, kernel, 0) for c in decoder.convolutions)
        self.queries = nn.ModuleList(_layer(attention.enter) for attention in decoder.attentions)
        self.seen = nn.ModuleList(_layer(attention.leave) for attention in decoder.attentions)
        self.output = nn.Linear(shipped.target_table.shape[1], self.vocabulary)
        self.output.weight = self.target_words.weight
        self.output.bias = nn.Parameter(shipped.bias.detach().clone())
        self.gate = _layer(shipped.gate) if shipped.gate is not None else None

    def _dropout(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.settings.dropout, self.training)

    def _known(self, words: Tensor) -> Tensor:
        return words.masked_fill(words >= self.vocabulary, UNK)

    def encode(self, words: Tensor) -> Source:
        """Read (B, S) words."""
        pad, blank = words == PAD, (words == PAD)[:, :, None]
        places = torch.arange(words.shape[1])
        embedded = self._dropout(self.source_words(self._known(words)) + self.source_positions(places))
        x = self.encoder_in(embedded)
        for convolution in self.encoder:
            inner = convolution(self._dropout(x.masked_fill(blank, 0)).transpose(1, 2))
            x = (F.glu(inner, 1).transpose(1, 2) + x) * HALF
        keys = self.encoder_out(x).masked_fill(blank, 0)
        share = 1 / (2 * len(self.decoder))  # of the gradient
        keys = keys * share + keys.detach() * (1 - share)
        values = ((keys + embedded) * HALF).masked_fill(blank, 0)
        first = (words[:, :, None] == words[:, None, :]).int().argmax(2)
        columns = torch.where(words < self.vocabulary, words, self.vocabulary + first)
        return Source(words, columns, keys, values, pad[:, None, :], (~pad).sum(1).float().sqrt()[:, None, None])

    def start(self, rows: int) -> list[Tensor]:
        """Return the inputs before the first one, a block each: (rows, k - 1, C) zeros."""
        return [torch.zeros(rows, self.settings.kernel - 1, self.settings.width) for _ in self.decoder]

    def decode(self, words: Tensor, source: Source, position: int, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Take (B, T) previous words; return (B, T, columns) log-probabilities and the last inputs of each block."""
        positions = self.target_positions(torch.arange(position, position + words.shape[1]))
        target = self._dropout(self.target_words(self._known(words)) + positions)
        x, weights, after = self.decoder_in(target), target, []
        for convolution, query, leave, earlier in zip(self.decoder, self.queries, self.seen, before, strict=True):
            inputs = torch.cat([earlier, self._dropout(x)], 1)
            after.append(inputs[:, 1 - self.settings.kernel :])
            inner = F.glu(convolution(inputs.transpose(1, 2)), 1).transpose(1, 2)
            scores = ((query(inner) + target) * HALF) @ source.keys.transpose(1, 2)
            weights = scores.masked_fill(source.pad, NEVER).softmax(2)
            x = ((leave(weights @ source.values * source.scale) + inner) * HALF + x) * HALF
        logits = self.output(self._dropout(self.decoder_out(x)))
        if self.gate is None:
            return logits.log_softmax(2), after
        gate = torch.sigmoid(self.gate(x))
        probs = F.pad(logits.softmax(2) * gate, (0, weights.shape[2]))
        probs = probs.scatter_add(2, source.columns[:, None, :].expand_as(weights), weights * (1 - gate))
        return probs.clamp_min(TINY).log(), after

    def log_probs(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the log-probability of each target word given those before it: (B, S), (B, T) -> (B, T)."""
        previous = F.pad(target[:, :-1], (1, 0), value=EOS)
        scores, _ = self.decode(previous, self.encode(source), 0, self.start(len(source)))
        wanted = self._known(target)
        if self.settings.copy:
            same = source[:, None, :] == target[:, :, None]  # (B, T, S)
            copied = self.vocabulary + same.int().argmax(2)
            wanted = torch.where((target >= self.vocabulary) & same.any(2), copied, wanted)
        return scores.gather(2, wanted[:, :, None]).squeeze(2) * (target != PAD)

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the mean negative log-probability of a target word."""
        return -self.log_probs(source, target).sum() / (target != PAD).sum()

    def chosen(self, columns: Tensor, source: Source) -> Tensor:
        """Return the words of (rows, 1) columns."""
        place = (columns - self.vocabulary).clamp_min(0)
        return torch.where(columns < self.vocabulary, columns, source.words.gather(1, place))


@torch.no_grad()
def sample(model: PlainModel, sources: Tensor, top_k: int, length: int, generator: torch.Generator) -> Tensor:
    """Draw one sentence of `length` words a source: (B, S) -> (B, length)."""
    source = model.encode(sources)
    said, before = torch.full((len(sources), 1), EOS), model.start(len(sources))
    with parametrize.cached():
        for position in range(length):
            scores, before = model.decode(said[:, -1:], source, position, before)
            scores[:, 0, FORBIDDEN] = NEVER
            best, columns = scores[:, 0].topk(top_k)
            choice = torch.multinomial(best.softmax(1), 1, generator=generator)
            said = torch.cat([said, model.chosen(columns.gather(1, choice), source)], 1)
    return said[:, 1:]


@torch.no_grad()
def beam(model: PlainModel, sources: Tensor, width: int, length: int) -> Tensor:
    """Return the most probable sentences of `length` words, best first: (B, S) -> (B, width, length)."""
    source, count = model.encode(sources), len(sources)
    source = replace(source, **{name: tensor.repeat_interleave(width, 0) for name, tensor in vars(source).items()})
    said, before = torch.full((count * width, 1), EOS), model.start(count * width)
    total = torch.full((count, width), NEVER)
    total[:, 0] = 0
    with parametrize.cached():
        for position in range(length):
            scores, before = model.decode(said[:, -1:], source, position, before)
            scores[:, 0, FORBIDDEN] = NEVER
            total, places = (total.view(-1, 1) + scores[:, 0]).view(count, -1).topk(width)
            rows = (places // scores.shape[2] + torch.arange(count)[:, None] * width).view(-1)
            before = [inputs.index_select(0, rows) for inputs in before]
            words = model.chosen(places.view(-1, 1) % scores.shape[2], source)
            said = torch.cat([said.index_select(0, rows), words], 1)
        scores, _ = model.decode(said[:, -1:], source, length, before)
    order = (total + scores[:, 0, EOS].view(count, width)).argsort(1, descending=True)
    return said[:, 1:].view(count, width, length).gather(1, order[:, :, None].expand(-1, -1, length))


def _embedding(table: Tensor) -> nn.Embedding:
    return nn.Embedding(len(table), table.shape[1], _weight=table.detach().clone())


def _layer(affine: nn.Module | Tensor, kernel: int = 0, padding: int = 0) -> nn.Module:
    """Return a shipped layer's weights as a linear layer, or as a convolution where there is a kernel."""
    assert isinstance(affine, Affine)
    outputs, inputs = affine.v.shape
    layer = nn.Conv1d(inputs // kernel, outputs, kernel, padding=padding) if kernel else nn.Linear(inputs, outputs)
    weight = affine.weight.view(outputs, kernel or 1, -1).transpose(1, 2)
    layer.weight = nn.Parameter(weight.detach().reshape(layer.weight.shape).clone())
    layer.bias = nn.Parameter(affine.bias.detach().clone())
    normed: nn.Module = weight_norm(layer)
    return normed
