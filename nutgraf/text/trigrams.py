"""A trigram language model of summaries: how many bits a word takes tells how much a sentence reads like one of them.

Interpolated, with Witten-Bell's weights: after a history h of count c(h) with T(h) different next words,
p(w | h) = (c(h w) + T(h) p(w | h')) / (c(h) + T(h)), where h' is h without its first word; below the unigrams, all
words are equally likely. All numbers are one word, and so are all words that training saw less than twice. Sentences
are word ids of a lexicon. Counts are sorted arrays, not dicts: a million summaries are counted in seconds. A smaller
model knows fewer words, and leaves out bigrams and trigrams that occur once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.tokens import is_number

NEW_NUMBER = -1  # the id of a number that the lexicon lacks; other ids that it lacks are unknown words
START, END, UNKNOWN, NUMBER = range(4)  # the first classes; each frequent word has one of its own
ORDER = 3
_MIN_COUNT = 2
MOST_BYTES = 2**28  # of a stored model when unpacked: 300,000 summaries take 60 MB
_MOST_ARRAYS = 1 + 2 * ORDER  # in a stored model
_BITS = 21  # of a class in a packed n-gram: three of them go into 63 bits

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


def encode_words(words: Iterable[str], lexicon: Lexicon) -> Ids:
    """Return the ids of words; a number that the lexicon lacks stays a number."""
    words = list(words)
    ids = lexicon.encode(words)
    new = [place for place, word in enumerate(words) if ids[place] < len(SPECIALS) and is_number(word)]
    ids[new] = NEW_NUMBER
    return ids


@dataclass(frozen=True)
class _Counts:
    """n-grams of one length, packed and sorted, and their histories: the same without the last word."""

    grams: Longs
    counts: Longs
    histories: Longs
    totals: Longs  # c(h)
    kinds: Longs  # T(h)

    @classmethod
    def of(cls, grams: Longs, min_count: int = 1) -> _Counts:
        """Count packed n-grams; those that occur less than `min_count` times are left out."""
        distinct, counts = np.unique(grams, return_counts=True)
        return cls.counted(distinct[counts >= min_count], counts[counts >= min_count])

    @classmethod
    def counted(cls, grams: Longs, counts: Longs) -> _Counts:
        """Sum up n-grams that were counted, in their order."""
        histories, starts, kinds = np.unique(grams >> _BITS, return_index=True, return_counts=True)
        totals = np.add.reduceat(counts, starts) if len(counts) else counts
        return cls(grams, counts, histories, totals, kinds)

    def interpolate(self, grams: Longs, lower: Floats) -> Floats:
        """Return the probabilities of n-grams' last words; `lower` are those after a history that is one shorter."""
        found = _look_up(self.grams, self.counts, grams)
        histories = grams >> _BITS
        totals, kinds = (_look_up(self.histories, values, histories) for values in (self.totals, self.kinds))
        seen = np.maximum(totals + kinds, 1)
        return np.where(totals > 0, (found + kinds * lower) / seen, lower)


class Trigrams:
    """A trained model. `classes` has the class of each word id of the lexicon."""

    def __init__(self, classes: Longs, levels: Sequence[_Counts]):
        self.classes, self._levels = classes, levels
        self.size = max(int(classes.max(initial=0)), NUMBER)  # words that may come next: all classes except START

    @classmethod
    def train(cls, summaries: Corpus, lexicon: Lexicon, known: Ids | None = None, min_count: int = 1) -> Trigrams:
        """Count the trigrams of a corpus in ids of the lexicon.

        Only the words `known` are told apart (None: all), and bigrams and trigrams occur `min_count` times or more.
        """
        if len(summaries) == 0:
            raise ValueError("no sentences to learn from")
        classes = classify(summaries.counts(len(lexicon)), lexicon.words, known)
        grams = _pack(classes_of(summaries.tokens, classes), summaries.lengths)
        least = (1, min_count, min_count)
        return cls(classes, [_Counts.of(_shorten(grams, order), least[order - 1]) for order in range(1, ORDER + 1)])

    def only(self, ids: Ids) -> Trigrams:
        """Return the same model for a lexicon of these words, among which all are that it tells apart."""
        return Trigrams(self.classes[ids], self._levels)

    def save(self, path: Path) -> None:
        """Write one compressed file."""
        arrays: dict[str, Any] = {"classes": self.classes.astype(np.int32)}
        for order, level in enumerate(self._levels, 1):
            arrays[f"grams{order}"] = np.diff(level.grams, prepend=0)  # sorted, so that differences are small
            arrays[f"counts{order}"] = level.counts.astype(np.int32)
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> Trigrams:
        """Read what `save` wrote; anything else is a ValueError."""
        try:
            stored = _read_arrays(path)
            counted = [(stored[f"grams{order}"], stored[f"counts{order}"]) for order in range(1, ORDER + 1)]
            classes = stored["classes"]
        except (BadZipFile, KeyError, EOFError) as error:
            raise ValueError(f"no trigrams ({error})") from error
        arrays = [classes, *(array for pair in counted for array in pair)]
        if any(array.min(initial=0) < 0 for array in arrays):
            raise ValueError("counts below 0")
        if classes.max(initial=0) >= 1 << _BITS or any(len(grams) != len(counts) for grams, counts in counted):
            raise ValueError("trigrams of other words")
        levels = [_Counts.counted(np.cumsum(grams), counts.astype(np.int64)) for grams, counts in counted]
        return cls(classes.astype(np.int64), levels)

    def bits(self, sentences: Sequence[Ids]) -> Floats:
        """Return the bits of each sentence, its end included."""
        corpus = sentences if isinstance(sentences, Corpus) else Corpus.of(sentences)
        return -sum_by_sentence(np.log2(self.probabilities(corpus)), corpus)

    def probabilities(self, corpus: Corpus) -> Floats:
        """Return the probability of each word and each end, sentence after sentence."""
        return self._probabilities(_pack(classes_of(corpus.tokens, self.classes), corpus.lengths))

    def bits_per_word(self, sentences: Sequence[Ids]) -> float:
        """Return the mean bits of a word, where the end of a sentence counts as one."""
        words = sum(map(len, sentences)) + len(sentences)
        if words == 0:
            raise ValueError("no sentences to measure")
        return float(self.bits(sentences).sum() / words)

    def next_words(self, history: Ids) -> Floats:
        """Return the probability of each class after the words of a sentence so far; START's is 0."""
        before = np.concatenate([[START] * (ORDER - 1), classes_of(history, self.classes)])[1 - ORDER :]
        grams = (int(before[0]) << 2 * _BITS) + (int(before[1]) << _BITS) + np.arange(1, self.size + 1)
        return np.concatenate([[0.0], self._probabilities(grams)])

    def counts(self) -> Longs:
        """Return how often training saw each word of the lexicon; 0 for words that are not told apart."""
        seen = _look_up(self._levels[0].grams, self._levels[0].counts, self.classes)
        return np.where(self.classes > NUMBER, seen, 0)

    def of_classes(self, trigrams: Longs) -> Floats:
        """Return the probability of the last of three classes after the other two, for each row."""
        return self._probabilities(trigrams @ np.array([1 << 2 * _BITS, 1 << _BITS, 1]))

    def _probabilities(self, grams: Longs) -> Floats:
        found: Floats = np.full(len(grams), 1 / self.size)
        for order, level in enumerate(self._levels, 1):
            found = level.interpolate(_shorten(grams, order), found)
        return found


