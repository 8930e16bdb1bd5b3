"""Artificial pairs: the artificial side of a training set, sentence by sentence of a real corpus (Section 3).

Pairs are (f(b), b) for all b of the chain's share of a real corpus, so a set is its artificial side alone: sentence i
belongs to sentence i of the share. They are made in chunks, each renamed into place with its checksum when it is on
disk, with randomness from the step and the place: a run that was killed resumes at the chunk, and workers can make
chunks side by side. The size of chunks changes nothing where it is a multiple of `PART`. A pair whose artificial side
came out empty stays in the file, and is left out of training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.errors import RunError
from nutgraf.files import read_sealed, write_sealed
from nutgraf.models.generation import Apply
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.pairs import ARTIFICIAL
from nutgraf.text.corpus import Corpus, CorpusWriter
from nutgraf.text.lexicon import SPECIALS, Ids
from nutgraf.text.selection import Selection, Sentences
from nutgraf.text.subsequence import common_subsequence

PART = 1_024  # sentences given to a model at once: few enough to report often, enough to sort by length


@dataclass(frozen=True)
class Chunk:
    """Sentences that are made and written together: from start, up to stop."""

    start: int
    stop: int

    @property
    def name(self) -> str:
        """The name of its file, which says which sentences are in it: another run may have other chunks."""
        return f"chunk-{self.start:09d}-{self.stop:09d}"


# Makes chunks, in any order, and yields those that are on disk; progress counts the sentences made since the last.
Make = Callable[[Sequence[Chunk], Report], Iterable[Chunk]]


def generate(
    count: int, size: int, make: Make, work: Path, folder: Path, report: Report, warn: Callable[[str], None] = ignore
) -> None:
    """Write the artificial side of { (f(b), b); b in D_B }, made in chunks of a size; those in `work` are kept.

    Eq. 1, Eq. 2 (iteration 0; only F -> S has initial models, so only one of the two occurs) and Eq. 4 (later ones)
    differ in f and in the corpus alone.
    """
    chunks = [Chunk(start, min(start + size, count)) for start in range(0, count, size)]
    there = {path.name for path in work.iterdir()}
    missing = [chunk for chunk in chunks if chunk.name not in there or _read_chunk(work, chunk, warn) is None]
    kept = done = count - sum(chunk.stop - chunk.start for chunk in missing)

    def add(progress: Progress) -> None:
        nonlocal done
        done = min(count, done + progress.done)  # a chunk that is repeated counts twice until it is written
        report(Progress(done, count, "sentences"))

    for chunk in make(missing, add):
        kept += chunk.stop - chunk.start
        report(Progress(max(done, kept), count, "sentences"))
    with CorpusWriter(folder, ARTIFICIAL) as writer:
        for chunk in chunks:
            writer.add(_read_whole(work, chunk))


def write_chunk(real: Sentences, apply: Apply, chunk: Chunk, work: Path, report: Report) -> None:
    """Make a chunk and put its file in place; of two attempts, either leaves the same file."""
    sentences: list[Ids] = []
    for start in range(chunk.start, chunk.stop, PART):
        stop = min(start + PART, chunk.stop)
        sentences += apply(real[start:stop], start)
        report(Progress(stop - start, 0, "sentences"))
    lengths = np.array([len(sentences), *(len(words) for words in sentences)], dtype=np.int32)
    write_sealed(work / chunk.name, np.concatenate([lengths, *sentences]).astype("<i4").tobytes())


def _read_chunk(work: Path, chunk: Chunk, warn: Callable[[str], None]) -> Corpus | None:
    """Return the sentences of a chunk; None where it is damaged: as in a log, what cannot be trusted is made again."""
    path, count = work / chunk.name, chunk.stop - chunk.start
    content = read_sealed(path)
    stored = content if content and len(content) % 4 == 0 else bytes(4)
    flat = np.frombuffer(stored, dtype="<i4").astype(np.int32)
    lengths, words = flat[1 : 1 + count], flat[1 + count :]
    if flat[0] != count or len(lengths) != count or lengths.min(initial=0) < 0 or lengths.sum() != len(words):
        warn(f"{path}: damaged, its checksum is not the one that was written; these {count:,} sentences are made again")
        return None
    return Corpus(words, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def _read_whole(work: Path, chunk: Chunk) -> Corpus:
    """Return the sentences of a chunk that was written by this run, or checked by it."""
    sentences = _read_chunk(work, chunk, ignore)
    if sentences is None:
        raise RunError(f"{work / chunk.name}: damaged since it was written. The same command makes it again")
    return sentences


def coverage(texts: Sentences, summaries: Sentences) -> NDArray[np.float64]:
    """Return the share of each summary's words that its text has, in the same order (longest common subsequence)."""
    pairs = zip(texts, summaries, strict=True)
    common = (common_subsequence(_known(summary), _known(text)) for text, summary in pairs)
    return np.fromiter(common, dtype=np.float64) / np.maximum(1, summaries.lengths)


def _known(words: Ids) -> list[int]:
    """Leave out the special words: an unknown word is like no other."""
    known: list[int] = words[words >= len(SPECIALS)].tolist()
    return known


@dataclass(frozen=True)
class TrainingSet:
    """Artificial or aligned pairs, ready to train on: sentence i of both sides belong together."""

    sources: Selection
    targets: Selection

    def joined(self, other: TrainingSet, times: int) -> TrainingSet:
        """Return these pairs and the others, each of which counts `times` times."""
        sources, targets = [other.sources] * times, [other.targets] * times
        return TrainingSet(Selection.join([self.sources, *sources]), Selection.join([self.targets, *targets]))


def union(parts: Sequence[tuple[Sentences, Sentences]], min_coverage: float = 0.0) -> TrainingSet:
    """Join sets of (artificial sources, real targets), as All does (Section 3.2), without pairs that lack a side.

    With `min_coverage`, sources are artificial texts, and pairs whose text covers less of its summary are left out.
    """
    sources, targets = [], []
    for artificial, real in parts:
        usable = (artificial.lengths > 0) & (real.lengths > 0)
        kept = np.flatnonzero(usable & (coverage(artificial, real) >= min_coverage) if min_coverage else usable)
        sources.append(Selection.of(artificial).take(kept))
        targets.append(Selection.of(real).take(kept))
    return TrainingSet(Selection.join(sources), Selection.join(targets))
