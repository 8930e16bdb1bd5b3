"""Which lines for a text cannot be right, as far as the text's own words tell (not in the paper).

Models leave out words and turn others round. Where they do this to verbs, somebody does what another did:

- a verb of the text stands in another place: "govt to worsen curbs" of "govt suggests curbs on what could worsen it";
- a verb that the text lacks stands in place of one that it has: "Acme opposes loss" of "Acme posted a loss";
- "to" has skipped the verb that it belongs to: "police to open safe" of "police jailed a man who tried to open a safe";
- "to" has skipped who will do it: "Acme to resign" of "Acme said its chief will resign";
- two words stand side by side that no sentence has: "Acme to Zenith", "chief of at Acme", "40 of houses".

Once lines are whole, a verb must have its own object: not "Acme closed in Rome" of "Acme closed a plant in Rome", nor
"Acme denies Zenith" of "Acme denied that it will buy Zenith".

Others read badly: a line breaks where it joins words that are apart in the text, unless only small words are between
them, or a phrase ends with the first and another one of the same clause begins with the second.

In ids of a lexicon, by rules of English; what the text says itself is always sound.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.models.rules import Rules
from nutgraf.text.lexicon import Ids


@dataclass(frozen=True)
class Soundness(Rules):
    """What tells sound lines from others."""

    def choose(self, text: Ids, lines: Sequence[Ids]) -> list[Ids]:
        """Return the lines for a text that are sound; if none is, those without odd neighbours; else all."""
        source = text.tolist()
        words = [word for word in source if word not in self.known.articles]
        said = {*itertools.pairwise(words)}
        usual = [line for line in lines if not any(map(self._is_odd, {*itertools.pairwise(line.tolist())} - said))]
        return [line for line in usual if self._keeps_verbs(source, line.tolist())] or usual or list(lines)

    def choose_whole(self, text: Ids, lines: Sequence[Ids]) -> list[Ids]:
        """Return the whole lines for a text that are sound, and whose verbs have their objects, if there are such."""
        sound, source = self.choose(text, lines), text.tolist()
        return [line for line in sound if self._keeps_objects(source, line.tolist())] or sound

    def count_breaks(self, text: Ids, line: Ids) -> int:
        """Return how often a line breaks, or says a word that its text does not have in any form."""
        source, known = text.tolist(), self.known
        dropped = known.articles | known.helping | known.not_needed
        places = self.grammar.match(source, line.tolist())
        breaks, last = sum(place < 0 for place in places[1:]), -1
        for word, place in zip(line.tolist(), places, strict=True):
            gap = source[last + 1 : place] if last >= 0 <= place else []
            if not dropped.issuperset(gap):
                link = word in known.marks or (word in known.links and word not in known.genitive)
                opens = link or self.phrases.is_verb(source, place)
                belongs = known.clause.isdisjoint(gap) or source[place] in known.future  # "law to help": "that will"
                breaks += not (opens and belongs and self.phrases.end_at(source, last))
            last = place if place >= 0 else last
        return breaks

    def _is_odd(self, pair: tuple[int, int]) -> bool:
        """Whether the second of two words cannot follow the first."""
        grammar, known = self.grammar, self.known
        if pair[0] == grammar.to:
            return pair[1] not in grammar.bare
        if pair[0] in known.numbers:
            return pair[1] in known.genitive
        if pair[0] in known.reports:
            return pair[1] in known.relative and pair[1] not in known.that
        return all(word in known.links and word not in known.joints | known.negations for word in pair)

    def _keeps_verbs(self, text: Sequence[int], line: Sequence[int]) -> bool:
        """Whether a line has the verbs of its text in their order, and each "to" behind its own."""
        places, grammar = self.grammar.match(text, line), self.grammar
        steps = [*zip(line, places, [-1, *line], [-1, *places], strict=False)]
        moved = {word for word, place, before, _ in steps if place < 0 and self._is_surely_verb(word, before)}
        if any(not grammar.family.get(word, frozenset()).isdisjoint(text) for word in moved):
            return False
        acting = [(last, place) for word, place, _, last in steps if word == grammar.to and 0 <= last < place]
        if any(self._skips_verb(text, *gap) or self._skips_subject(text, *gap) for gap in acting):
            return False
        inner = zip(places, line[1:], places[1:], places[2:], strict=False)
        return not any(at < 0 and self._replaces_verb(text, word, before, after) for before, word, at, after in inner)

    def _is_surely_verb(self, word: int, before: int) -> bool:
        """Whether a word is a verb: "named", "naming" and "to name", but not "names", which may be a noun."""
        grammar = self.grammar
        return word in grammar.past or word in grammar.going or (before == grammar.to and word in grammar.bare)

    def _skips_verb(self, text: Sequence[int], before: int, place: int) -> bool:
        """Whether a verb was left out between a word and "to", other than one that goes on with it: "agreed to"."""
        if text[place] != self.grammar.to:
            return False
        known = self.known
        gap = [k for k in range(before + 1, place - 1) if text[k] not in known.reports and text[k] not in known.small]
        return any(text[k] in self.phrases.tensed and self.phrases.is_verb(text, k) for k in gap)

    def _skips_subject(self, text: Sequence[int], before: int, place: int) -> bool:
        """Whether who will do something was left out, and another only said so: "Acme said its chief will resign"."""
        known = self.known
        said = next((k for k in range(before, place) if text[k] in known.reports), place)
        others = known.small | known.pronouns | known.not_needed | known.marks
        return text[place] in known.future and any(text[k] not in others for k in range(said + 1, place))

    def _keeps_objects(self, text: Sequence[int], line: Sequence[int]) -> bool:
        places = self.grammar.match(text, line)
        return not any(self._loses_object(text, before, place) for before, place in itertools.pairwise(places))

    def _loses_object(self, text: Sequence[int], before: int, place: int) -> bool:
        """Whether the object of a verb was left out in front of a preposition, or of what another verb has for one."""
        known, phrases, gap = self.known, self.phrases, range(before + 1, place)
        if before < 0 or len(gap) == 0 or not phrases.is_finite(text, before) or text[before] in known.reports:
            return False
        if text[place] in known.links - known.joints:
            return text[gap[0]] in known.the and known.clause.isdisjoint(text[k] for k in gap)
        opener = next((k for k in gap if text[k] in known.relative), place)
        acts = any(phrases.is_finite(text, k) for k in range(opener + 1, place))
        return acts and not phrases.is_plain(text[place]) and not phrases.is_verb(text, place)

    def _replaces_verb(self, text: Sequence[int], word: int, before: int, after: int) -> bool:
        """Whether a verb that the text lacks stands in place of one that it has: "opposes" for "posted"."""
        if not 0 <= before < after or not self._has_tense(word):
            return False
        reports = self.known.reports
        return any(self._has_tense(text[k]) and text[k] not in reports for k in range(before + 1, after))

    def _has_tense(self, word: int) -> bool:
        return word in self.grammar.past or word in self.grammar.third