def sum_by_sentence(values: Floats, corpus: Corpus) -> Floats:
    """Return the sum of the values of each sentence, which has one for each word and one for its end."""
    ends = np.cumsum(corpus.lengths + 1)
    return np.add.reduceat(values, np.concatenate([[0], ends[:-1]])) if len(corpus) else np.zeros(0)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read a file of rows of numbers, by the names that numpy gave them; the file may be a stranger's.

    Nothing is unpacked or allocated before its size is known: numpy's own reader believes what a header says.
    """
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{size:,} bytes; a model of summaries has at most {MOST_BYTES:,}")
    with ZipFile(path) as archive:
        stored = archive.infolist()
        if len(stored) > _MOST_ARRAYS or any(info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for info in stored):
            raise ValueError("an archive of another kind")
        if (size := sum(info.file_size for info in stored)) > MOST_BYTES:
            raise ValueError(f"{size:,} bytes when unpacked; a model of summaries has at most {MOST_BYTES:,}")
        return {info.filename.removesuffix(".npy"): _read_array(_unpack(archive, info)) for info in stored}


def _unpack(archive: ZipFile, info: ZipInfo) -> bytes:
    """Return one file of an archive; without a size, Python would unpack gigabytes to find that there are too many."""
    with archive.open(info) as file:
        return file.read(info.file_size)


def _read_array(content: bytes) -> NDArray[Any]:
    file = BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("arrays of another version of numpy's format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    rest = content[file.tell() :]
    if dtype.kind != "i" or shape != (len(rest) // dtype.itemsize,) or len(rest) % dtype.itemsize:
        raise ValueError("no row of whole numbers, or not as many as it says")
    return np.frombuffer(rest, dtype=dtype)


def classify(counts: Longs, words: Sequence[str], known: Ids | None = None, min_count: int = _MIN_COUNT) -> Longs:
    """Return the class of each word of a lexicon, by how often it occurs; words that are not known are one class."""
    numbers = np.fromiter(map(is_number, words), dtype=bool, count=len(words))
    if known is not None:
        there = np.isin(np.arange(len(words)), known)
        counts, numbers = counts * there, numbers & there
    own = (counts >= min_count) & ~numbers
    own[: len(SPECIALS)] = False
    classes = np.where(numbers, NUMBER, UNKNOWN)
    classes[: len(SPECIALS)] = UNKNOWN
    classes[own] = np.arange(NUMBER + 1, NUMBER + 1 + own.sum())
    return classes.astype(np.int64)


def classes_of(ids: Ids, classes: Longs) -> Longs:
    """Return the classes of words; those past the lexicon's end are unknown."""
    known = (ids >= 0) & (ids < len(classes))
    return np.where(known, classes[np.where(known, ids, 0)], np.where(ids == NEW_NUMBER, NUMBER, UNKNOWN))


def _pack(classes: Longs, lengths: Longs) -> Longs:
    """Return the trigram that ends at each word and at each sentence's end; a sentence begins with two STARTs."""
    padded = lengths + ORDER
    ends = np.cumsum(padded) - 1
    stream = np.full(int(padded.sum()), END, dtype=np.int64)
    first = ends - lengths - (ORDER - 1)  # where each sentence starts
    starts = np.concatenate([first, first + 1])
    stream[starts] = START
    words = np.ones(len(stream), dtype=bool)
    words[starts] = False
    places = np.flatnonzero(words)
    words[ends] = False
    stream[words] = classes
    return (stream[places - 2] << 2 * _BITS) + (stream[places - 1] << _BITS) + stream[places]


def _shorten(grams: Longs, order: int) -> Longs:
    """Return the last `order` words of packed trigrams."""
    return grams & ((1 << order * _BITS) - 1)


def _look_up(keys: Longs, values: Longs, wanted: Longs) -> Longs:
    """Return the value of each wanted key, 0 where it is not among the sorted keys."""
    if len(keys) == 0:
        return np.zeros_like(wanted)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)
