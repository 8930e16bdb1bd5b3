"""What a summary should not have left out between two of its words, to go by its text (not in the paper).

Prepositions, conjunctions and negations come back, "that" before a verb, one other word, or two of one phrase, "to" for
"will" before a verb, "says" before what was said. First names behind a title do not: "Senator Hart" of "Senator Mary
Hart". Nor do words that no headline needs, such as "Inc". In ids of a lexicon; `models.mending` makes lines whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from nutgraf.models.rules import Rules
from nutgraf.text.phrases import Phrases

MOST_MISSING = 3  # words in a row that may have been left out by mistake
MOST_NAMES = 2  # first names behind a title
MOST_CLAUSE = 5  # words of ", losing two" before "games to" that may come back


@dataclass(frozen=True)
class Gaps(Rules):
    """What fills gaps."""

    said: int
    says: int

    @classmethod
    def of(cls, words: Sequence[str], phrases: Phrases) -> Gaps:
        """Prepare it for a lexicon of words, and what reads its phrases."""
        return cls(phrases, *(words.index(word) if word in words else -1 for word in ("said", "says")))

    def fill(self, text: Sequence[int], before: int, place: int, word: int) -> list[tuple[int, int]]:
        """Return what should not have been left out between two words of a line: its places, and what to say there."""
        gap, last, known = range(before + 1, place), text[before], self.known
        if text[place - 1] in known.future and text[place] == word and self.grammar.to >= 0:
            kept = text[place - 1] if last in known.pronouns else self.grammar.to
            return [] if last in known.future or last == self.grammar.to else [(place - 1, kept)]
        if len(gap) == 3 and self.phrases.would_have(text, place) and text[gap[0]] in known.relative:
            return [(place - 2, self.grammar.to)]  # "bill to name" of "bill that would have named"
        if self._is_reported([text[k] for k in gap], word):
            return [(gap[0], self.says)]
        if clause := self._needed_clause(text, gap):
            return [(k, text[k]) for k in clause]
        if len(gap) == 1 and text[gap[0]] in known.relative and self.phrases.is_verb(text, place):
            return [(gap[0], text[gap[0]])]  # "a fault that let anyone in"
        if len(gap) == 1 and text[gap[0]] in known.persons and last in known.clause:
            return [(gap[0], text[gap[0]])]  # "as it closes plants"
        commas = [k for k in gap if text[k] in known.comma and self.phrases.is_participle(text, k + 1)]
        if text[gap[0]] in known.marks and len(gap) > 1:
            gap = gap[1:]  # a headline has no comma before "after"
        content = [k for k in gap if text[k] not in known.small and text[k] not in known.not_needed]
        titled = self._first_names(text, gap)
        if titled is not None:
            return [(k, text[k]) for k in titled]
        apart = any(text[k] in known.pronouns or text[k] in known.marks for k in content)
        article = text[gap[0]] in known.the
        one_phrase = len(content) == len(gap) - article  # "oil company" of "state-run oil company petrobras"
        needed = {*self._needed_phrase(text, gap)}
        if len(gap) > MOST_MISSING or len(content) > 1 + one_phrase or apart:
            needed |= {*self._first_missing(text, gap)}
        else:
            links = (k for k in gap if text[k] in known.links and text[k + 1] not in known.not_needed)
            needed |= {*content, *links}
        needed |= {k for k in commas if k + 1 in {*needed, place}}  # ", helped by rain"
        return [(k, text[k]) for k in sorted({*needed, *self._helpers(text, gap, needed)})]

    def _needed_clause(self, text: Sequence[int], gap: range) -> list[int]:
        """Return all of a gap that opens the clause behind it, or ends the one before it.

        "As I" before "am", ", losing two" before "games to", "had hoped" behind "more than analysts".
        """
        known, grammar, first, following = self.known, self.grammar, text[gap[0]], text[gap.stop]
        short, inner = len(gap) <= MOST_MISSING, {text[k] for k in gap[1:]}
        if short and following in known.be_or_have and first in known.links and text[gap[-1]] in known.pronouns:
            return [*gap]
        acts = first in known.comma and any(text[k] in grammar.in_ing for k in gap[1:2])
        whole = known.marks.isdisjoint(inner) and not self.phrases.is_plain(following)
        if acts and whole and len(gap) <= MOST_CLAUSE:
            return [k for k in gap if text[k] not in known.the]
        compared = gap[0] > 1 and text[gap[0] - 2] in known.goes_on and first in known.have
        if compared and any(text[k] in grammar.past for k in gap[1:2]):
            return [k for k in gap if k < gap[0] + 2 or text[k] in known.comma]
        return []

    def _helpers(self, text: Sequence[int], gap: range, needed: Collection[int]) -> Iterator[int]:
        """Yield the small words of a gap without which those behind them cannot stand: "did not", "2 an hour"."""
        known, grammar, last = self.known, self.grammar, text[gap[0] - 1]
        for k in gap:
            if k + 1 != gap.stop and k + 1 not in needed:
                continue
            denies = text[k + 1] in known.clitic or (text[k + 1] in known.negations and text[k] not in known.be)
            if denies or (text[k] in known.the and text[k + 1] in known.each):
                yield k
        for k in needed:
            rest = range(k + 1, gap.stop)
            if text[k] == grammar.to and all(text[i] in known.be_or_have for i in rest):
                yield from rest  # "are to be charged"
        behind = gap[0] + sum(1 for _ in itertools.takewhile(lambda k: text[k] in known.be_or_have, gap))
        after = any(last in words for words in (grammar.infinitive, known.links, known.relative))  # "that is given"
        if after and (behind == gap.stop or behind in needed) and text[behind] != grammar.to:
            yield from range(gap[0], behind)  # "may be forced", "may have been forced", "after being forced"

    def _needed_phrase(self, text: Sequence[int], gap: range) -> list[int]:
        """Return what a preposition, a number or an owner's mark cannot be without, if that is in the gap.

        "In three minutes and uses" for "in uses", "nine years for" for "nine smuggling", "this year's prize" for "'s
        prize".
        """
        known, last, following = self.known, text[gap[0] - 1], text[gap.stop]
        if following in known.mark_of_owner:
            return [k for k in gap[-MOST_MISSING:] if all(text[i] not in known.small for i in range(k, gap.stop))]
        link_before_next = [k for k in gap[-1:] if text[k] in known.links]
        if last in known.counts:
            return [*gap[:1], *link_before_next] if len(gap) > 1 and not self.phrases.is_plain(text[gap[0]]) else []
        if last not in known.links or last in known.joints | known.negations or not self._opens(text, gap.stop):
            return []
        end = next((k for k in gap if self._opens(text, k)), gap.stop)
        phrase = [k for k in range(gap[0], end) if text[k] not in known.articles]
        return [*phrase, *(k for k in link_before_next if k == end)] if 0 < len(phrase) <= MOST_MISSING else []

    def _opens(self, text: Sequence[int], place: int) -> bool:
        """Whether a word opens something new, so that it cannot be what a preposition before it needs."""
        known = self.known
        opens = any(text[place] in words for words in (known.links, known.marks, known.relative, known.be_or_have))
        return opens or self.phrases.is_verb(text, place)

    def _first_names(self, text: Sequence[int], gap: range) -> list[int] | None:
        """Return the places that a gap behind a title needs, if it has only names: a headline has no first ones.

        "Senators Lee and Hart" of "Senators Ann Lee and Mary Hart". None: it is no such gap.
        """
        known, joint = self.known, text[gap[0]] in self.known.joints
        names = gap[joint:]
        before = text[max(0, gap[0] - 1 - joint * (1 + MOST_NAMES)) : gap[0]]  # "senators Ann Lee" before "and"
        is_name = all(not self.phrases.is_plain(text[k]) for k in names)
        if not 0 < len(names) <= MOST_NAMES or not is_name or known.titles.isdisjoint(before):
            return None
        last = text[gap.stop]
        ends = last in self.phrases.verbs or self.phrases.is_plain(last)  # so that the last name is in the gap
        return [*gap[:joint], *(names[-1:] if ends else ())]

    def _first_missing(self, text: Sequence[int], gap: range) -> list[int]:
        """Return the first word of a longer gap, if it ends the phrase before it or opens the one behind it."""
        known, first = self.known, text[gap[0]]
        if text[gap[0] - 1] in known.initials:
            return [gap[0]]  # "Henry E. Hart"
        if first in known.initials:
            return [*gap[:2]]
        ends = not self.phrases.end_at(text, gap[0] - 1) and self.phrases.end_at(text, gap[0])
        others = known.after_phrase | known.marks  # "in" of "charges in three minutes and" stays out
        opens = all(text[k] not in others for k in gap[1:]) and text[gap.stop] not in known.joints | known.marks
        link = first in known.links and len(gap) <= MOST_MISSING + 1 and opens
        return [gap[0]] if (ends or link) and first not in known.not_needed else []

    def _is_reported(self, gap: Sequence[int], word: int) -> bool:
        """Whether a gap hides that what comes behind it was said: "Acme said on Monday its plant ..."."""
        goes_on = any(word in words for words in (self.phrases.verbs, self.known.small, self.known.pronouns))
        that = len(gap) == 2 and gap[0] == self.says and gap[1] in self.known.that
        return len(gap) > 1 and (that or self.said in gap[:2]) and self.says >= 0 and not goes_on
