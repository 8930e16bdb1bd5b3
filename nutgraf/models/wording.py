"""Summaries in the words of real ones: "HSBC names chief" in place of "HSBC named on chief" (not in the paper).

Initial summarizers keep words of the text as they are. An expander that learns from their pairs learns to repeat words,
and writes "HSBC names has a chief" of a real summary, which no text says. So verbs of a summary x become present, words
become short ("pct"), and small ones are left out, where trigrams of real summaries like it better:

    y = argmax  log p(y) - CHANGED * (words in another form) - LEFT_OUT * (words left out)

Before that, "to" goes where a past form follows: of a thousand summaries that say "to name", models learn to write
"HSBC to named chief".

The search keeps the best `KEPT` beginnings of each summary, of those that end in the same two words the better one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nutgraf.text.inflection import past_forms, present_forms, summary_forms, words_of
from nutgraf.text.lexicon import Ids
from nutgraf.text.trigrams import END, START, Trigrams, classes_of

CHANGED, LEFT_OUT = 1.0, 3.0  # in nats
USUAL = 0.05  # of a verb's places in summaries, those that a form needs
KEPT = 6
TOGETHER = 512  # summaries searched at once
_END = -2  # in place of a word: the summary ends
_FUTURE, _TO = words_of("will would"), "to"  # "HSBC will name" is "HSBC to name" in summaries
_HELPERS = words_of("are be been being get gets had has have is was were")
_INFINITIVE = words_of("can cannot could may might must not n't should to will would")
# After these, "to" may stand before a past form: "due to improved sales".
_WANT_TO = words_of(
    """according amount amounts close closer compared contrary due lead leads led linked next open opposed prior related
    respond responds subject thanks tied ties"""
)
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
    forms: Mapping[int, Sequence[int]]  # what may be said in place of a word
    small: frozenset[int]  # words that may be left out
    past: frozenset[int] = frozenset()  # forms that "to" cannot stand before
    to: int = -1
    want_to: frozenset[int] = frozenset()  # words that "to" may follow, whatever comes next
    helpers: frozenset[int] = frozenset()  # words such as "has", after which a verb keeps its form
    infinitive: frozenset[int] = frozenset()  # words such as "to", after which it is "name", and not "names"
    plural: frozenset[int] = frozenset()  # words in -s, after which it may be "name"; after others it is "names"
    bare: frozenset[int] = frozenset()  # forms such as "name"
    third: frozenset[int] = frozenset()  # forms such as "names"

    @classmethod
    def of(cls, trigrams: Trigrams, words: Sequence[str], leaves_out: bool = True) -> Wording:
        """Prepare it for a lexicon of words; `leaves_out` says whether small words may be left out."""
        ids, counts = {word: place for place, word in enumerate(words)}, trigrams.counts()
        known = summary_forms(words) | {word: frozenset([_TO]) for word in _FUTURE if word in ids and _TO in ids}
        forms = {ids[word]: sorted(ids[form] for form in own) for word, own in known.items()}
        usual = {word: own for word, every in forms.items() if (own := _usual(every, counts))}
        bare, third = present_forms(words)
        small, past, want_to, *others = (
            frozenset(ids[word] for word in some if word in ids)
            for some in (
                _SMALL if leaves_out else (),
                past_forms(words),
                _WANT_TO,
                _HELPERS,
                _INFINITIVE,
                [word for word in words if word.endswith("s") and not word.endswith(("'s", "ss"))],
                bare,
                third,
            )
        )
        return cls(trigrams, usual, small, past, ids.get(_TO, -1), want_to, *others)

    def __call__(self, summaries: Sequence[Ids]) -> list[Ids]:
        """Return each summary as real ones would say it."""
        summaries = [self._without_mistaken_to(words) for words in summaries]
        result = list(summaries)
        open_to_change = self.forms.keys() | self.small
        order = [place for place, words in enumerate(summaries) if not open_to_change.isdisjoint(words.tolist())]
        order.sort(key=lambda place: len(summaries[place]))
        for start in range(0, len(order), TOGETHER):
            part = order[start : start + TOGETHER]
            for place, words in zip(part, self._search([summaries[place] for place in part]), strict=True):
                result[place] = np.array(words, dtype=np.int32)
        return result

    def _without_mistaken_to(self, summary: Ids) -> Ids:
        words: list[int] = summary.tolist()
        mistaken = [
            place
            for place, pair in enumerate(itertools.pairwise(words))
            if pair[0] == self.to and pair[1] in self.past and (place == 0 or words[place - 1] not in self.want_to)
        ]
        return np.delete(summary, mistaken) if mistaken else summary

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
            for form in (word, *self._other_forms(word, beginning.words[-1:]))
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

    def _other_forms(self, word: int, before: tuple[int, ...]) -> list[int]:
        """Return the forms that a word may take after the word before it, if there is one."""
        if not self.helpers.isdisjoint(before):
            return []
        to, several = not self.infinitive.isdisjoint(before), not self.plural.isdisjoint(before)
        barred = (self.third if to else frozenset[int]()) | (frozenset[int]() if to or several else self.bare)
        return [form for form in self.forms.get(word, ()) if form not in barred]

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
