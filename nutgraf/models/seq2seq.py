"""The convolutional seq2seq model of Section 4 and the appendix: fairseq's `fconv_iwslt_de_en` (Gehring et al. 2017).

- 4 encoder and 3 decoder blocks, 256 wide, kernel 3: dropout, convolution, GLU, (decoder: attention), residual.
- Convolution over (batch, time, channel) is one matrix product over shifted copies.
- Attention in every decoder block; keys are the encoder's output, values that plus the input embedding.
- Learned positions, weight norm on every linear and convolution, output layer tied to the target embedding.
- Residual sums are scaled by sqrt(1/2) throughout, so that the variance stays.
- `copy` (not in the paper): p(y) = g p_vocab(y) + (1 - g) sum_i a_i [x_i = y], with the last block's attention a and a
  gate g. Words are compared by lexicon id, so that words outside the vocabulary are copied, too.

Sentences are lexicon ids (B, S). Training, search and files are elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from nutgraf.learning.shortlist import Frequent, Shortlist
from nutgraf.models.scoring import Estimate, ScorePairs, Table
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.text.lexicon import EOS, PAD, UNK, Vocab

HALF = math.sqrt(0.5)
TINY = 1e-20


class Affine(nn.Module):
    """A linear map with weight norm: W = gain * v / |v| row by row."""

    def __init__(self, inputs: int, outputs: int, std: float, generator: torch.Generator):
        super().__init__()
        self.v = nn.Parameter(torch.randn(outputs, inputs, generator=generator) * std)
        self.gain = nn.Parameter(self.v.detach().norm(dim=1, keepdim=True))
        self.bias = nn.Parameter(torch.zeros(outputs))

    @property
    def weight(self) -> Tensor:
        """The (outputs, inputs) matrix."""
        weight: Tensor = self.v * (self.gain / self.v.norm(dim=1, keepdim=True))
        return weight

    def forward(self, x: Tensor) -> Tensor:
        """Return x W^T + b."""
        return F.linear(x, self.weight, self.bias)


def linear(inputs: int, outputs: int, generator: torch.Generator, dropout: float = 0.0) -> Affine:
    """Make a linear layer with fairseq's initialisation, std sqrt((1-p)/in)."""
    return Affine(inputs, outputs, math.sqrt((1 - dropout) / inputs), generator)


def convolution(width: int, kernel: int, generator: torch.Generator, dropout: float) -> Affine:
    """Make a convolution to 2 x width channels (for the GLU), std sqrt(4(1-p)/(k in)), as one matrix."""
    return Affine(kernel * width, 2 * width, math.sqrt(4 * (1 - dropout) / (kernel * width)), generator)


def windows(x: Tensor, kernel: int, left: int) -> Tensor:
    """Return (B, T, kernel * C): at each time the `kernel` inputs from `left` before it, zeros outside."""
    x = F.pad(x, (0, 0, left, kernel - 1 - left))
    time = x.shape[1] - kernel + 1
    return torch.cat([x[:, i : i + time] for i in range(kernel)], 2)


