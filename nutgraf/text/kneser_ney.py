"""An n-gram language model with interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998), as KenLM's lmplz.

After a history h of k - 1 words, the word w has

    p(w | h) = max(c(h w) - D(c(h w)), 0) / c(h) + gamma(h) p(w | h')

where h' is h without its first word and gamma(h) is what the discounts D leave. c counts at the highest order; below
it, c(h w) is the number of different words seen before h w, except where h begins a sentence, which nothing comes
before. Below the unigrams, all words are equally likely. Each order has three discounts, for counts of 1, of 2 and of
more, from the numbers n1 to n4 of n-grams that occur once to four times:

    Y = n1 / (n1 + 2 n2),  D(1) = 1 - 2 Y n2 / n1,  D(2) = 2 - 3 Y n3 / n2,  D(3+) = 3 - 4 Y n4 / n3

Words are word ids of a lexicon. All numbers are one word, and so are all words that training did not see. n-grams are
sorted arrays, not dicts: a million summaries are counted in seconds. Whoever asks carries contexts along: the places of
the last 1, 2 ... words among the n-grams of their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf.files import check_regular
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import MOST_WORDS, Ids, Lexicon
from nutgraf.text.trigrams import END, NUMBER, START, Floats, Longs, classes_of, classify

NONE = -1  # the place of an n-gram that was not seen
FALLBACK = (0.5, 1.0, 1.5)  # discounts where too few n-grams occur once to four times, those of lmplz
PRUNED_FROM = 3  # n-grams of this length and above are left out where they are rare
MOST_ORDER = 9
Shares = NDArray[np.float32]


@dataclass(frozen=True)
class _Level:
    """The n-grams of one length. `keys` are sorted: the place of the words before in the level below, and the last."""

    keys: Longs
    shares: Shares  # (c(h w) - D) / c(h)
    gammas: Shares  # of the n-gram as a history

    def find(self, keys: Longs) -> Longs:
        """Return the places of n-grams, NONE where they are not here."""
        if len(self.keys) == 0:
            return np.full(len(keys), NONE, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, NONE)


class KneserNey:
    """A trained model. `classes` has the class of each word id of the lexicon; the first level has a row per class."""

    def __init__(self, classes: Longs, levels: Sequence[_Level]):
        self.classes, self._levels = classes, levels
        self.order, self._size = len(levels), len(levels[0].shares)
        # What is left of the unigrams is shared by all classes except START.
        self._floor = (1 - float(levels[0].shares.sum(dtype=np.float64))) / (self._size - 1)

    @classmethod
    def train(cls, corpus: Corpus, lexicon: Lexicon, order: int, min_count: int = 1) -> KneserNey:
        """Count the n-grams of up to `order` words, at least 2; longer than bigrams, `min_count` times or more."""
        if len(corpus) == 0:
            raise ValueError("no sentences to learn from")
        classes = classify(corpus.counts(len(lexicon)), lexicon.words, min_count=1)
        return cls(classes, _prune(_count(classes_of(corpus.tokens, classes), corpus, classes, order), min_count))

    def first(self, count: int = 1) -> Longs:
        """Return the contexts (count, order - 1) of sentences that begin."""
        contexts = np.full((count, self.order - 1), NONE, dtype=np.int64)
        contexts[:, 0] = START
        return contexts

    def extend(self, contexts: Longs, words: Longs) -> tuple[Floats, Longs]:
        """Return the probabilities of classes (n,) after contexts (n, order - 1), and the contexts that follow."""
        following = np.full_like(contexts, NONE)
        following[:, 0] = words
        found: Floats = self._levels[0].shares[words].astype(np.float64) + self._floor
        for length in range(1, self.order):
            history, level = contexts[:, length - 1], self._levels[length]
            places = np.where(history != NONE, level.find(history * self._size + words), NONE)
            gammas = _take(self._levels[length - 1].gammas, history, 1.0)
            found = gammas * found + _take(level.shares, places, 0.0)
            if length < self.order - 1:
                following[:, length] = places
        return found, following

    def classes_of(self, ids: Ids) -> Longs:
        """Return the classes of words; those past the lexicon's end are unknown."""
        return classes_of(ids, self.classes)

    def log_probability(self, sentence: Ids) -> float:
        """Return the natural logarithm of a sentence's probability, its end included."""
        contexts, total = self.first(), 0.0
        for word in [*self.classes_of(sentence).tolist(), END]:
            probability, contexts = self.extend(contexts, np.array([word]))
            total += float(np.log(probability[0]))
        return total

    def next_words(self, history: Ids) -> Floats:
        """Return the probability of each class after the words of a sentence so far; START's is 0."""
        contexts = self.first()
        for word in self.classes_of(history).tolist():
            contexts = self.extend(contexts, np.array([word]))[1]
        found, _ = self.extend(np.repeat(contexts, self._size - 1, axis=0), np.arange(1, self._size))
        return np.concatenate([[0.0], found])

    def save(self, path: Path) -> None:
        """Write one safetensors file."""
        arrays: dict[str, NDArray[np.int32] | Longs | Shares] = {"classes": self.classes.astype(np.int32)}
        for order, level in enumerate(self._levels, 1):
            arrays |= {f"keys{order}": level.keys, f"shares{order}": level.shares, f"gammas{order}": level.gammas}
        save_file(arrays, path)

    @classmethod
    def load(cls, path: Path) -> KneserNey:
        """Read what `save` wrote; anything else is a ValueError."""
        check_regular(path, path.lstat().st_mode)
        arrays = load_file(path)
        classes = arrays.pop("classes", np.zeros(0, np.float32))
        order = len(arrays) // 3
        wanted = {f"{part}{n}" for n in range(1, order + 1) for part in ("keys", "shares", "gammas")}
        if not 2 <= order <= MOST_ORDER or set(arrays) != wanted:
            raise ValueError("no language model")
        levels = [_Level(arrays[f"keys{n}"], arrays[f"shares{n}"], arrays[f"gammas{n}"]) for n in range(1, order + 1)]
        _check(classes, levels)
        return cls(classes.astype(np.int64), levels)


