"""Lines that are whole: "rain and winds of up to 140 km an hour", not "rain winds up to 140 hour" (not in the paper).

Models leave out words that a sentence cannot do without, and stop in the middle of a phrase. The text says what is
missing: its words are matched with those of its summary, in order, and forms of one word match. Then, in this order,

- a line that begins with a verb, or behind the head of its subject ("ring" of "the head of a ring"), gets the first
  words of the text; one that has no verb gets the first that was left out, or the one behind its last phrase;
- between two words of the summary that are near in the text, what joins them comes back: prepositions, conjunctions,
  negations, "that" before a verb, one other word, or two of one phrase, "to" for "will" before a verb, "says" before
  what was said. Words that no headline needs, such as "Inc", do not;
- a participle stays one: "killed" of "were killed" does not become "kills", nor "valuing" "values"; "has named" becomes
  "names". A verb agrees with its subject, as far as prepositions, numbers and "and" show it: "shares of Acme fall";
- a line that ends within a phrase goes on for a word or two, or back to the last phrase that is whole.

In ids of a lexicon. The rules are those of English headlines; `text.grammar` knows the forms of words.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nutgraf.text.grammar import Grammar
from nutgraf.text.lexicon import Ids
from nutgraf.text.small_words import SmallWords, Words

MOST_MISSING = 3  # words in a row that may have been left out by mistake
MOST_MORE = 2  # words that an end may need to be whole
MOST_FOR_VERB = 6  # the same, where the line would otherwise have no verb
MOST_TO_VERB = 10  # words between the end of a line that has no verb and the verb
MOST_SUBJECT = 6  # words of a subject that may have been left out by mistake


@dataclass(frozen=True)
class Mender:
    """What makes summaries whole, with the words of their texts."""

    grammar: Grammar
    known: SmallWords
    said: int
    says: int
    by: int
    have: int
    genitive: int  # "'s"
    verbs: Words  # in any form; many are nouns, too
    only_bare: Words  # those in a form such as "name", most of which are nouns, too
    tensed: Words  # a sentence has one of these

    @classmethod
    def of(cls, words: Sequence[str]) -> Mender:
        """Prepare it for a lexicon of words."""
        grammar, known = Grammar.of(words), SmallWords.of(words)
        single = ("said", "says", "by", "have", "'s")
        said, says, by, have, genitive = (words.index(word) if word in words else -1 for word in single)
        tensed = grammar.past | grammar.third | known.future | known.be | {grammar.to}
        inflected = grammar.past | grammar.going | grammar.third
        only_bare = grammar.bare - inflected
        return cls(grammar, known, said, says, by, have, genitive, inflected | grammar.bare, only_bare, tensed)

    def __call__(self, text: Ids, summary: Ids, least: int = 1) -> Ids:
        """Return the summary of a text as a whole line; `least` words of it stay, if it had as many."""
        source, line = text.tolist(), [word for word in summary.tolist() if word not in self.known.brackets]
        while line and (line[0] in self.known.marks or line[0] in self.known.the):
            del line[0]
        line, places = self._drop_lone_links(source, line, self.match(source, line))
        line, places = self._add_verb(source, *self._add_subject(source, line, places))
        line, places = self._join(source, line, places)
        line = self._finish(source, self._keep_forms(source, line, places), places, least)
        while line and line[-1] == self.genitive:
            del line[-1]
        twice = {word for before, word in itertools.pairwise(source) if word == before}  # "Bora Bora", not "to to"
        once = [word for before, word in itertools.pairwise([-1, *line]) if word != before or word in twice]
        return np.array(once, dtype=np.int32)

    def leave_sound(self, text: Ids, summaries: Sequence[Ids]) -> list[Ids]:
        """Return the summaries of a text whose every "to" stands before a verb, or stands in the text, too; else all.

        A model that has read many lines such as "Acme to buy Zenith" also writes "Acme to Zenith".
        """
        words = [word for word in text.tolist() if word not in self.known.articles]
        said = {after for before, after in itertools.pairwise(words) if before == self.grammar.to}
        sound = [line for line in summaries if not self._followers_of_to(line) - said - self.grammar.bare]
        return sound or list(summaries)

    def _followers_of_to(self, line: Ids) -> set[int]:
        return {after for before, after in itertools.pairwise(line.tolist()) if before == self.grammar.to}

    def match(self, text: Sequence[int], line: Sequence[int]) -> list[int]:
        """Return the place in the text of each word of a line, in order; -1 for words that it does not have.

        As many as possible are matched, each with the first place that allows it.
        """
        own = [self.grammar.family.get(word, frozenset()) | {word} for word in line]
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

    def _drop_lone_links(
        self, text: Sequence[int], line: Sequence[int], places: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """Return the line and its places without "on" of "on Monday", where it lacks "Monday", or "is" of "that is"."""

        def is_lone(i: int, place: int) -> bool:
            if place > 0 and line[i] in self.known.be and text[place - 1] in self.known.relative:
                return place - 1 not in places
            follows = place + 1 if 0 <= place < len(text) - 1 else -1
            needless = line[i] in self.known.links and follows >= 0 and text[follows] in self.known.not_needed
            return needless and follows not in places[i + 1 : i + 2]

        kept = [i for i, place in enumerate(places) if not is_lone(i, place)]
        return [line[i] for i in kept], [places[i] for i in kept]

    def _add_subject(
        self, text: Sequence[int], line: Sequence[int], places: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """Return the line and its places with the text's first words, where it begins behind them or with a verb."""
        first = places[0] if line else 0
        if first < 1 or any(word in self.known.marks for word in text[:first]):
            return list(line), list(places)
        # "Daisy" of "Daisy Systems", "at least" of "at least seven", "head of" of "head of Acme"
        amount = first <= MOST_MORE and text[first - 1] in self.known.amounts
        name = amount or (first <= MOST_MORE and not any(self._is_plain(word) for word in text[:first]))
        before = next((word for word in text[first - 1 :: -1] if word not in self.known.articles), -1)
        part = first <= MOST_SUBJECT and before in self.known.links and before != text[0]
        if not (name or part or (first <= MOST_SUBJECT and self._is_verb(text, first))):
            return list(line), list(places)
        end = next((place for place in range(first) if text[place] == self.said), first)  # "Acme" of "Acme said it"
        added = [place for place in range(end) if text[place] not in self.known.articles]
        return [*(text[place] for place in added), *line], [*added, *places]

    def _is_plain(self, word: int) -> bool:
        """Whether a word is small, or one that headlines do without."""
        return any(word in words for words in (self.known.after_phrase, self.known.marks))

    def _add_verb(self, text: Sequence[int], line: list[int], places: list[int]) -> tuple[list[int], list[int]]:
        """Return the line and its places with the first verb that it lacks, if it has none."""
        if any(
            word in self.tensed or self._is_verb(text, at) for word, at in zip(line, places, strict=True) if at >= 0
        ):
            return line, places
        for i, (before, place) in enumerate(itertools.pairwise(places), 1):
            left_out = range(before + 1, place) if 0 <= before < place else ()
            verbs = [k for k in left_out if text[k] in self.grammar.past and text[k] != self.said]
            if verbs:
                return [*line[:i], text[verbs[0]], *line[i:]], [*places[:i], verbs[0], *places[i:]]
        if not line or places[-1] < 0:
            return line, places
        near = range(places[-1], min(places[-1] + 1 + MOST_MISSING, len(text)))
        end = next((place for place in near if self._ends_phrase(text, place)), -1)
        verb = self._find_verb(text, end + 1) if end >= 0 else []
        rest = range(places[-1] + 1, end + 1) if verb else ()
        added = [place for place in (*rest, *verb) if text[place] not in self.known.articles]
        return [*line, *(text[place] for place in added)], [*places, *added]

    def _find_verb(self, text: Sequence[int], start: int) -> list[int]:
        """Return the places of the first verb from a place on and of the phrase behind it; none, if a clause ends."""
        for first in range(start, min(start + MOST_TO_VERB, len(text) - 1)):
            helper = any(text[first] in words for words in (self.known.be, self.known.have, self.known.future))
            if helper or text[first] in self.grammar.past or text[first] in self.grammar.third:
                break
            if (text[first] in self.known.marks and first > start) or text[first] in self.known.pronouns:
                return []
        else:
            return []
        verb = first + helper
        near = range(verb, min(verb + MOST_FOR_VERB, len(text)))
        end = next((place for place in near if self._ends_phrase(text, place)), -1)
        begin = first if text[verb] in self.known.negations else verb  # "will not name"
        return [] if text[first] == self.said else [*range(begin, end + 1)]

    def _join(self, text: Sequence[int], line: Sequence[int], places: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the line with the words that join its words in the text, and the places of all."""
        joined, at = list(line[:1]), list(places[:1])
        for before, place, word in zip(places, places[1:], line[1:], strict=False):
            if 0 <= before < place - 1:
                for k, missing in self._missing(text, before, place, word):
                    joined.append(missing)
                    at.append(k)
            joined.append(word)
            at.append(place)
        return joined, at

    def _missing(self, text: Sequence[int], before: int, place: int, word: int) -> list[tuple[int, int]]:
        """Return what should not have been left out between two words of a line: its places, and what to say there."""
        gap, last, known = range(before + 1, place), text[before], self.known
        if text[place - 1] in known.future and text[place] == word and self.grammar.to >= 0:
            kept = text[place - 1] if last in known.pronouns else self.grammar.to
            return [] if last in known.future or last == self.grammar.to else [(place - 1, kept)]
        if self._is_reported([text[k] for k in gap], word):
            return [(gap[0], self.says)]
        if len(gap) == 1 and text[gap[0]] in known.relative and self._is_verb(text, place):
            return [(gap[0], text[gap[0]])]  # "a fault that let anyone in"
        if text[gap[0]] in known.marks and len(gap) > 1:
            gap = gap[1:]  # a headline has no comma before "after"
        content = [k for k in gap if text[k] not in known.small and text[k] not in known.not_needed]
        apart = any(text[k] in known.pronouns or text[k] in known.marks for k in content)
        one_phrase = len(content) == len(gap)  # "oil company" of "state-run oil company petrobras"
        if len(gap) > MOST_MISSING or len(content) > 1 + one_phrase or apart:
            return self._first_missing(text, gap)
        needed = {*content, *(k for k in gap if text[k] in known.links and text[k + 1] not in known.not_needed)}
        needed |= {k - 1 for k in needed if text[k] in known.negations and k > gap[0]}  # "did not"
        helps = text[gap[0]] in known.be and (last in self.grammar.infinitive or last in known.links)
        if len(gap) == 1 and (text[place] in known.each or helps):
            needed.add(gap[0])  # "30 cents a share", "may be forced", "after being forced"
        return [(k, text[k]) for k in sorted(needed)]

    def _first_missing(self, text: Sequence[int], gap: range) -> list[tuple[int, int]]:
        """Return the first word of a longer gap, if it ends the phrase before it or opens the one behind it."""
        first, opens = text[gap[0]], all(text[k] not in self.known.after_phrase for k in gap[1:])
        ends = not self._ends_phrase(text, gap[0] - 1) and self._ends_phrase(text, gap[0])
        marked = any(text[k] in self.known.marks for k in gap)
        link = first in self.known.links and len(gap) <= MOST_MISSING + 1 and opens and not marked
        return [(gap[0], first)] if (ends or link) and first not in self.known.not_needed else []

    def _is_reported(self, gap: Sequence[int], word: int) -> bool:
        """Whether a gap hides that what comes behind it was said: "Acme said on Monday its plant ..."."""
        goes_on = any(word in words for words in (self.verbs, self.known.small, self.known.pronouns))
        return len(gap) > 1 and self.said in gap[:2] and self.says >= 0 and not goes_on

    def _keep_forms(self, text: Sequence[int], line: Sequence[int], places: Sequence[int]) -> list[int]:
        """Return the line with participles as the text has them, and verbs that agree with their subjects."""
        result = list(line)
        for i, (word, place) in enumerate(zip(line, places, strict=True)):
            before = text[place - 1] if place > 0 else -1
            if before in self.known.have and place - 1 not in places:
                result[i] = self._present(text, place, word, result[:i])
            if place < 0 or text[place] == result[i]:
                continue
            following = text[place + 1] if place + 1 < len(text) else -1
            spoken = before in self.known.pronouns and place - 1 in places
            will = word == self.grammar.to and (spoken or following in self.known.negations)  # "we will", "will not"
            if (
                will
                or following == self.by
                or before in self.known.be | self.known.articles
                or text[place] in self.grammar.going
            ):
                result[i] = text[place]
            elif word in self.grammar.third and self._is_plural(result[:i]):
                result[i] = min(self.grammar.family.get(word, frozenset()) & self.grammar.bare, default=word)
        return result

    def _present(self, text: Sequence[int], place: int, word: int, before: Sequence[int]) -> int:
        """Return what a headline says for a verb behind "has", which is left out: "names" for "has named"."""
        several = text[place - 1] == self.have or self._is_plural(before)
        if text[place] not in self.grammar.past or (place > 1 and text[place - 2] in self.grammar.infinitive):
            return word  # "may have named"
        wanted = self.grammar.bare if several else self.grammar.third
        return min(self.grammar.family.get(text[place], frozenset()) & wanted, default=word)

    def _is_plural(self, before: Sequence[int]) -> bool:
        """Whether a subject is several, as far as a preposition shows what its head is."""
        starts = [place for place, word in enumerate(before, 1) if word in self.known.clause]
        subject = before[starts[-1] :] if starts else before
        if subject and subject[0] in self.known.several:
            return True
        titles = (word in self.grammar.plural and word not in self.grammar.third for word in subject[:2])
        if any(word in self.known.joints for word in subject) and any(titles):
            return True  # "senators Ann Lee and Jo Doe"
        head = next((place for place, word in enumerate(subject) if word in self.known.links - self.known.joints), 0)
        return head > 0 and subject[head - 1] in self.grammar.plural

    def _finish(self, text: Sequence[int], line: list[int], places: Sequence[int], least: int) -> list[int]:
        """Return the line with an end that is no part of a phrase, if there is one near."""
        last = places[-1] if places else -1
        if last < 0:
            return line
        if self._ends_phrase(text, last):
            return self._without_piece(line, least)
        ends = [n for n in range(least, len(line)) if places[n - 1] >= 0 and self._may_end(text, places[n - 1])]
        has_verb = any(word in self.tensed for word in line)
        shorter = line[: ends[-1]] if ends else []
        if has_verb and not any(word in self.tensed for word in shorter):
            shorter = []  # the only verb stays
        for end in range(last + 1, min(last + (MOST_MORE if has_verb else MOST_FOR_VERB), len(text) - 1) + 1):
            if text[end] in self.known.marks or (has_verb and text[end] in self.grammar.past):
                break
            if self._ends_phrase(text, end):
                return [*line, *text[last + 1 : end + 1]]
        return shorter or line

    def _without_piece(self, line: list[int], least: int) -> list[int]:
        """Return the line without a last piece such as ", a day", which would go on."""
        comma = next((place for place in range(len(line) - 2, -1, -1) if line[place] in self.known.marks), 0)
        is_piece = least <= comma >= len(line) - 1 - MOST_MISSING and line[comma + 1] in self.known.articles
        return line[:comma] if is_piece else line

    def _may_end(self, text: Sequence[int], place: int) -> bool:
        """Whether a line that breaks off may go back to the word at a place: also before "showing"."""
        opens = place + 1 < len(text) and text[place + 1] in self.grammar.going
        plain = any(text[place] in words for words in (self.known.small, self.known.marks, self.known.numbers))
        plain = plain or self._is_verb(text, place)
        return self._ends_phrase(text, place) or (opens and not plain)

    def _ends_phrase(self, text: Sequence[int], place: int) -> bool:
        """Whether a phrase of the text ends with the word at a place."""
        known, word = self.known, text[place]
        follower = text[place + 1] if place + 1 < len(text) else None
        if word in known.marks or word in known.want_more or follower in known.joints | known.genitive:
            return False
        if word in known.particles:  # "fire broke out at"
            return follower is None or follower in known.marks or follower in known.links
        if word in known.small or word in known.pronouns:
            return False
        if follower is None or follower in known.marks:
            return True
        if follower in known.links:  # "fire broke" goes on with "out", "aims" with "to buy", but not "shut" on Monday
            needless = any(next_word in known.not_needed for next_word in text[place + 2 : place + 3])
            opens = (follower in known.particles and not needless) or follower == self.grammar.to
            return not (opens and self._is_verb(text, place))
        return follower in known.after_phrase and not self._is_verb(text, place)  # "valuing" goes on with "the firm"

    def _is_verb(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is a verb, as far as its form and the two words before it tell."""
        reach = 1 if text[place] in self.grammar.past else 2  # "the pay rise", but "a fire broke out"
        before, follower = text[max(0, place - reach) : place], text[place + 1 : place + 2]
        if before[-1:] == [self.grammar.to] and any(word in self.known.articles for word in follower):
            return True  # "to facilitate the": of any word
        if text[place] in self.only_bare:  # "the deal" and "sales forecast" are no verbs, "may deal" is one
            return any(word in self.grammar.infinitive or word in self.known.pronouns for word in before[-1:])
        return text[place] in self.verbs and not any(word in self.known.articles for word in before)
