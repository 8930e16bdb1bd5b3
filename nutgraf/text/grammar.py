"""Which forms of a word a summary may have, and after which words: "HSBC names", "shares fall", "to name".

In ids of a lexicon. The rules are those of English headlines, which are written in the present:

- a past or -ing form may become present, a word may become short ("percent", "pct"), "will" may become "to";
- after "has" and the like a verb keeps its form;
- after "to" and the like it is "name"; after a word in -s it is "name" or "names"; after any other it is "names".
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nutgraf.text.inflection import Inflections, words_of
from nutgraf.text.lexicon import Ids

_OF_NAMES = words_of("united")  # forms of verbs that are parts of names far more often
_TO, _FUTURE = "to", words_of("will would")
_HELPERS = words_of("are be been being get gets had has have is was were")
_INFINITIVE = words_of("can cannot could may might must not n't should to will would")
# After these, "to" may stand before a past form: "due to improved sales".
_WANT_TO = words_of(
    """according amount amounts close closer compared contrary due lead leads led linked next open opposed prior related
    respond responds subject thanks tied ties"""
)

Words = frozenset[int]
NONE: Words = frozenset()


@dataclass(frozen=True)
class Grammar:
    """The forms of words, and the words that they depend on."""

    forms: Mapping[int, Sequence[int]]  # what may be said in place of a word
    bare: Words = NONE  # "name"
    third: Words = NONE  # "names"
    past: Words = NONE  # "named"
    going: Words = NONE  # "naming"
    to: int = -1
    infinitive: Words = NONE  # words such as "to", "may"
    plural: Words = NONE  # words in -s
    in_ing: Words = NONE  # words in -ing, of known verbs or not
    helpers: Words = NONE  # words such as "has"
    want_to: Words = NONE  # words such as "due"
    family: Mapping[int, Words] = field(default_factory=dict)  # all forms of a word that has several

    @classmethod
    def of(cls, words: Sequence[str]) -> Grammar:
        """Return the grammar of a lexicon of these words."""
        ids = {word: place for place, word in enumerate(words)}

        def known(some: Collection[str]) -> Words:
            return frozenset(ids[word] for word in some if word in ids)

        inflections = Inflections(words)
        usual = {word: own for word, own in inflections.summary_forms().items() if word not in _OF_NAMES}
        forms = usual | {word: frozenset([_TO]) for word in _FUTURE if word in ids and _TO in ids}
        bare, third = inflections.present_forms()
        plural = [word for word in words if word.endswith("s") and not word.endswith(("'s", "ss"))]
        return cls(
            {ids[word]: sorted(known(own)) for word, own in forms.items()},
            known(bare),
            known(third),
            known(inflections.past_forms()),
            known(inflections.going_forms()),
            ids.get(_TO, -1),
            known(_INFINITIVE),
            known(plural),
            known([word for word in words if word.endswith("ing")]),
            known(_HELPERS),
            known(_WANT_TO),
            _families(inflections, ids),
        )

    def forms_after(self, before: Sequence[int], word: int) -> list[int]:
        """Return the other forms that a word may take after the words before it."""
        last = before[-1] if before else -1
        if last in self.helpers:
            return []
        barred = self.third if last in self.infinitive else NONE if last in self.plural else self.bare
        return [form for form in self.forms.get(word, ()) if form not in barred]

    def match(self, text: Sequence[int], line: Sequence[int]) -> list[int]:
        """Return the place in the text of each word of a line, in order; -1 for words that it does not have.

        As many as possible are matched, each with the first place that allows it.
        """
        own = [self.family.get(word, frozenset()) | {word} for word in line]
        longest = [[0] * (len(text) + 1) for _ in range(len(line) + 1)]  # from word i and place j on
        for i in range(len(line) - 1, -1, -1):
            row, below, forms = longest[i], longest[i + 1], own[i]
            for j in range(len(text) - 1, -1, -1):
                row[j] = max(row[j + 1], below[j], below[j + 1] + 1 if text[j] in forms else 0)
        places: list[int] = []
        start = 0
        for i, forms in enumerate(own):
            best = longest[i][start]
            fitting = (j for j in range(start, len(text)) if text[j] in forms and longest[i + 1][j + 1] + 1 == best)
            places.append(next(fitting, -1))
            start = max(start, places[-1] + 1)
        return places

    def without_mistaken_to(self, sentence: Ids) -> Ids:
        """Return a sentence without "to" before past forms: models that read "to name" write "HSBC to named chief"."""
        words: list[int] = sentence.tolist()
        mistaken = [
            place
            for place, (one, other) in enumerate(itertools.pairwise(words))
            if one == self.to and other in self.past and (place == 0 or words[place - 1] not in self.want_to)
        ]
        return np.delete(sentence, mistaken) if mistaken else sentence


def _families(inflections: Inflections, ids: Mapping[str, int]) -> dict[int, Words]:
    """Return all forms of each word that has several, in ids; "to" stands for "will"."""
    forms = inflections.all_forms() | {_TO: _FUTURE | {_TO}}
    return {
        ids[word]: frozenset(ids[form] for form in own if form in ids) for word, own in forms.items() if word in ids
    }
