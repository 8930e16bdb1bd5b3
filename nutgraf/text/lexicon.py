"""A run's word list, and the part of it that a model knows.

A lexicon numbers every distinct word of both corpora, most frequent first. Corpora, pairs and search use these numbers,
so that a word outside a model's vocabulary can still be copied from the source. A vocabulary is the part of the
lexicon that a model has vectors for, with numbers of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.files import naming, read_words

Ids = NDArray[np.int32]

MOST_WORDS = 20_000_000  # of a lexicon: a bound on what is allocated for a stranger's

PAD, EOS, UNK = 0, 1, 2
SPECIALS = ("<pad>", "</s>", "<unk>")


class Lexicon:
    """All words of a run; a word's id is its place in the list."""

    def __init__(self, words: Sequence[str]):
        if tuple(words[: len(SPECIALS)]) != SPECIALS:
            raise ValueError(f"a lexicon starts with {SPECIALS}")
        self.words = list(words)

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The id of each word; most steps have ids already, and never ask."""
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Iterable[str]) -> Ids:
        """Return the ids of words; a word that is not in the list becomes UNK."""
        return np.array([self._ids.get(token, UNK) for token in tokens], dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the words of ids."""
        return [self.words[i] for i in ids]

    def extended(self, sentences: Iterable[Iterable[str]]) -> Lexicon:
        """Return a lexicon with the new words of these sentences appended, so that they can be copied."""
        new = dict.fromkeys(word for sentence in sentences for word in sentence if word not in self._ids)
        return Lexicon([*self.words, *new]) if new else self

    def save(self, path: Path) -> None:
        """Write one word per line."""
        path.write_text("".join(f"{word}\n" for word in self.words), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read what `save` wrote; a RunError names a file that is no lexicon."""
        with naming(path):
            return cls(read_words(path).split("\n")[:-1])


class Vocab:
    """The words a model knows. Local ids 0, 1, 2 are PAD, EOS, UNK, as in the lexicon."""

    def __init__(self, ids: Ids, lexicon_size: int):
        if not np.array_equal(ids[: len(SPECIALS)], np.arange(len(SPECIALS))):
            raise ValueError("a vocabulary starts with the special words")
        if ids.ndim != 1 or not 0 <= int(ids.min()) <= int(ids.max()) < lexicon_size or lexicon_size > MOST_WORDS:
            raise ValueError(f"a vocabulary of a lexicon of {lexicon_size:,} words, of which it has others")
        self.ids = np.asarray(ids, dtype=np.int32)
        self.table = np.full(lexicon_size, UNK, dtype=np.int32)  # lexicon id -> local id
        self.table[self.ids] = np.arange(len(self.ids), dtype=np.int32)

    @classmethod
    def most_frequent(cls, counts: NDArray[np.int64], size: int) -> Vocab:
        """Take the `size` words with the highest counts (by lexicon id), without words that never occur."""
        counts = counts.copy()
        counts[: len(SPECIALS)] = 0
        order = np.argsort(-counts, kind="stable")[: max(size - len(SPECIALS), 0)]
        kept = order[counts[order] > 0]
        return cls(np.concatenate([np.arange(len(SPECIALS)), kept]).astype(np.int32), len(counts))

    def __len__(self) -> int:
        return len(self.ids)

    def local(self, ids: Ids | NDArray[np.int64]) -> Ids:
        """Map lexicon ids to the vocabulary's own; unknown ones, and those past the lexicon's end, become UNK."""
        known = ids < len(self.table)
        return np.where(known, self.table[np.where(known, ids, UNK)], UNK).astype(np.int32)

    def only(self, kept: Ids) -> Vocab:
        """Return the same words by their places in a smaller lexicon, which has these words of the one before."""
        return Vocab(np.searchsorted(kept, self.ids).astype(np.int32), len(kept))
