"""First-order word moments matching (mu:1), Section 3.1 and the appendix: the summarizer. Read and used without torch.

f(s, v) is the probability that word v of text s is in its summary: the bag-of-words encoder of DBAE, a linear map to
V^S, a sigmoid. The summary is the words with a high enough f, in the order of the text. How f comes to match the
moments of the summaries is in `moment_matching`; choosing eta is done in `thresholds`.

Once trained, the encoder and the linear map are one: f(s, v) = sigmoid(w_v . mean of the vectors of s + b_v).

Words that are not in the text have a probability of 0 (a log-score of -1e6 in the paper) and are not computed at all.
All words outside V^S count as one word, UNK, with its own moments; where UNK is kept, they are copied unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from nutgraf.files import naming, read_json
from nutgraf.models.arrays import Arrays, Shape, check_shapes, read_arrays
from nutgraf.models.weights import Pack, keep_float32, unpack
from nutgraf.text.lexicon import UNK, Ids, Vocab

WEIGHTS, FIGURES = "mu1.safetensors", "mu1.json"
LINEAR, NORM = "encoder.linear", "encoder.norm"
EPSILON = 1e-5  # of batch normalisation
BATCH = 512  # sentences summarized at once
MOST = 80  # of a score: exp(-80) is far from 0 in float32

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Mu1:
    """A summarizer that keeps the words that are likely in a summary."""

    arrays: Arrays  # vectors, weight and bias, a row for each word of V^S; and the encoder, unless it is multiplied out
    vocab: Vocab  # V^S
    eta: float
    max_words: int  # N

    @property
    def lexicon_size(self) -> int:
        """The number of words of the lexicon that it was made for."""
        return len(self.vocab.table)

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        result: list[Ids] = []
        for i in range(0, len(sentences), BATCH):
            chosen = [np.asarray(sentence, dtype=np.int32) for sentence in sentences[i : i + BATCH]]
            likely = self.probabilities(chosen)
            result += [self._summarize(s, f) for s, f in zip(chosen, likely, strict=True)]
        return result

    def _summarize(self, sentence: Ids, f: Floats) -> Ids:
        kept = sentence[f >= self.eta]
        _, first = np.unique(kept, return_index=True)  # f(s, v) is about v's presence: a second one adds nothing
        return kept[np.sort(first)][: self.max_words]

    def probabilities(self, sentences: Sequence[Ids]) -> list[Floats]:
        """Return f(s, v) of each word of each sentence; those of one do not depend on the others."""
        vectors, weight, bias = self._multiplied
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        words = self.vocab.local(np.concatenate([*sentences, np.zeros(0, dtype=np.int32)]))
        known = (words > UNK)[:, None]  # PAD, EOS and UNK are in no bag
        starts, filled = np.cumsum(lengths) - lengths, lengths > 0
        bags, counts = (
            np.add.reduceat(values, starts[filled]) if len(words) else values[:0]
            for values in (vectors[words] * known, known.astype(np.float32))
        )
        means = np.repeat(bags / np.maximum(counts, 1), lengths[filled], axis=0)  # (words, embedding)
        scores = np.clip((weight[words] * means).sum(1) + bias[words], -MOST, MOST)
        return np.split(1 / (1 + np.exp(-scores)), np.cumsum(lengths[:-1])) if len(lengths) else []

    @cached_property
    def _multiplied(self) -> tuple[Floats, Floats, Floats]:
        """Vectors, w_v and b_v: the linear map of the normalised encoder, as one."""
        arrays = self.arrays
        weight, bias = arrays["weight"].astype(np.float64), arrays["bias"].astype(np.float64)
        if f"{LINEAR}.weight" in arrays:
            scale = arrays[f"{NORM}.weight"] / np.sqrt(arrays[f"{NORM}.running_var"].astype(np.float64) + EPSILON)
            shift = (arrays[f"{LINEAR}.bias"] - arrays[f"{NORM}.running_mean"]) * scale + arrays[f"{NORM}.bias"]
            bias = bias + weight @ shift
            weight = weight @ (scale[:, None] * arrays[f"{LINEAR}.weight"])
        return arrays["vectors"], weight.astype(np.float32), bias.astype(np.float32)

    def with_eta(self, eta: float, max_words: int | None = None) -> Mu1:
        """Return the same model with another threshold, and another N where given."""
        changed = replace(self, eta=float(eta), max_words=max_words or self.max_words)
        changed.__dict__["_multiplied"] = self._multiplied  # else it would be multiplied again
        return changed

    def knowing(self, ids: Ids) -> Mu1:
        """Return the same model without the encoder, for those of its words that are among these; others are UNK."""
        rows = np.flatnonzero(np.isin(self.vocab.ids, ids))  # the special words are among any
        arrays = dict(zip(("vectors", "weight", "bias"), (array[rows] for array in self._multiplied), strict=True))
        return replace(self, arrays=arrays, vocab=Vocab(self.vocab.ids[rows], len(self.vocab.table)))

    def only(self, kept: Ids) -> Mu1:
        """Return the same words by their places in a smaller lexicon, which has these words of the one before."""
        return replace(self, vocab=self.vocab.only(kept))

    def save(self, folder: Path, pack: Pack = keep_float32) -> None:
        """Write the model's two files."""
        arrays = pack(self.arrays) | {"vocabulary": self.vocab.ids}
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / WEIGHTS)
        figures = {"eta": self.eta, "max_words": self.max_words, "lexicon": len(self.vocab.table)}
        (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, lexicon: int | None = None) -> Mu1:
        """Read what `save` wrote; `lexicon` is the number of words that it must be for, where that is known.

        The files may be a stranger's: a RunError names one that is something else.
        """
        with naming(folder / FIGURES):
            figures = read_json(folder / FIGURES)
            eta, max_words, words = float(figures["eta"]), int(figures["max_words"]), int(figures["lexicon"])
            if not 0 <= eta <= 1 or max_words < 1:
                raise ValueError(f"eta {eta}, max_words {max_words}")
            if lexicon is not None and words != lexicon:
                raise ValueError(f"made for a lexicon of {words:,} words, and this one has {lexicon:,}")
        with naming(folder / WEIGHTS):
            arrays = read_arrays(folder / WEIGHTS)
            vocab = Vocab(arrays.pop("vocabulary"), words)
            arrays.pop(f"{NORM}.num_batches_tracked", None)  # for training alone
            arrays = unpack(arrays)
            check_shapes(arrays, _expected_shapes(arrays, len(vocab)))
            if arrays.get(f"{NORM}.running_var", np.zeros(1)).min(initial=0) < 0:
                raise ValueError(f"{NORM}.running_var is negative")
        return cls(arrays, vocab, eta, max_words)


def _expected_shapes(arrays: Arrays, words: int) -> list[tuple[str, Shape]]:
    """Return the name and the shape of each array of a model with this many words."""
    embedding, width = (arrays[name].shape[-1] for name in ("vectors", "weight"))
    shapes: list[tuple[str, Shape]] = [("vectors", (words, embedding)), ("weight", (words, width)), ("bias", (words,))]
    if f"{LINEAR}.weight" in arrays:
        of_norm = ("weight", "bias", "running_mean", "running_var")
        shapes += [(f"{LINEAR}.weight", (width, embedding)), (f"{LINEAR}.bias", (width,))]
        return shapes + [(f"{NORM}.{name}", (width,)) for name in of_norm]
    if width != embedding:
        raise ValueError(f"weight has {width} columns and vectors have {embedding}, with no encoder between them")
    return shapes
