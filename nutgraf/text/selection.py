"""Sentences of one or several corpora, chosen and in some order, which stay where they are: on disk, memory-mapped.

A selection holds the number of each sentence, eight bytes, and no words. So a chain's share of a corpus, pairs that are
worth learning from, and the union of several chains' pairs cost the same memory whatever their length is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.corpus import BLOCK, Corpus, CorpusWriter
from nutgraf.text.lexicon import Ids

Places = NDArray[np.int64]


class Selection(Sequence[Ids]):
    """Sentences by their numbers, which count through the corpora end to end."""

    def __init__(self, corpora: Sequence[Corpus], numbers: Places):
        self.corpora, self.numbers = tuple(corpora), numbers
        self._ends = np.cumsum([len(corpus) for corpus in corpora], dtype=np.int64)

    @classmethod
    def of(cls, sentences: Sentences) -> Selection:
        """Select all sentences."""
        return sentences if isinstance(sentences, Selection) else cls([sentences], np.arange(len(sentences)))

    @classmethod
    def join(cls, parts: Sequence[Selection]) -> Selection:
        """Return selections one after the other."""
        counts = [0, *(int(part._ends[-1]) if len(part._ends) else 0 for part in parts)]
        numbers = [part.numbers + start for part, start in zip(parts, np.cumsum(counts[:-1]), strict=True)]
        return cls([corpus for part in parts for corpus in part.corpora], np.concatenate([np.zeros(0, int), *numbers]))

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ids]: ...
    def __getitem__(self, index: int | slice) -> Ids | list[Ids]:
        if isinstance(index, slice):
            return [*self.gather(np.arange(*index.indices(len(self))))]
        number = int(self.numbers[index])
        which = int(np.searchsorted(self._ends, number, side="right"))
        return self.corpora[which][number - int(self._ends[which])]  # from its end

    def __iter__(self) -> Iterator[Ids]:
        for block in self.blocks():
            yield from block

    @cached_property
    def lengths(self) -> Places:
        """The number of words of each sentence."""
        lengths = [np.zeros(0, dtype=np.int64), *(corpus.lengths for corpus in self.corpora)]
        return np.asarray(np.concatenate(lengths)[self.numbers])

    def take(self, places: Places) -> Selection:
        """Return these sentences of the selection, in this order."""
        return Selection(self.corpora, self.numbers[places])

    def gather(self, places: Places) -> Corpus:
        """Return a corpus of these sentences, in memory."""
        numbers = self.numbers[places]
        which = np.searchsorted(self._ends, numbers, side="right")
        parts = []
        for place, corpus in enumerate(self.corpora):
            own = numbers[which == place] - (self._ends[place] - len(corpus))
            parts.append(corpus.take(own))
        # Now all sentences of the first corpus come first, then those of the second: back to the order asked for.
        return Corpus.join(parts).take(np.argsort(np.argsort(which, kind="stable")))

    def pad(self, places: Places) -> NDArray[np.int64]:
        """Return what `Corpus.pad` does for these sentences."""
        return self.gather(places).pad(np.arange(len(places)))

    def blocks(self, size: int = BLOCK) -> Iterator[Corpus]:
        """Yield the sentences block by block, each a corpus in memory."""
        for start in range(0, len(self), size):
            yield self.gather(np.arange(start, min(start + size, len(self))))

    def save(self, folder: Path, name: str) -> None:
        """Write the two files of a corpus."""
        with CorpusWriter(folder, name) as writer:
            for block in self.blocks():
                writer.add(block)


Sentences = Corpus | Selection
