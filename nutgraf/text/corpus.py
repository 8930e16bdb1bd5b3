"""Corpora of word ids on disk, memory-mapped: a hundred million sentences take no memory of a process's own.

Two .npy files per corpus: `<name>.tokens.npy` (int32, all sentences end to end) and `<name>.offsets.npy` (int64, where
each sentence starts, and the end). Nothing is pickled. They are written as sentences come (CorpusWriter), and counted
block by block. What is taken from corpora, or joined, without a copy is a selection (see selection).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from nutgraf.errors import RunError
from nutgraf.files import naming, open_regular
from nutgraf.text.lexicon import EOS, PAD, Ids

BLOCK = 1 << 16  # sentences that are counted or copied at once


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
            offsets = _map(paths[1], np.int64)
            if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(tokens) or (offsets[1:] < offsets[:-1]).any():
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

    def blocks(self, size: int = BLOCK) -> Iterator[Corpus]:
        """Yield the sentences block by block, each a corpus; nothing is copied."""
        for start in range(0, len(self), size):
            offsets = self.offsets[start : start + size + 1]
            yield Corpus(self.tokens[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, places: NDArray[np.int64]) -> Corpus:
        """Return a corpus of these sentences, in this order, in memory."""
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
        total = np.zeros(lexicon_size, dtype=np.int64)
        for block in self.blocks():
            total += np.bincount(block.tokens, minlength=lexicon_size)
        return total

    def sentence_counts(self, lexicon_size: int) -> NDArray[np.int64]:
        """In how many sentences each word occurs: the numerator of mu_v (Section 3.1)."""
        total = np.zeros(lexicon_size, dtype=np.int64)
        for block in self.blocks():
            sentence = np.repeat(np.arange(len(block), dtype=np.int64), block.lengths)
            distinct = np.unique(sentence * lexicon_size + block.tokens)
            total += np.bincount(distinct % lexicon_size, minlength=lexicon_size)
        return total


class CorpusWriter:
    """Writes a corpus as its sentences come: the files of `Corpus.save`, but the corpus is never in memory."""

    def __init__(self, folder: Path, name: str):
        self._tokens = _Growing(folder / f"{name}.tokens.npy", np.int32)
        self._offsets = _Growing(folder / f"{name}.offsets.npy", np.int64)
        self._offsets.append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._tokens.file, self._offsets.file:
            if error is None:
                for array in (self._tokens, self._offsets):
                    array.finish()

    def add(self, corpus: Corpus) -> None:
        """Append the sentences of a corpus."""
        self._offsets.append(corpus.offsets[1:] + self._tokens.length)
        self._tokens.append(corpus.tokens)


class _Growing:
    """A .npy file that is appended to; its header, of the same size for any length, is written again at the end."""

    def __init__(self, path: Path, kind: type[np.int32 | np.int64]):
        self.kind, self.length, self.file = np.dtype(kind), 0, path.open("wb")
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        self.file.write(np.ascontiguousarray(values, dtype=self.kind).data)
        self.length += len(values)

    def finish(self) -> None:
        self.file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        facts = {"descr": np.lib.format.dtype_to_descr(self.kind), "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self.file, facts)


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
    # An empty array cannot be mapped. A plain view is cut into sentences ten times as fast as the map itself.
    return np.asarray(np.memmap(path, found, "r", start, shape)) if shape[0] else np.zeros(0, found)
