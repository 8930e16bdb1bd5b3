"""The trained model in numpy alone: what summarizing needs of `seq2seq`, without torch.

The same arithmetic in the same order, in float32; tests compare the two. Weight norm is folded when the model is read.
A model can say how probable sentences are that are there already, all words at once. Writing new ones, word by word,
is in `light_decoding`. There is no training here, and no GPU.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.learning.beam import NEVER, Floats, Longs
from nutgraf.models.arrays import Arrays
from nutgraf.models.scoring import Estimate, ScorePairs
from nutgraf.models.weights import Weights
from nutgraf.recipe import Seq2seq as Settings
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids

HALF = math.sqrt(0.5)
TINY = 1e-20
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Linear:
    """x W^T + b, with the weight norm W = gain * v / |v| folded."""

    weight: Floats  # (inputs, outputs)
    bias: Floats

    @classmethod
    def of(cls, arrays: Arrays, name: str) -> Linear:
        """Take a layer's three arrays by its name."""
        v, gain = arrays[f"{name}.v"], arrays[f"{name}.gain"]
        return cls((v * (gain / np.sqrt((v * v).sum(1, keepdims=True)))).T, arrays[f"{name}.bias"])

    def __call__(self, x: Floats) -> Floats:
        """(..., inputs) -> (..., outputs)."""
        rows = x.reshape(-1, x.shape[-1]) @ self.weight + self.bias  # one product, not one per sentence
        return rows.reshape(*x.shape[:-1], -1)


@dataclass
class Source:
    """What the decoder needs of the sources, one row each."""

    words: Longs  # (B, S) lexicon ids
    keys: Floats  # (B, S, E)
    values: Floats  # (B, S, E)
    pad: Mask  # (B, S) True at padding
    scale: Floats  # (B, 1, 1) sqrt(source length)

    def take(self, rows: Longs) -> Source:
        """Return these rows."""
        return Source(self.words[rows], self.keys[rows], self.values[rows], self.pad[rows], self.scale[rows])


@dataclass(frozen=True)
class Block:
    """A decoder block: its convolution, and its attention's way in and out."""

    convolution: Linear
    enter: Linear
    leave: Linear

    def attend(self, x: Floats, target: Floats, source: Source) -> tuple[Floats, Floats]:
        """(B, T, C) states and (B, T, E) target embeddings -> new states, (B, T, S) weights."""
        scores = (self.enter(x) + target) * HALF @ source.keys.transpose(0, 2, 1)
        scores[np.broadcast_to(source.pad[:, None], scores.shape)] = NEVER
        weights = np.exp(scores - scores.max(2, keepdims=True))
        weights /= weights.sum(2, keepdims=True)
        seen = weights @ source.values * source.scale
        return (self.leave(seen) + x) * HALF, weights