def _take(values: Shares, places: Longs, otherwise: float) -> Floats:
    """Return the values at places, and another one where a place is NONE."""
    if len(values) == 0:
        return np.full(len(places), otherwise)
    return np.where(places != NONE, values[places], otherwise)


def find_discounts(counts: Longs) -> Floats:
    """Return the discounts of counts 0, 1, 2 and more, from how many n-grams occur once to four times."""
    n1, n2, n3, n4 = (int((counts == count).sum()) for count in (1, 2, 3, 4))
    if n1 and n2 and n3 and n4:
        y = n1 / (n1 + 2 * n2)
        found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
        if all(0 < discount <= most for discount, most in zip(found, (1, 2, 3), strict=True)):
            return np.array([0.0, *found])
    return np.array([0.0, *FALLBACK])


@dataclass(frozen=True)
class _Counted:
    """The n-grams of one length as they were counted, none left out."""

    keys: Longs
    counts: Longs
    seen_after: Longs  # c(h w): raw at the highest order and at a sentence's beginning, else different words before
    parents: Longs  # the place of h in the level below


def _count(words: Longs, corpus: Corpus, classes: Longs, order: int) -> list[_Counted]:
    """Count the n-grams of all lengths; `words` are the corpus's words as classes."""
    stream, depth = _lay_out(words, corpus)
    size = max(int(classes.max(initial=0)), NUMBER) + 1
    places, levels = stream, []  # `places`: of the n-gram that ends at each word, among those of its length
    keys, counts = np.arange(size), np.bincount(stream, minlength=size)
    at_start, parents = np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64)
    for length in range(2, order + 1):
        ends = np.flatnonzero(depth >= length - 1)
        longer, first, inverse, raw = np.unique(
            places[ends - 1] * size + stream[ends], return_index=True, return_inverse=True, return_counts=True
        )
        # An n-gram without its first word ends at the same place.
        before = np.bincount(places[ends[first]], minlength=len(keys))
        levels.append(_Counted(keys, counts, np.where(at_start, counts, before), parents))
        places = np.full(len(stream), NONE, dtype=np.int64)
        places[ends] = inverse
        keys, counts, parents, at_start = longer, raw, longer // size, depth[ends[first]] == length - 1
    return [*levels, _Counted(keys, counts, counts, parents)]


