"""Where a summary ends: "profit falls in third quarter", not "... in third quarter after bank sets" (not in the paper).

A beam goes on until a line is long enough. So the last words of a summary s of a text x may be cut: of the first n
words, those are kept that have the greatest

    log p(end | s) + GOES_ON * log( p(end | s) / (p(end | s) + p(w | s)) ) - CUT * (words cut)

where trigrams of real summaries say what comes after the n words, and w is the word after the last of them in x: a
summary does not end in "wall" if the text goes on with "street".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nutgraf.text.lexicon import Ids
from nutgraf.text.trigrams import END, START, Floats, Longs, Trigrams, classes_of

GOES_ON, CUT = 2.0, 1.5
_NONE = -2  # in place of a word: there is none


@dataclass(frozen=True)
class Ending:
    """What cuts the last words of summaries, at most a few."""

    trigrams: Trigrams
    most: int  # words cut

    def __call__(self, text: Ids, summaries: Sequence[Ids], least: int = 1) -> list[Ids]:
        """Return the summaries of a text with better ends; `least` words of each stay."""
        ends = [
            (row, stay)
            for row, words in enumerate(summaries)
            for stay in range(len(words), max(min(least, len(words)), len(words) - self.most, 1) - 1, -1)
        ]
        padded = [[_NONE, _NONE, *words.tolist()] for words in summaries]
        last = np.array([padded[row][stay : stay + 2] for row, stay in ends], dtype=np.int32).reshape(-1, 2)
        best, kept = [-np.inf] * len(summaries), [len(words) for words in summaries]
        for (row, stay), value in zip(ends, self._values(text, last).tolist(), strict=True):
            value -= CUT * (len(summaries[row]) - stay)
            if value > best[row]:
                best[row], kept[row] = value, stay
        return [words[:stay] for words, stay in zip(summaries, kept, strict=True)]

    def _values(self, text: Ids, last: Ids) -> Floats:
        """Return what ends after these two words each are worth."""
        words, after = text.tolist(), dict[tuple[int, int], int]()
        for before, word, follower in zip([_NONE, *words], words, [*words[1:], _NONE], strict=False):
            after.setdefault((_NONE, word), follower)  # after any other word
            after[before, word] = follower
        found = [after.get((before, word), after.get((_NONE, word), _NONE)) for before, word in last.tolist()]
        ends = self._probabilities(last, np.full(len(last), END))
        followers = np.array(found, dtype=np.int32)
        follows = np.where(followers == _NONE, 0.0, self._probabilities(last, self._classes(followers)))
        return np.asarray(np.log(ends) + GOES_ON * np.log(ends / (ends + follows)))

    def _probabilities(self, last: Ids, following: Longs) -> Floats:
        return self.trigrams.of_classes(np.column_stack([self._classes(last.ravel()).reshape(last.shape), following]))

    def _classes(self, words: Ids) -> Longs:
        return np.where(words == _NONE, START, classes_of(words, self.trigrams.classes))