class LightModel:
    """A trained model that reads and writes sentences of lexicon ids."""

    def __init__(self, weights: Weights):
        arrays, settings = weights.arrays, weights.settings
        self.settings: Settings = settings
        self.source, self.target = weights.source, weights.target
        self.table = arrays["target_table"]  # (V, E)
        self.source_table = self.table if settings.copy else arrays["own_source_table"]
        self.bias = arrays["bias"]
        self.gate = Linear.of(arrays, "gate") if settings.copy else None
        self.read_positions, self.positions = arrays["encoder.positions"], arrays["decoder.positions"]
        self.encoder = [Linear.of(arrays, f"encoder.convolutions.{i}") for i in range(settings.encoder_layers)]
        self.ends = [
            Linear.of(arrays, f"{side}.{end}") for side in ("encoder", "decoder") for end in ("enter", "leave")
        ]
        self.blocks = [
            Block(
                Linear.of(arrays, f"decoder.convolutions.{i}"),
                Linear.of(arrays, f"decoder.attentions.{i}.enter"),
                Linear.of(arrays, f"decoder.attentions.{i}.leave"),
            )
            for i in range(settings.decoder_layers)
        ]

    @cached_property
    def directions(self) -> Floats:
        """The (V, E) embeddings with a length of 1; those of zeros stay."""
        lengths = np.sqrt((self.table * self.table).sum(1, keepdims=True))
        return np.asarray(self.table / np.maximum(lengths, np.float32(1e-12)))

    @classmethod
    def load(cls, folder: Path, lexicon: int | None = None) -> LightModel:
        """Read a model's two files."""
        return cls(Weights.load(folder, lexicon))

    def encode(self, words: Longs) -> Source:
        """Read (B, S) lexicon ids."""
        enter, leave = self.ends[:2]
        pad, kernel = words == PAD, self.settings.kernel
        keep = (~pad)[:, :, None].astype(np.float32)
        entered = self.source_table[self.source.local(words)] + self.read_positions[: words.shape[1]]
        x = enter(entered)
        for layer in self.encoder:
            x = (glu(layer(windows(x * keep, kernel, kernel // 2))) + x) * HALF
        keys = leave(x) * keep
        return Source(words, keys, (keys + entered) * HALF * keep, pad, np.sqrt(keep.sum(1, keepdims=True)))

    def log_probs(self, source: Longs, target: Longs, frequent: int = 0) -> Floats:
        """Return the log-probability of each target word given those before it: (B, S), (B, T) ids -> (B, T).

        The softmax's normaliser is the sum over the `frequent` first words and the target itself, or over all (0).
        """
        real, wanted, encoded = target != PAD, self.target.local(target), self.encode(source)
        previous = np.pad(wanted[:, :-1], ((0, 0), (1, 0)), constant_values=EOS)
        hidden, states, weights = self._decode(previous, encoded)
        result = np.zeros(target.shape, dtype=np.float32)
        result[real] = self._generate(hidden[real], wanted[real], frequent or len(self.target))
        if self.gate is not None:
            result = _mix(result, self.gate(states)[:, :, 0], weights, encoded.words, target, wanted)
        return np.asarray(result * real)

    def _decode(self, previous: Ids, source: Source) -> tuple[Floats, Floats, Floats]:
        """(B, T) words before, by local ids -> (B, T, E) outputs, (B, T, C) states, (B, T, S) last weights."""
        enter, leave = self.ends[2:]
        target = self.table[previous] + self.positions[: previous.shape[1]]
        x, kernel, weights = enter(target), self.settings.kernel, np.zeros(0, dtype=np.float32)
        for block in self.blocks:
            inner = glu(block.convolution(windows(x, kernel, kernel - 1)))
            inner, weights = block.attend(inner, target, source)
            x = (inner + x) * HALF
        return leave(x), x, weights

    def _generate(self, hidden: Floats, words: Ids, most: int) -> Floats:
        """Return the log-probabilities of generating words: (n, E), (n,) local ids -> (n,)."""
        own = (hidden * self.table[words]).sum(1) + self.bias[words]
        logits = hidden @ self.table[:most].T
        logits += self.bias[:most]
        normaliser = log_sum_exp(logits)[:, 0]
        return np.asarray(own - np.where(words < most, normaliser, np.logaddexp(normaliser, own)))

    def scoring(self, estimate: Estimate) -> AbstractContextManager[ScorePairs]:
        """Say how probable sentences are, given others (see `nutgraf.models.scoring`); no words are drawn."""
        if estimate.seed is not None:
            raise ValueError("words are drawn in training alone, with torch")
        return nullcontext(lambda source, target: self.log_probs(source, target, estimate.words).sum(1))


def windows(x: Floats, kernel: int, left: int) -> Floats:
    """Return (B, T, kernel * C): at each time the `kernel` inputs from `left` before it, zeros outside."""
    x = np.pad(x, ((0, 0), (left, kernel - 1 - left), (0, 0)))
    time = x.shape[1] - kernel + 1
    return np.concatenate([x[:, i : i + time] for i in range(kernel)], 2)


def glu(x: Floats) -> Floats:
    """Return the first half of the channels times the sigmoid of the second."""
    value, gate = np.split(x, 2, axis=-1)
    return np.asarray(value * (0.5 + 0.5 * np.tanh(0.5 * gate)))  # the sigmoid; exp would overflow


def log_sum_exp(logits: Floats) -> Floats:
    """Return log sum exp of each row, overwriting the logits: (rows, n) -> (rows, 1)."""
    largest = logits.max(1, keepdims=True)
    logits -= largest
    return np.asarray(np.log(np.exp(logits, out=logits).sum(1, keepdims=True)) + largest)


def log(probability: Floats) -> Floats:
    """Return the logarithm of probabilities that may be 0."""
    return np.asarray(np.log(np.maximum(probability, np.float32(TINY))))


def _mix(generated: Floats, gate: Floats, weights: Floats, source: Longs, target: Longs, wanted: Ids) -> Floats:
    """p(y) = g p_vocab(y) + (1 - g) sum_i a_i [x_i = y]; a word only the source has can only be copied."""
    same = source[:, None, :] == target[:, :, None]  # (B, T, S)
    copied = log((weights * same).sum(2)) - np.logaddexp(0, gate)
    only_copied = (wanted == UNK) & same.any(2)
    generated = np.where(only_copied, np.float32(math.log(TINY)), generated - np.logaddexp(0, -gate))
    return np.asarray(np.logaddexp(generated, copied))
