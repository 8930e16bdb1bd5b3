"""Lines that are whole: "rain and winds of up to 140 km an hour", not "rain winds up to 140 hour" (not in the paper).

Models leave out words that a sentence cannot do without, and stop in the middle of a phrase. The text says what is
missing: its words are matched with those of its summary, in order, and forms of one word match. Then, in this order,

- what the line has of an aside that it does not open goes: "named in May," of "Ann, whose mill was named in May, died";
- who "announces closes plant", having announced that he has closed it, "closes plant", and a preposition whose noun was
  left out gives way to that of the noun that stays: "talks in Oslo" of "talks of leaders in Oslo";
- a line that begins with a verb, or behind the head of its subject ("ring" of "the head of a ring"), gets the first
  words of the text; one that has no verb gets the first that was left out, or the one behind its last phrase;
- between two words of the summary that are near in the text, what joins them comes back: prepositions, conjunctions,
  negations, "that" before a verb, one other word, or two of one phrase, "to" for "will" before a verb, "says" before
  what was said. Words that no headline needs, such as "Inc", do not;
- a participle stays one: "killed" of "were killed" does not become "kills", nor "valuing" "values"; "has named" becomes
  "names". A verb agrees with its subject, as far as prepositions, numbers and "and" show it: "shares of Acme fall";
- a line ends where something is whole (models.endings).

In ids of a lexicon. The rules are those of English headlines; `text.grammar` knows the forms of words.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nutgraf.models.endings import Endings
from nutgraf.models.gaps import MOST_MISSING, Gaps
from nutgraf.models.rules import Rules
from nutgraf.text.lexicon import Ids
from nutgraf.text.phrases import Phrases

MOST_FIRST = 2  # words before the first of a line that are part of a name or an amount
MOST_WORDS = 1_000  # of a line, unless somebody asks for fewer
MOST_MOVED = 6  # words between a preposition and what a line has behind it, where another one belongs
MOST_REPORT = 6  # words from "announced" of "Acme announced that it has sold" to what comes behind "sold"
MOST_OWNED = 6  # words between "whose" and its verb
MOST_SUBJECT = 6  # words of a subject that may have been left out by mistake


@dataclass(frozen=True)
class Mender(Rules):
    """What makes summaries whole, with the words of their texts."""

    gaps: Gaps
    endings: Endings
    said: int
    by: int
    have: int
    has: int
    genitive: int  # "'s"

    @classmethod
    def of(cls, words: Sequence[str]) -> Mender:
        """Prepare it for a lexicon of words."""
        single = ("said", "by", "have", "has", "'s")
        said, *others = (words.index(word) if word in words else -1 for word in single)
        phrases = Phrases.of(words)
        return cls(phrases, Gaps.of(words, phrases), Endings(phrases, said, len(words)), said, *others)

    def __call__(self, text: Ids, summary: Ids, least: int = 1, most: int = MOST_WORDS) -> Ids:
        """Return the summary of a text as a whole line of `least` to `most` words, if it had as many as the least."""
        source, line = text.tolist(), [word for word in summary.tolist() if word not in self.known.brackets]
        while line and (line[0] in self.known.marks or line[0] in self.known.the):
            del line[0]
        line, places = self._drop_asides(source, line, self.grammar.match(source, line))
        line, places = self._drop_lone_links(source, line, places)
        line, places = self._move_links(source, *self._drop_report(source, line, places))
        line, places = self._add_verb(source, *self._add_subject(source, line, places))
        line, places = self._drop_needless(*self._join(source, line, places))
        line = self.endings.finish(source, (self._keep_forms(source, line, places)[:most], places[:most]), least, most)
        while line and line[-1] == self.genitive:
            del line[-1]
        twice = {word for before, word in itertools.pairwise(source) if word == before}  # "Bora Bora", not "to to"
        once = [word for before, word in itertools.pairwise([-1, *line]) if word != before or word in twice]
        return np.array(once, dtype=np.int32)

    def _drop_asides(self, text: Sequence[int], line: list[int], places: list[int]) -> tuple[list[int], list[int]]:
        """Return the line without what it has of a clause that it does not open, if the sentence goes on behind it.

        "Named in May," of "Ann, whose mill was named in May, died".
        """
        openers = self.known.whose | self.known.relative
        for i, (before, place) in enumerate(itertools.pairwise(places), 1):
            gap = range(before + 1, place) if before >= 0 else range(0)
            opener = next((k for k in gap if text[k] in openers and text[k - 1] in self.known.comma), len(text))
            close = next((k for k in range(opener + 1, len(text) - 1) if text[k] in self.known.comma), -1)
            rest = next((n for n in range(i, len(line)) if places[n] > close), 0)
            if place < close and rest and self.phrases.is_finite(text, close + 1):
                start = i - (line[i - 1] in self.known.comma)
                return [*line[:start], *line[rest:]], [*places[:start], *places[rest:]]
        return line, places

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

    def _drop_report(self, text: Sequence[int], line: list[int], places: list[int]) -> tuple[list[int], list[int]]:
        """Return the line without "announces" of "Acme announces sells unit", where Acme announced that it has sold it.

        Where the verb itself was lost, it comes in its place: "Acme enters into deal" for "Acme announces into deal".
        """
        for i in range(1, len(line) - 1):
            report, place = places[i], places[i + 1]
            if report < 0 or text[report] not in self.known.reports or not report + 1 < place <= report + MOST_REPORT:
                continue
            person = next((k for k in range(report + 1, place) if text[k] in self.known.persons), place)
            if any(text[k] not in self.known.relative for k in range(report + 1, person)):
                continue
            acts = text[place] in self.known.helping or text[place] in self.phrases.verbs
            if acts and all(text[k] in self.known.small for k in range(person + 1, place)):
                return [*line[:i], *line[i + 1 :]], [*places[:i], *places[i + 1 :]]
            verb = next((k for k in range(person + 1, place) if text[k] in self.grammar.past), place)
            if verb < place and all(text[k] in self.known.have for k in range(person + 1, verb)):
                wanted = self.grammar.bare if self.phrases.is_plural(line[:i]) else self.grammar.third
                present = min(self.grammar.family.get(text[verb], frozenset()) & wanted, default=text[verb])
                return [*line[:i], present, *line[i + 1 :]], [*places[:i], verb, *places[i + 1 :]]
        return line, places

    def _move_links(self, text: Sequence[int], line: list[int], places: list[int]) -> tuple[list[int], list[int]]:
        """Return the line with the prepositions that its nouns have: "talks in Rome" of "talks of leaders in Rome".

        "Serve as team", of "serve as a member of a team", gets the noun that "of" belongs to.
        """
        moved, at = list[int](), list[int]()
        for word, place, after in itertools.zip_longest(line, places, places[1:], fillvalue=-1):
            gap = range(place + 1, after) if place >= 0 and word in self.known.links else range(0)
            links = [k for k in gap if text[k] in self.known.links]
            far = MOST_MISSING < len(gap) <= MOST_MOVED and at[-1:] == [place - 1]
            if not far or not links or any(text[k] in self.known.marks or self.phrases.is_verb(text, k) for k in gap):
                new = [place]
            elif text[links[-1]] in self.known.genitive:
                new = sorted({place, links[-1] - 1, links[-1]})
            else:
                new = [links[-1]]
            moved += [word] if new == [place] else [text[k] for k in new]
            at += new
        return moved, at

    def _add_subject(
        self, text: Sequence[int], line: Sequence[int], places: Sequence[int]
    ) -> tuple[list[int], list[int]]:
        """Return the line and its places with the text's first words, where it begins behind them or with a verb."""
        first = places[0] if line else 0
        if first == 1 and line[0] in self.known.titles:
            return list(line), list(places)  # "senator" of "U.S. senator"
        if first < 1 or any(word in self.known.marks for word in text[:first]):
            return list(line), list(places)
        # "Daisy" of "Daisy Systems", "at least" of "at least seven", "head of" of "head of Acme"
        amount = first <= MOST_FIRST and text[first - 1] in self.known.amounts
        name = amount or (first <= MOST_FIRST and not any(self.phrases.is_plain(word) for word in text[:first]))
        before = next((word for word in text[first - 1 :: -1] if word not in self.known.articles), -1)
        part = first <= MOST_SUBJECT and before in self.known.links and before != text[0]
        helped = self.phrases.is_helped(text, first) and text[0] not in self.known.expletives  # "Acme is"
        lacking = line[0] in self.known.links or before in self.known.relative or self.phrases.is_verb(text, first)
        if not (name or part or (first <= MOST_SUBJECT and (lacking or helped))):
            return list(line), list(places)
        end = next((place for place in range(first) if text[place] == self.said), first)  # "Acme" of "Acme said it"
        added = [place for place in range(end) if text[place] not in self.known.articles]
        return [*(text[place] for place in added), *line], [*added, *places]

    def _add_verb(self, text: Sequence[int], line: list[int], places: list[int]) -> tuple[list[int], list[int]]:
        """Return the line and its places with the first verb that it lacks, if it has none."""
        own = [(word, at) for word, at in zip(line, places, strict=True) if at >= 0 and not self._is_other(text, at)]
        if any(word in self.phrases.tensed or self.phrases.is_verb(text, at) for word, at in own):
            return line, places
        for i, (before, place) in enumerate(itertools.pairwise(places), 1):
            left_out = range(before + 1, place) if 0 <= before < place else ()
            verbs = [k for k in left_out if text[k] in self.grammar.past and text[k] != self.said]
            if verbs:
                return [*line[:i], text[verbs[0]], *line[i:]], [*places[:i], verbs[0], *places[i:]]
        if not line or places[-1] < 0:
            return line, places
        near = range(places[-1], min(places[-1] + 1 + MOST_MISSING, len(text)))
        end = next((k for k in near if self.phrases.end_at(text, k) or self._is_before_verb(text, k)), -1)
        verb = self.endings.find_verb(text, end + 1) if end >= 0 else []
        rest = range(places[-1] + 1, end + 1) if verb else ()
        added = [place for place in (*rest, *verb) if text[place] not in self.known.articles]
        return [*line, *(text[place] for place in added)], [*places, *added]

    def _is_before_verb(self, text: Sequence[int], place: int) -> bool:
        """Whether the verb of a sentence comes behind a word: "closed the" of "a bid submitted in court closed the"."""
        verb, behind = text[place + 1 : place + 2], text[place + 2 : place + 3]
        acts = any(word in self.grammar.past for word in verb) and any(word in self.known.articles for word in behind)
        return acts and text[place] not in self.known.small

    def _is_other(self, text: Sequence[int], place: int) -> bool:
        """Whether a verb is not what a line is about: "announced that", "a man who hit", "a plant led by Ann"."""
        behind = any(word in self.known.relative for word in text[max(0, place - 1) : place])
        whose = next((k for k in range(place - 1, max(-1, place - MOST_OWNED), -1) if text[k] in self.known.whose), -1)
        behind = behind or (whose >= 0 and not any(self.phrases.is_finite(text, k) for k in range(whose + 1, place)))
        before_that = any(word in self.known.that for word in text[place + 1 : place + 2])
        reports = text[place] in self.known.reports and before_that
        described = self.phrases.is_participle(text, place) and not self.phrases.is_helped(text, place)
        return behind or reports or described or self.phrases.is_reduced(text, place)

    def _join(self, text: Sequence[int], line: Sequence[int], places: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the line with the words that join its words in the text, and the places of all."""
        joined, at = list(line[:1]), list(places[:1])
        for before, place, word in zip(places, places[1:], line[1:], strict=False):
            if 0 <= before < place - 1:
                for k, missing in self.gaps.fill(text, before, place, word):
                    joined.append(missing)
                    at.append(k)
            joined.append(word)
            at.append(place)
        return joined, at

    def _drop_needless(self, line: Sequence[int], places: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the line and its places without "are" of "seven people are killed" and "J." of "Senator J. Hart"."""

        def is_needless(i: int) -> bool:
            if i == 0 or line[i] in self.known.initials:
                return i > 0 and line[i - 1] in self.known.titles
            participle = any(word in self.grammar.past or word in self.grammar.going for word in line[i + 1 : i + 2])
            after_subject = not self.phrases.is_plain(line[i - 1]) and line[i - 1] not in self.grammar.infinitive
            return line[i] in self.known.be and participle and after_subject

        kept = [i for i in range(len(line)) if not is_needless(i)]
        return [line[i] for i in kept], [places[i] for i in kept]

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
            tensed = spoken or following in self.known.negations or self._lacks_verb(result[:i])
            will = word == self.grammar.to and tensed  # "we will", "will not", "that mills will close"
            if (
                will
                or following == self.by
                or before in self.known.be | self.known.articles
                or (before in self.phrases.adverbs and place > 1 and text[place - 2] in self.known.articles)
                or (text[place] in self.grammar.going and result[i - 1 : i] != [self.grammar.to])
            ):
                result[i] = text[place]
            elif word in self.grammar.third and self.phrases.is_reduced(text, place):
                result[i] = text[place]  # "statement submitted in court"
            elif word in self.grammar.third and self.phrases.is_plural(result[:i]):
                result[i] = min(self.grammar.family.get(word, frozenset()) & self.grammar.bare, default=word)
            elif self._is_open(word, text[place], before) and self.phrases.may_be_several(result[:i]):
                result[i] = text[place]  # "Ann Lee and Jo Doe named", "Food and Drug Board named", "workers named"
            elif word in self.phrases.only_bare and self.phrases.is_single(result[:i]):
                result[i] = min(self.grammar.family.get(word, frozenset()) & self.grammar.third, default=word)
        return result

    def _is_open(self, word: int, said: int, before: int) -> bool:
        """Whether a line has "names" for "named", where it might as well be "name"."""
        return word in self.grammar.third and said in self.grammar.past and before not in self.known.have

    def _lacks_verb(self, before: Sequence[int]) -> bool:
        """Whether these words end within a clause that has no verb yet: "announced that mills"."""
        start = next((n for n in range(len(before) - 1, -1, -1) if before[n] in self.known.relative), len(before))
        return start < len(before) and self.phrases.tensed.isdisjoint(before[start + 1 :])

    def _present(self, text: Sequence[int], place: int, word: int, before: Sequence[int]) -> int:
        """Return what a headline says for a verb behind "has", which is left out: "names" for "has named"."""
        several = text[place - 1] == self.have or (text[place - 1] != self.has and self.phrases.is_plural(before))
        if before[-1:] == [self.grammar.to] and self.phrases.would_have(text, place):
            return min(self.grammar.family.get(text[place], frozenset()) & self.grammar.bare, default=word)
        if text[place] not in self.grammar.past or (place > 1 and text[place - 2] in self.grammar.infinitive):
            return word  # "may have named"
        wanted = self.grammar.bare if several else self.grammar.third
        return min(self.grammar.family.get(text[place], frozenset()) & wanted, default=word)