def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Do as `F.dropout`, on a CPU with 16 random bits a number: drawing more takes a tenth of a training step."""
    if x.device.type != "cpu" or not training or rate == 0:
        return F.dropout(x, rate, training)
    dropped = round(rate * 2**16)
    drawn = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    kept = drawn.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - 2**15
    return x * (kept * (2**16 / (2**16 - dropped)))


@dataclass
class Encoded:
    """What the decoder needs of the sources."""

    words: Tensor  # (B, S) lexicon ids
    keys: Tensor  # (B, S, E)
    values: Tensor  # (B, S, E)
    pad: Tensor  # (B, S) True at padding
    scale: Tensor  # (B, 1, 1) sqrt(source length)


class Encoder(nn.Module):
    """Embeds and convolves the source."""

    def __init__(self, embedding: int, settings: Settings, generator: torch.Generator):
        super().__init__()
        self.dropout, self.kernel = settings.dropout, settings.kernel
        self.attentions = settings.decoder_layers
        self.positions = nn.Parameter(torch.randn(settings.positions, embedding, generator=generator) * 0.1)
        self.enter = linear(embedding, settings.width, generator, settings.dropout)
        self.convolutions = nn.ModuleList(
            convolution(settings.width, settings.kernel, generator, settings.dropout)
            for _ in range(settings.encoder_layers)
        )
        self.leave = linear(settings.width, embedding, generator)

    def forward(self, words: Tensor, embedded: Tensor) -> Encoded:
        """(B, S) lexicon ids and their (B, S, E) embeddings -> keys and values for the attention."""
        pad = words == PAD
        keep = (~pad)[:, :, None].to(embedded.dtype)
        entered = dropout(embedded + self.positions[: words.shape[1]], self.dropout, self.training)
        x = self.enter(entered)
        for layer in self.convolutions:
            inner = dropout(x * keep, self.dropout, self.training)
            x = (F.glu(layer(windows(inner, self.kernel, self.kernel // 2)), 2) + x) * HALF
        keys = _scale_gradient(self.leave(x) * keep, 1 / (2 * self.attentions))
        scale = keep.sum(1, keepdim=True).sqrt()
        return Encoded(words, keys, (keys + entered) * HALF * keep, pad, scale)


class Attention(nn.Module):
    """One block's attention over the source."""

    def __init__(self, width: int, embedding: int, generator: torch.Generator):
        super().__init__()
        self.enter = linear(width, embedding, generator)
        self.leave = linear(embedding, width, generator)

    def forward(self, x: Tensor, target: Tensor, source: Encoded) -> tuple[Tensor, Tensor]:
        """(B, T, C) states and (B, T, E) target embeddings -> new states, (B, T, S) weights."""
        query = (self.enter(x) + target) * HALF
        scores = torch.bmm(query, source.keys.transpose(1, 2)).masked_fill(source.pad[:, None, :], float("-inf"))
        weights = scores.softmax(2)
        seen = torch.bmm(weights, source.values) * source.scale
        return (self.leave(seen) + x) * HALF, weights


class Decoder(nn.Module):
    """Convolves the words so far, and attends to the source."""

    def __init__(self, embedding: int, settings: Settings, generator: torch.Generator):
        super().__init__()
        self.dropout, self.kernel = settings.dropout, settings.kernel
        self.positions = nn.Parameter(torch.randn(settings.positions, embedding, generator=generator) * 0.1)
        self.enter = linear(embedding, settings.width, generator, settings.dropout)
        layers = range(settings.decoder_layers)
        self.convolutions = nn.ModuleList(
            convolution(settings.width, settings.kernel, generator, settings.dropout) for _ in layers
        )
        self.attentions = nn.ModuleList(Attention(settings.width, embedding, generator) for _ in layers)
        self.leave = linear(settings.width, embedding, generator)

    def forward(self, embedded: Tensor, source: Encoded) -> tuple[Tensor, Tensor, Tensor]:
        """(B, T, E) embeddings of the words before -> (B, T, E) outputs, (B, T, C) states, (B, T, S) last weights."""
        target = dropout(embedded + self.positions[: embedded.shape[1]], self.dropout, self.training)
        x = self.enter(target)
        weights = x.new_zeros(0)
        for layer, attention in zip(self.convolutions, self.attentions, strict=True):
            inner = dropout(x, self.dropout, self.training)
            inner = F.glu(layer(windows(inner, self.kernel, self.kernel - 1)), 2)
            inner, weights = attention(inner, target, source)
            x = (inner + x) * HALF
        return dropout(self.leave(x), self.dropout, self.training), x, weights


