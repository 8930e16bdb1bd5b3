"""Artificial pairs: the artificial side of a training set, sentence by sentence of a real corpus (Section 3).

Pairs are (f(b), b) for all b of the chain's share of a real corpus, so a set is its artificial side alone: sentence i
belongs to sentence i of the share. They are made in chunks of fixed size, each renamed into place with its checksum
when it is on disk, with randomness from the step and the place: a run that was killed resumes at the chunk. A pair
whose artificial side came out empty stays in the file, and is left out of training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.files import read_sealed, write_sealed
from nutgraf.models.generation import Apply
from nutgraf.progress import Progress, Report, ignore
from nutgraf.run.pairs import ARTIFICIAL
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids
from nutgraf.text.subsequence import common_subsequence

PART = 1_024  # sentences given to a model at once: few enough to report often, enough to sort by length


def generate(
    real: Corpus,
    apply: Apply,
    chunk: int,
    work: Path,
    folder: Path,
    report: Report,
    warn: Callable[[str], None] = ignore,
) -> None:
    """Write the artificial side of { (f(b), b); b in D_B }.

    Eq. 1, Eq. 2 (iteration 0; only F -> S has initial models, so only one of the two occurs) and Eq. 4 (later ones)
    differ in f and in the corpus alone.
    """
    count = len(real)
    sentences: list[Ids] = []
    for number, start in enumerate(range(0, count, chunk)):
        path = work / f"chunk-{number:06d}"
        stop = min(start + chunk, count)
        made = _read_chunk(path, stop - start, warn) if path.exists() else None
        if made is None:
            made = []
            for part in range(start, stop, PART):
                made += apply(real[part : min(part + PART, stop)], part)
                report(Progress(min(part + PART, stop), count, "sentences"))
            _write_chunk(path, made)
        sentences += made
        report(Progress(stop, count, "sentences"))
    Corpus.of(sentences).save(folder, ARTIFICIAL)


def _write_chunk(path: Path, sentences: list[Ids]) -> None:
    lengths = np.array([len(sentences), *(len(words) for words in sentences)], dtype=np.int32)
    write_sealed(path, np.concatenate([lengths, *sentences]).astype("<i4").tobytes())


def _read_chunk(path: Path, count: int, warn: Callable[[str], None]) -> list[Ids] | None:
    """Return the sentences of a chunk; None where it is damaged: as in a log, what cannot be trusted is made again."""
    content = read_sealed(path)
    flat = np.frombuffer(content, dtype="<i4").astype(np.int32) if content and len(content) % 4 == 0 else np.zeros(1)
    lengths, words = flat[1 : 1 + count], flat[1 + count :]
    if flat[0] != count or len(lengths) != count or lengths.min(initial=0) < 0 or lengths.sum() != len(words):
        warn(f"{path}: damaged, its checksum is not the one that was written; these {count:,} sentences are made again")
        return None
    return np.split(words, np.cumsum(lengths)[:-1])


def coverage(texts: Corpus, summaries: Corpus) -> NDArray[np.float64]:
    """Return the share of each summary's words that its text has, in the same order (longest common subsequence)."""
    pairs = zip(texts, summaries, strict=True)
    common = [common_subsequence(_known(summary), _known(text)) for text, summary in pairs]
    return np.array(common, dtype=np.float64) / np.maximum(1, summaries.lengths)


def _known(words: Ids) -> list[int]:
    """Leave out the special words: an unknown word is like no other."""
    known: list[int] = words[words >= len(SPECIALS)].tolist()
    return known


@dataclass(frozen=True)
class TrainingSet:
    """Artificial or aligned pairs, ready to train on: sentence i of both sides belong together."""

    sources: Corpus
    targets: Corpus

    def joined(self, other: TrainingSet, times: int) -> TrainingSet:
        """Return these pairs and the others, each of which counts `times` times."""
        sources, targets = [other.sources] * times, [other.targets] * times
        return TrainingSet(Corpus.join([self.sources, *sources]), Corpus.join([self.targets, *targets]))


def union(parts: Sequence[tuple[Corpus, Corpus]], min_coverage: float = 0.0) -> TrainingSet:
    """Join sets of (artificial sources, real targets), as All does (Section 3.2), without pairs that lack a side.

    With `min_coverage`, sources are artificial texts, and pairs whose text covers less of its summary are left out.
    """
    sources, targets = [], []
    for artificial, real in parts:
        usable = (artificial.lengths > 0) & (real.lengths > 0)
        kept = np.flatnonzero(usable & (coverage(artificial, real) >= min_coverage) if min_coverage else usable)
        sources.append(artificial.take(kept))
        targets.append(real.take(kept))
    return TrainingSet(Corpus.join(sources), Corpus.join(targets))
