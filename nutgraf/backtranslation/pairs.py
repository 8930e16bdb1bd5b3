"""Artificial pairs: the artificial side of a training set, sentence by sentence of a real corpus (Section 3).

Pairs are (f(b), b) for all b of the chain's share of a real corpus, so a set is its artificial side alone: sentence i
belongs to sentence i of the share. They are made in chunks of fixed size, each renamed into place when it is on disk,
with randomness from (step key, place): a run that was killed goes on at the chunk. A pair whose artificial side came
out empty stays in the file, and is left out of training.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf.backtranslation.manifest import write_atomically
from nutgraf.progress import Progress, Report
from nutgraf.recipe import INITIALIZERS
from nutgraf.seq2seq.batch import gathered
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, UNK, Ids

NAME = "artificial"
COMMON = 20  # sentences that all chains are given

BLOCK = 8_192  # pairs compared at once
PART = 1_024  # sentences given to a model at once: few enough to report often, enough to sort by length

# A model to be applied: sentences and the place of the first one in, one artificial sentence each out.
Apply = Callable[[Sequence[Ids], int], list[Ids]]


def share(real: Corpus, limit: int, chain: str) -> Corpus:
    """Return the part of D_B that a chain works on: `limit` sentences (0: all), others for each chain.

    So the three chains together see three times as many. The first few are everyone's, to be compared side by side.
    """
    if not 0 < limit < len(real):
        return real
    own = np.arange(limit - min(limit, COMMON)) + INITIALIZERS.index(chain) * limit
    return taken(real, np.concatenate([np.arange(min(limit, COMMON)), COMMON + own % (len(real) - COMMON)]))


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
    Corpus.of(sentences).save(folder, NAME)


def _write_chunk(path: Path, sentences: list[Ids]) -> None:
    lengths = np.array([len(sentences), *(len(words) for words in sentences)], dtype=np.int32)
    buffer = io.BytesIO()
    np.save(buffer, np.concatenate([lengths, *sentences]).astype(np.int32))
    write_atomically(path, buffer.getvalue())


def _read_chunk(path: Path) -> list[Ids]:
    flat: Ids = np.load(path)
    count = int(flat[0])
    return np.split(flat[1 + count :], np.cumsum(flat[1 : 1 + count])[:-1]) if count else []


def cleaned(words: Ids, full_stop: int) -> Ids:
    """Clean an expander's output as the appendix does: collapse contiguous UNK, cut after the first full stop."""
    ends = np.flatnonzero(words == full_stop)
    words = words[: ends[0] + 1] if len(ends) else words
    again = np.zeros(len(words), dtype=bool)
    again[1:] = (words[1:] == UNK) & (words[:-1] == UNK)
    return words[~again]


def told(texts: Corpus, summaries: Corpus) -> NDArray[np.float64]:
    """Return what share of each summary its text says, in the same order: the longest common subsequence."""
    result = np.zeros(len(texts))
    for block in np.array_split(np.arange(len(texts)), range(BLOCK, len(texts), BLOCK)) if len(texts) else ():
        said, wanted = (gathered(corpus, block).numpy().T for corpus in (texts, summaries))
        said = np.where(said < len(SPECIALS), -1, said)  # ends and unknown words are like no word
        longest = np.zeros((len(wanted) + 1, len(block)), dtype=np.int64)
        for word in said:
            before = longest.copy()
            for place, other in enumerate(wanted):
                other_way = np.maximum(before[place + 1], longest[place])
                longest[place + 1] = np.where(word == other, before[place] + 1, other_way)
        result[block] = longest[-1] / np.maximum(1, summaries.lengths[block])
    return result


@dataclass(frozen=True)
class TrainingSet:
    """Artificial or aligned pairs, ready to train on: sentence i of both sides belong together."""

    sources: Corpus
    targets: Corpus


def union(parts: Sequence[tuple[Corpus, Corpus]], least_told: float = 0.0) -> TrainingSet:
    """Join sets of (artificial sources, real targets), as All does (Section 3.2), without pairs that lack a side.

    With `least_told`, sources are artificial texts, and pairs whose text says less of its summary are left out.
    """
    sources, targets = [], []
    for artificial, real in parts:
        usable = (artificial.lengths > 0) & (real.lengths > 0)
        kept = np.flatnonzero(usable & (told(artificial, real) >= least_told) if least_told else usable)
        sources.append(taken(artificial, kept))
        targets.append(taken(real, kept))
    return TrainingSet(joined(sources), joined(targets))


def taken(corpus: Corpus, places: NDArray[np.int64]) -> Corpus:
    """Return a corpus of these sentences, in this order."""
    lengths = corpus.lengths[places]
    offsets = np.zeros(len(places) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    # The place of each word: its sentence's start, and how far into the sentence it is.
    words = np.repeat(corpus.offsets[places] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Corpus(np.asarray(corpus.tokens[words], dtype=np.int32), offsets)


def joined(corpora: Sequence[Corpus]) -> Corpus:
    """Return the corpora one after the other."""
    tokens = np.concatenate([corpus.tokens for corpus in corpora]) if corpora else np.zeros(0, dtype=np.int32)
    lengths = np.concatenate([corpus.lengths for corpus in corpora]) if corpora else np.zeros(0, dtype=np.int64)
    return Corpus(tokens, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]))