class Seq2seq(nn.Module):
    """A summarizer or an expander, by what it was trained on."""

    source_local: Tensor  # (lexicon,) lexicon id -> local id
    target_local: Tensor

    def __init__(
        self,
        source: Vocab,
        target: Vocab,
        settings: Settings,
        source_vectors: NDArray[np.float32],
        target_vectors: NDArray[np.float32],
        generator: torch.Generator,
    ):
        """Start from pre-trained vectors, (words, E) a side; with `copy` both sides are one and the same."""
        super().__init__()
        self.settings, self.source, self.target = settings, source, target
        embedding = target_vectors.shape[1]
        self.target_table = nn.Parameter(_table(target_vectors, generator))
        self.own_source_table = None if settings.copy else nn.Parameter(_table(source_vectors, generator))
        self.encoder = Encoder(embedding, settings, generator)
        self.decoder = Decoder(embedding, settings, generator)
        self.bias = nn.Parameter(torch.zeros(len(target)))
        self.gate = linear(settings.width, 1, generator) if settings.copy else None
        for name, vocab in (("source_local", source), ("target_local", target)):
            self.register_buffer(name, torch.from_numpy(vocab.table.astype(np.int64)), persistent=False)

    @property
    def source_table(self) -> Tensor:
        """The source's embeddings: the target's own where the model copies."""
        return self.target_table if self.own_source_table is None else self.own_source_table

    def encode(self, words: Tensor) -> Encoded:
        """Read (B, S) lexicon ids."""
        embedded = F.embedding(local(self.source_local, words), self.source_table)
        return self.encoder(words, embedded)  # type: ignore[no-any-return]

    def log_probs(self, source: Tensor, target: Tensor, shortlist: int = 0, drawn: bool = True) -> Tensor:
        """Return the log-probability of each target word given those before it: (B, S), (B, T) ids -> (B, T).

        With a shortlist the output layer is estimated, in part from words that are drawn, or from frequent ones alone.
        """
        real, wanted = target != PAD, local(self.target_local, target)
        previous = F.pad(wanted[:, :-1], (1, 0), value=EOS)
        read = local(self.source_local, source) if self.own_source_table is None else None
        words: Shortlist | Frequent
        if shortlist and not drawn:
            words = Frequent(self.target_table, self.bias, shortlist)
        else:
            words = Shortlist(self.target_table, self.bias, wanted, shortlist, read)
        encoded = self.encode(source) if read is None else self.encoder(source, words.embed(read))
        hidden, states, weights = self.decoder(words.embed(previous), encoded)
        result = torch.zeros_like(weights[:, :, 0])
        result[real] = words.log_probs(hidden[real], wanted[real])
        if self.gate is not None:
            result = self._mix(result, states, weights, encoded, target, wanted)
        return result * real

    def _mix(
        self, generated: Tensor, states: Tensor, weights: Tensor, source: Encoded, target: Tensor, wanted: Tensor
    ) -> Tensor:
        """p(y) = g p_vocab(y) + (1 - g) sum_i a_i [x_i = y]; a word only the source has can only be copied."""
        assert self.gate is not None
        gate = self.gate(states).squeeze(2)
        same = source.words[:, None, :] == target[:, :, None]  # (B, T, S)
        copied = (weights * same).sum(2).clamp_min(TINY).log() + F.logsigmoid(-gate)
        only_copied = (wanted == UNK) & same.any(2)
        generated = (generated + F.logsigmoid(gate)).masked_fill(only_copied, math.log(TINY))
        return torch.logaddexp(generated, copied)

    @contextmanager
    def scoring(self, estimate: Estimate) -> Iterator[ScorePairs]:
        """Say how probable sentences are, given others (see `nutgraf.models.scoring`); other random numbers stay."""
        drawn = estimate.seed is not None

        def score(source: Table, target: Table) -> NDArray[np.float32]:
            given, wanted = (torch.from_numpy(words).to(self.bias.device) for words in (source, target))
            return np.asarray(self.log_probs(given, wanted, estimate.words, drawn).sum(1).cpu().numpy())

        self.eval()
        with torch.no_grad(), torch.random.fork_rng(enabled=drawn):
            if estimate.seed is not None:
                torch.manual_seed(estimate.seed)
            yield score

    def loss(self, source: Tensor, target: Tensor, shortlist: int = 0) -> Tensor:
        """Return the mean negative log-probability of a target word."""
        log_probs = self.log_probs(source, target, shortlist)
        return -log_probs[target != PAD].mean()


def local(table: Tensor, words: Tensor) -> Tensor:
    """Map lexicon ids to a vocabulary's; ids past the lexicon's end become UNK."""
    inside = words < len(table)
    return table[torch.where(inside, words, UNK)]


def _table(vectors: NDArray[np.float32], generator: torch.Generator) -> Tensor:
    """Scale pre-trained vectors to fairseq's N(0, 0.1); words without one are drawn; PAD is zero."""
    table = torch.from_numpy(vectors.astype(np.float32))
    known = table.norm(dim=1) > 0
    drawn = torch.randn(table.shape, generator=generator) * 0.1
    if known.any():
        drawn[known] = table[known] * (0.1 / table[known].std())
    drawn[PAD] = 0
    return drawn


def _scale_gradient(x: Tensor, factor: float) -> Tensor:
    """Return x with its gradient multiplied by `factor`."""
    return x * factor + x.detach() * (1 - factor)
