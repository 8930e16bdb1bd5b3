"""Corpora of word ids on disk, memory-mapped: a million sentences take no Python objects.

Two .npy files per corpus: `<name>.tokens.npy` (int32, all sentences end to end) and `<name>.offsets.npy` (int64, where
each sentence starts, and the end). Nothing is pickled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from nutgraf.errors import RunError
from nutgraf.files import naming, open_regular
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
        """Map the files that `save` wrote; a RunError names one that is no corpus."""
        paths = [folder / f"{name}.{part}.npy" for part in ("tokens", "offsets")]
        with naming(paths[0]):
            tokens = _map(paths[0], np.int32)
        with naming(paths[1]):
            offsets = np.array(_map(paths[1], np.int64))
            if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(tokens) or (np.diff(offsets) < 0).any():
                raise ValueError("these are not the starts of the sentences")
        return cls(tokens, offsets)

    @classmethod
    def exists(cls, folder: Path, name: str) -> bool:
        """Whether `save` wrote a corpus of this name."""
        return (folder / f"{name}.offsets.npy").exists()

    def save(self, folder: Path, name: str) -> None:
        """Write the two files of a corpus."""
        np.save(folder / f"{name}.tokens.npy", self.tokens)
        np.save(folder / f"{name}.offsets.npy", self.offsets)

    def check(self, path: Path, lexicon_size: int) -> None:
        """Raise a RunError that names the file if a word is none of the lexicon."""
        if len(self.tokens) and not 0 <= int(self.tokens.min()) <= int(self.tokens.max()) < lexicon_size:
            raise RunError(f"{path}: its content cannot be used (words that the lexicon lacks)")

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

    def pad(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `pad_sentences` would for these sentences, without a Python loop."""
        starts, lengths = self.offsets[places], self.lengths[places]
        columns = np.arange(lengths.max() + 1)
        inside = columns < lengths[:, None]
        table = np.full(inside.shape, PAD, dtype=np.int64)
        table[inside] = self.tokens[(starts[:, None] + columns)[inside]]
        table[np.arange(len(places)), lengths] = EOS
        return table

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


def _map(path: Path, kind: type[np.int32 | np.int64]) -> NDArray[Any]:
    """Map the array of a .npy file; its sizes are compared before anything is read."""
    with open_regular(path) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version} of the format .npy")
        shape, _, found = np.lib.format.read_array_header_1_0(file)
        start, size = file.tell(), os.fstat(file.fileno()).st_size
    if found != np.dtype(kind) or len(shape) != 1 or size != start + shape[0] * found.itemsize:
        raise ValueError(f"{shape} of {found} in {size:,} bytes")
    # An empty array cannot be mapped.
    return np.memmap(path, found, "r", start, shape) if shape[0] else np.zeros(0, found)
