"""Artificial pairs: the artificial side of a training set, sentence by sentence of a real corpus (Section 3).

Pairs are (f(b), b) for all b of the chain's share of a real corpus, so a set is its artificial side alone: sentence i
belongs to sentence i of the share. They are made in chunks of fixed size, each renamed into place when it is on disk,
with randomness from the step and the place: a run that was killed resumes at the chunk. A pair whose artificial side
came out empty stays in the file, and is left out of training.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.files import write_atomically
from nutgraf.models.generation import Apply
from nutgraf.progress import Progress, Report
from nutgraf.run.pairs import ARTIFICIAL
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids
from nutgraf.text.subsequence import common_subsequence

PART = 1_024  # sentences given to a model at once: few enough to report often, enough to sort by length


def generate(real: Corpus, apply: Apply, chunk: int, work: Path, folder: Path, report: Report) -> None:
    """Write the artificial side of { (f(b), b); b in D_B }.

    Eq. 1, Eq. 2 (iteration 0; only F -> S has initial models, so only one of the two occurs) and Eq. 4 (later ones)
    differ in f and in the corpus alone.
    """
    count = len(real)
    starts = range(0, count, chunk)
    for number, start in enumerate(starts):
        path = work / f"chunk-{number:06d}.npy"
        stop = min(start + chunk, count)
        made: list[Ids] = []
        for part in range(start, stop, PART) if not path.exists() else ():
            made += apply(real[part : min(part + PART, stop)], part)
            report(Progress(min(part + PART, stop), count, "sentences"))
        if not path.exists():
            _write_chunk(path, made)
        report(Progress(stop, count, "sentences"))
    sentences = (words for number in range(len(starts)) for words in _read_chunk(work / f"chunk-{number:06d}.npy"))
    Corpus.of(sentences).save(folder, ARTIFICIAL)


def _write_chunk(path: Path, sentences: list[Ids]) -> None:
    lengths = np.array([len(sentences), *(len(words) for words in sentences)], dtype=np.int32)
    buffer = io.BytesIO()
    np.save(buffer, np.concatenate([lengths, *sentences]).astype(np.int32))
    write_atomically(path, buffer.getvalue())


def _read_chunk(path: Path) -> list[Ids]:
    flat: Ids = np.load(path)
    count = int(flat[0])
    return np.split(flat[1 + count :], np.cumsum(flat[1 : 1 + count])[:-1]) if count else []


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
