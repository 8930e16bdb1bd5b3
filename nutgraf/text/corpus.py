"""Corpora of word ids on disk, memory-mapped: a million sentences take no Python objects.

Two .npy files per corpus: `<name>.tokens.npy` (int32, all sentences end to end) and `<name>.offsets.npy` (int64, where
each sentence starts, and the end). Nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.lexicon import EOS, PAD, Ids


class Corpus(Sequence[Ids]):
    """Sentences of word ids; indexing gives one sentence, slicing a list of them."""

    def __init__(self, tokens: Ids, offsets: NDArray[np.int64]):
        self.tokens = tokens
        self.offsets = offsets

    @classmethod
    def of(cls, sentences: Iterable[Sequence[int] | Ids]) -> Corpus:
        """Make a corpus in memory."""
        arrays = [np.asarray(sentence, dtype=np.int32) for sentence in sentences]
        offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(array) for array in arrays], out=offsets[1:])
        return cls(np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32), offsets)

    @classmethod
    def join(cls, corpora: Sequence[Corpus]) -> Corpus:
        """Return the corpora one after the other."""
        tokens = [np.zeros(0, dtype=np.int32), *(corpus.tokens for corpus in corpora)]
        lengths = [np.zeros(1, dtype=np.int64), *(corpus.lengths for corpus in corpora)]
        return cls(np.concatenate(tokens), np.cumsum(np.concatenate(lengths)))

    @classmethod
    def open(cls, folder: Path, name: str) -> Corpus:
        """Map the files that `save` wrote."""
        tokens = folder / f"{name}.tokens.npy"
        # An empty file cannot be mapped.
        mode: Literal["r"] | None = "r" if tokens.stat().st_size > 128 else None
        return cls(np.load(tokens, mmap_mode=mode), np.load(folder / f"{name}.offsets.npy"))

    @classmethod
    def exists(cls, folder: Path, name: str) -> bool:
        """Whether `save` wrote a corpus of this name."""
        return (folder / f"{name}.offsets.npy").exists()

    def save(self, folder: Path, name: str) -> None:
        """Write the two files of a corpus."""
        np.save(folder / f"{name}.tokens.npy", self.tokens)
        np.save(folder / f"{name}.offsets.npy", self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.offsets)

    def take(self, places: NDArray[np.int64]) -> Corpus:
        """Return a corpus of these sentences, in this order."""
        lengths = self.lengths[places]
        offsets = np.zeros(len(places) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        # The place of each word: its sentence's start, and how far into the sentence it is.
        words = np.repeat(self.offsets[places] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Corpus(np.asarray(self.tokens[words], dtype=np.int32), offsets)

    def counts(self, lexicon_size: int) -> NDArray[np.int64]:
        """How often each word occurs."""
        return np.bincount(self.tokens, minlength=lexicon_size).astype(np.int64)

    def sentence_counts(self, lexicon_size: int) -> NDArray[np.int64]:
        """In how many sentences each word occurs: the numerator of mu_v (Section 3.1)."""
        sentence = np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)
        distinct = np.unique(sentence * lexicon_size + self.tokens)
        return np.bincount(distinct % lexicon_size, minlength=lexicon_size).astype(np.int64)


def pad_sentences(sentences: Sequence[Ids]) -> NDArray[np.int64]:
    """Return (sentences, longest + 1): each sentence, EOS, then PAD."""
    table = np.full((len(sentences), max((len(s) for s in sentences), default=0) + 1), PAD, dtype=np.int64)
    for row, sentence in zip(table, sentences, strict=True):
        row[: len(sentence)] = sentence
        row[len(sentence)] = EOS
    return table
