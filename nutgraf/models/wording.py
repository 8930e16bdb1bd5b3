"""Summaries in the words of real ones: "HSBC names chief" in place of "HSBC named on chief" (not in the paper).

Initial summarizers keep words of the text as they are. An expander that learns from their pairs learns to repeat words,
and writes "HSBC names has a chief" of a real summary, which no text says. So verbs of a summary x become present, words
become short ("pct"), and small ones are left out, where trigrams of real summaries like it better:

    y = argmax  log p(y) - CHANGED * (words in another form) - LEFT_OUT * (words left out)

`text.grammar` says which forms a word may have.

The search keeps the best `KEPT` beginnings of each summary, of those that end in the same two words the better one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.grammar import Grammar
from nutgraf.text.inflection import words_of
from nutgraf.text.lexicon import Ids
from nutgraf.text.trigrams import END, START, Trigrams, classes_of

CHANGED, LEFT_OUT = 1.0, 3.0  # in nats
USUAL = 0.05  # of a verb's places in summaries, those that a form needs
KEPT = 6
TOGETHER = 512  # summaries searched at once
_END = -2  # in place of a word: the summary ends
_SMALL = words_of(
    """, `` '' ( ) -- a an and as at be been by for from had has have in is it its of on said that the to was were
    which who with"""
)


@dataclass(frozen=True)
class _Beginning:
    """The first words of a summary, the classes of the last two, and what it is worth."""

    score: float = 0.0
    last: tuple[int, int] = (START, START)
    words: tuple[int, ...] = ()


@dataclass(frozen=True)
class Wording:
    """What puts summaries into the words of others."""

    trigrams: Trigrams
    grammar: Grammar
    small: frozenset[int] = frozenset()  # words that may be left out

    @classmethod
    def of(cls, trigrams: Trigrams, words: Sequence[str], leaves_out: bool = True) -> Wording:
        """Prepare it for a lexicon of words; `leaves_out` says whether small words may be left out."""
        grammar, counts = Grammar.of(words), trigrams.counts()
        usual = {word: own for word, forms in grammar.forms.items() if (own := _usual(forms, counts))}
        small = [place for place, word in enumerate(words) if word in _SMALL] if leaves_out else ()
        return cls(trigrams, replace(grammar, forms=usual), frozenset(small))

    def __call__(self, summaries: Sequence[Ids]) -> list[Ids]:
        """Return each summary as real ones would say it."""
        summaries = [self.grammar.without_mistaken_to(words) for words in summaries]
        result = list(summaries)
        open_to_change = self.grammar.forms.keys() | self.small
        order = [place for place, words in enumerate(summaries) if not open_to_change.isdisjoint(words.tolist())]
        order.sort(key=lambda place: len(summaries[place]))
        for start in range(0, len(order), TOGETHER):
            part = order[start : start + TOGETHER]
            for place, words in zip(part, self._search([summaries[place] for place in part]), strict=True):
                result[place] = np.array(words, dtype=np.int32)
        return result

    def _search(self, summaries: Sequence[Ids]) -> list[tuple[int, ...]]:
        begun = [[_Beginning()] for _ in summaries]
        for place in range(max(map(len, summaries))):
            there = [row for row, summary in enumerate(summaries) if place < len(summary)]
            longer = self._continue([begun[row] for row in there], [int(summaries[row][place]) for row in there])
            for row, beginnings in zip(there, longer, strict=True):
                begun[row] = beginnings
        ended = self._continue(begun, [_END] * len(begun))
        return [beginnings[0].words[:-1] for beginnings in ended]

    def _continue(self, begun: Sequence[Sequence[_Beginning]], words: Sequence[int]) -> list[list[_Beginning]]:
        """Return the best beginnings of each summary with its next word."""
        choices = [
            (row, beginning, form, CHANGED if form != word else 0.0)
            for row, (beginnings, word) in enumerate(zip(begun, words, strict=True))
            for beginning in beginnings
            for form in (word, *self.grammar.forms_after(beginning.words, word))
        ]
        new = self._classes([form for _, _, form, _ in choices])
        before = np.array([beginning.last for _, beginning, _, _ in choices])
        gains = np.log(self.trigrams.of_classes(np.column_stack([before, new])))
        longer: list[list[_Beginning]] = [
            [replace(beginning, score=beginning.score - LEFT_OUT) for beginning in beginnings if word in self.small]
            for beginnings, word in zip(begun, words, strict=True)
        ]
        for (row, old, form, cost), kind, gain in zip(choices, new.tolist(), gains.tolist(), strict=True):
            longer[row].append(_Beginning(old.score + gain - cost, (old.last[1], kind), (*old.words, form)))
        return [_best(beginnings) for beginnings in longer]

    def _classes(self, words: Sequence[int]) -> NDArray[np.int64]:
        ids = np.array(words)
        return np.where(ids == _END, END, classes_of(ids, self.trigrams.classes))


def _usual(forms: Sequence[int], counts: NDArray[np.int64]) -> list[int]:
    """Return those forms of a word that summaries use, and not only by mistake."""
    least = USUAL * counts[list(forms)].sum()
    return [form for form in forms if counts[form] > least]


def _best(beginnings: Iterable[_Beginning]) -> list[_Beginning]:
    """Return the best, one for each two last words: what follows cannot tell the others from it."""
    best: dict[tuple[int, int], _Beginning] = {}
    for beginning in sorted(beginnings, key=lambda beginning: -beginning.score):
        best.setdefault(beginning.last, beginning)
    return list(best.values())[:KEPT]