def _lay_out(words: Longs, corpus: Corpus) -> tuple[Longs, Longs]:
    """Return all sentences end to end, each between START and END, and each word's distance from its START."""
    lengths = corpus.lengths + 2
    firsts = np.cumsum(lengths) - lengths
    depth = np.arange(int(lengths.sum())) - np.repeat(firsts, lengths)
    stream = np.full(len(depth), END, dtype=np.int64)
    stream[firsts] = START
    inside = depth > 0
    inside[firsts + lengths - 1] = False
    stream[inside] = words
    return stream, depth


def _prune(counted: Sequence[_Counted], min_count: int) -> list[_Level]:
    """Return the levels without rare n-grams; what these had goes to the words after a shorter history."""
    kept_before, levels = np.arange(len(counted[0].keys)), []
    size = len(counted[0].keys)
    shares = [_find_shares(level, len(counted[max(place - 1, 0)].keys)) for place, level in enumerate(counted)]
    for place, level in enumerate(counted):
        length = place + 1
        kept = np.flatnonzero(level.counts >= (min_count if length >= PRUNED_FROM else 0))
        new_places = np.full(len(level.keys), NONE, dtype=np.int64)
        new_places[kept] = np.arange(len(kept))
        keys = level.keys[kept]
        if length > 1:
            keys = kept_before[level.parents[kept]] * size + keys % size
        gammas = _find_gammas(counted, shares, place, min_count)[kept]
        levels.append(_Level(keys, shares[place][kept].astype(np.float32), gammas.astype(np.float32)))
        kept_before = new_places
    return levels


def _find_shares(level: _Counted, histories: int) -> Floats:
    """Return (c(h w) - D) / c(h) of all n-grams."""
    discounts = find_discounts(level.seen_after)[np.minimum(level.seen_after, 3)]
    totals = np.bincount(level.parents, level.seen_after, minlength=histories)
    return (level.seen_after - discounts) / np.maximum(totals[level.parents], 1)


def _find_gammas(counted: Sequence[_Counted], shares: Sequence[Floats], place: int, min_count: int) -> Floats:
    """Return what the words that were kept after each n-gram leave to others: 1 where there is none."""
    if place + 1 == len(counted):
        return np.ones(len(counted[place].keys))
    after = counted[place + 1]
    kept = after.counts >= (min_count if place + 2 >= PRUNED_FROM else 0)
    used = np.bincount(after.parents[kept], shares[place + 1][kept], minlength=len(counted[place].keys))
    return np.asarray(1 - used, dtype=np.float64)


def _check(classes: NDArray[Any], levels: Sequence[_Level]) -> None:
    """Raise a ValueError where a file is not one that `save` wrote: every place must be one that there is."""
    size, below = len(levels[0].shares), 1
    if classes.ndim != 1 or classes.dtype != np.int32 or not NUMBER < size <= MOST_WORDS:
        raise ValueError("classes of other words")
    if len(classes) and not 0 <= int(classes.min()) <= int(classes.max()) < size:
        raise ValueError("classes that the model lacks")
    for level in levels:
        keys = level.keys
        if keys.dtype != np.int64 or not keys.shape == level.shares.shape == level.gammas.shape == (len(keys),):
            raise ValueError("n-grams without figures")
        if len(keys) and (keys[0] < 0 or keys[-1] >= below * size or (np.diff(keys) <= 0).any()):
            raise ValueError("n-grams that are not in order")
        if not all(part.dtype == np.float32 and _are_shares(part) for part in (level.shares, level.gammas)):
            raise ValueError("figures that are no shares")
        below = len(keys)


def _are_shares(values: Shares) -> bool:
    return bool(np.isfinite(values).all() and (values >= -1e-6).all() and (values <= 1 + 1e-6).all())
