"""Where a line ends: with a phrase, a list and a clause of its text, not in the midst of one (not in the paper).

A line that ends within a phrase goes on for some words, or back to the last phrase that is whole. The same holds for a
list ("health , education" of "health , education and labor") and for a clause that has lost its verb ("as government"
of "as the government says it is ready"). A quotation that was opened is closed. In ids of a lexicon, by rules of
English; `models.mending` makes lines whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.models.gaps import MOST_MISSING
from nutgraf.models.rules import Rules

MOST_MORE = 4  # words that an end may need to be whole
MOST_FOR_VERB = 8  # the same, where the line would otherwise have no verb
MOST_TO_VERB = 10  # words between the end of a line that has no verb and the verb
LEAST_SENTENCE = 4  # words of a line that is a sentence of its own
MOST_ITEM = 3  # words of one item of a list
MOST_LIST = 8  # words of a list that may come behind a line
Line = tuple[list[int], list[int]]  # its words and their places in the text


@dataclass(frozen=True)
class Endings(Rules):
    """What ends lines."""

    said: int
    size: int  # of the lexicon: ids from here on are of rarer words, of one text

    def finish(self, text: Sequence[int], line: Line, least: int, most: int) -> list[int]:
        """Return the words of a line that ends where something is whole, of up to `most` words."""
        line = self._without_marks(self._first_sentence(text, line, least), least)
        line = self._end_phrase(text, line, least, most)
        line = self._end_list(text, line, least, most)
        return self._close_quotation(text, self._end_clause(text, line, least, most))

    def find_verb(self, text: Sequence[int], start: int) -> list[int]:
        """Return the places of the first verb from a place on and of the phrase behind it; none, if a clause ends."""
        for first in range(start, min(start + MOST_TO_VERB, len(text) - 1)):
            helper = text[first] in self.known.helping
            if helper or text[first] in self.grammar.past or text[first] in self.grammar.third:
                break
            if (text[first] in self.known.marks and first > start) or text[first] in self.known.pronouns:
                return []
        else:
            return []
        verb = first + helper
        near = range(verb, min(verb + MOST_FOR_VERB, len(text) - 1))
        ends = [place for place in near if self.phrases.end_at(text, place)]
        joined = [k for k in near if text[k + 1] in self.known.joints and text[k] not in self.known.small]
        end = next(iter([*ends, *joined]), -1)
        begin = first if text[verb] in self.known.negations else verb  # "will not name"
        return [] if text[first] == self.said else [*range(begin, end + 1)]

    def _first_sentence(self, text: Sequence[int], line: Line, least: int) -> Line:
        """Return the line up to the end of a sentence, if that says something."""
        words, places = line
        ends = (n for n in range(1, len(words)) if self._has_stop(text, places[n - 1], places[n]))
        stop = next(ends, 0)
        says = stop >= max(least, LEAST_SENTENCE) and self.phrases.have_verb(text, words[:stop], places[:stop])
        return (words[:stop], places[:stop]) if says else line

    def _has_stop(self, text: Sequence[int], before: int, place: int) -> bool:
        """Whether a sentence of the text ends behind one place and before the end of another: not in "res. 612"."""
        between = range(before + 1, min(place + 1, len(text) - 1)) if before >= 0 else range(0)
        ends = (k for k in between if text[k] in self.known.stops)
        return any(text[k + 1] < self.size and text[k + 1] not in self.known.numbers for k in ends)

    def _without_marks(self, line: Line, least: int) -> Line:
        words, places = line
        while len(words) > least and words[-1] in self.known.marks:
            words, places = words[:-1], places[:-1]
        return words, places

    def _with(self, text: Sequence[int], line: Line, added: Sequence[int]) -> Line:
        return [*line[0], *(text[k] for k in added)], [*line[1], *added]

    def _end_phrase(self, text: Sequence[int], line: Line, least: int, most: int) -> Line:
        """Return the line with an end that is no part of a phrase, if there is one near."""
        words, places = line
        last = places[-1] if places else -1
        if last < 0:
            return line
        has_verb = self.phrases.have_verb(text, words, places)
        if self.phrases.end_at(text, last) and not (has_verb and self.phrases.is_subject(text, last)):
            return self._without_piece(text, line, least)
        ends = [n for n in range(least, len(words)) if self._may_end(text, places[n - 1])]
        shorter = (words[: ends[-1]], places[: ends[-1]]) if ends else ([], [])
        if has_verb and not self.phrases.have_verb(text, *shorter):
            shorter = [], []  # the only verb stays
        shorter = self._without_piece(text, shorter, least) if shorter[0] else shorter
        if shorter[0] and self.phrases.is_span_before(text, last):
            return shorter  # "a day after" would go on for long
        owns = any(word in self.known.owner for word in text[last + 1 : last + 2])
        goes_on = owns or self.phrases.is_verb(text, last)  # "Acme" with "'s plant", "agrees" with "to pay"
        enough = has_verb and (shorter[0] or not goes_on)
        more = min(MOST_MORE if enough else MOST_FOR_VERB, most - len(words))
        for end in range(last + 1, min(last + more, len(text) - 1) + 1):
            if text[end] in self.known.marks - self.known.goes_on or (has_verb and text[end] in self.grammar.past):
                break
            if self.phrases.end_at(text, end) and not (has_verb and self.phrases.is_subject(text, end)):
                added = [k for k in range(last + 1, end + 1) if not self._is_spare_article(text, k)]
                return self._with(text, line, added)
        if self._lacks_unit(text, last) and len(words) < most:
            return self._with(text, line, [last + 1])
        verb = self.find_verb(text, last + 1) if self.phrases.is_subject(text, last) and not shorter[0] else []
        return shorter if shorter[0] else self._with_verb(text, line, verb, most)

    def _with_verb(self, text: Sequence[int], line: Line, verb: Sequence[int], most: int) -> Line:
        """Return the line up to a verb and the phrase behind it, if it does not get too long."""
        added = [k for k in range(line[1][-1] + 1, verb[-1] + 1) if text[k] not in self.known.articles] if verb else []
        return self._with(text, line, added) if len(line[0]) + len(added) <= most else line

    def _lacks_unit(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is "29" of "29 years imprisonment and", but not of "29 years after"."""
        is_unit = any(word in self.grammar.plural for word in text[place + 1 : place + 2])
        return is_unit and text[place] in self.known.counts and not self.phrases.is_span_before(text, place + 1)

    def _is_spare_article(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is an article that a headline does without: not "a" of "30 cents a share"."""
        return text[place] in self.known.the and text[place + 1] not in self.known.each

    def _may_end(self, text: Sequence[int], place: int) -> bool:
        """Whether a line may go back to the word at a place: not to "call" of "to call for"."""
        if place < 0 or (place and text[place - 1] in self.grammar.infinitive and text[place] in self.grammar.bare):
            return False
        return self.phrases.end_at(text, place) and not self.phrases.is_subject(text, place)

    def _without_piece(self, text: Sequence[int], line: Line, least: int) -> Line:
        """Return the line without a last piece that would go on: ", a day", ", step" of ", a step that", ", hurt"."""
        words, places = line
        comma = next((place for place in range(len(words) - 2, 0, -1) if words[place] in self.known.marks), 0)
        if not least <= comma >= max(1, len(words) - 1 - MOST_MISSING):
            return line
        first, last = places[comma + 1], places[-1]
        follower = text[last + 1] if 0 <= last < len(text) - 1 else -1
        goes_on = follower >= 0 and follower not in self.known.marks
        described = first > 0 and text[first - 1] in self.known.articles and goes_on
        acts = comma == len(words) - 2 and follower in self.known.by
        is_piece = described or acts or words[comma + 1] in self.known.articles
        return (words[:comma], places[:comma]) if is_piece else line

    def _end_list(self, text: Sequence[int], line: Line, least: int, most: int) -> Line:
        """Return a line that ends within a list with all of it or, where that is too long, with its first item."""
        words, places = line
        last = places[-1] if places else -1
        end = self._find_list_end(text, last) if last >= 0 else -1
        if end < 0:
            return line
        added = [k for k in range(last + 1, end + 1) if text[k] not in self.known.the]
        if len(added) <= min(MOST_LIST, most - len(words)):
            return self._with(text, line, added)
        first = len(words)
        while comma := self._find_comma(words[max(least, first - 2 - MOST_ITEM) : first - 1]):
            first -= 1 + comma
        return words[:first], places[:first]

    def _find_comma(self, words: Sequence[int]) -> int:
        """Return how many places before the end of some words the last comma is, with it; 0: there is none."""
        return next((n for n, word in enumerate(reversed(words), 1) if self._is_comma(word)), 0)

    def _find_list_end(self, text: Sequence[int], place: int) -> int:
        """Return where a list ends that goes on behind a word: ", labor and pensions"; -1: it is none."""
        start = place + 1
        several = self._find_comma(text[max(0, place - MOST_ITEM) : place]) > 0  # items so far
        while start < len(text) and self._is_comma(text[start]):
            joint = start + 1 < len(text) and text[start + 1] in self.known.joints
            item = start + 1 + joint
            stop = next((k for k in range(item, len(text)) if not self._is_of_item(text, k)), len(text))
            if not 0 < stop - item <= MOST_ITEM:
                return -1
            if joint:
                return stop - 1 if several and self.phrases.end_at(text, stop - 1) else -1
            several = True
            if stop < len(text) and text[stop] in self.known.joints:
                rest = range(stop + 1, min(stop + 2 + MOST_ITEM, len(text)))
                ends = (k for k in rest if self.phrases.end_at(text, k))
                end = next(ends, -1)
                return end if all(self._is_of_item(text, k) for k in range(stop + 1, end + 1)) else -1
            start = stop
        return -1

    def _is_comma(self, word: int) -> bool:
        return word in self.known.comma

    def _is_of_item(self, text: Sequence[int], place: int) -> bool:
        """Whether a word may be part of an item of a list: no mark, no small word, no verb."""
        word, known = text[place], self.known
        others = (known.marks, known.small, known.pronouns, known.want_more, known.numbers, self.grammar.in_ing)
        return not any(word in some for some in others) and not self.phrases.is_finite(text, place)

    def _end_clause(self, text: Sequence[int], line: Line, least: int, most: int) -> Line:
        """Return the line without a last clause that lacks its verb; with the verb, where the rest is too short."""
        while (first := self._find_open_clause(text, line)) > 0:
            shorter = self._without_marks((line[0][:first], line[1][:first]), least)
            lacks = shorter[1][-1:] == [-1] or self.phrases.is_verb(text, shorter[1][-1])  # "announced" what?
            if len(shorter[0]) < max(2, least) or lacks or not self.phrases.have_verb(text, *shorter):
                return self._with_verb(text, line, self.find_verb(text, line[1][-1] + 1), most)
            line = shorter
        return line

    def _find_open_clause(self, text: Sequence[int], line: Line) -> int:
        """Return where the last clause of a line begins, if it lacks its verb: "as government"; else 0."""
        words, places = line
        opening = self.known.subordinating
        first = next((n for n in range(len(words) - 2, 0, -1) if words[n] in opening and places[n] >= 0), 0)
        if not first or any(self.phrases.is_finite(text, place) for place in places[first + 1 :] if place >= 0):
            return 0
        second = text[places[first] + 1]
        if second in self.grammar.in_ing | self.grammar.past | self.known.links:
            return 0  # "while closing a plant", "if closed", "because of rain"
        last = places[-1]
        follows = 0 <= last < len(text) - 1 and self.phrases.is_finite(text, last + 1)
        surely = words[first] not in self.known.also_links and words[first] not in self.known.relative
        return first if follows or (surely and last >= 0) else 0

    def _close_quotation(self, text: Sequence[int], line: Line) -> list[int]:
        """Return the words of a line without a quotation mark that has lost its other one, or with that at the end."""
        words, places = line
        lone = {*self.known.opening_quotes} if self._is_open(words) else set[int]()
        behind = text[places[-1] + 1 : places[-1] + 3] if lone and places[-1] >= 0 else []
        closing = [word for word in behind if not self._is_comma(word)][:1]
        if closing and closing[0] in self.known.closing_quotes:
            return [*words, *closing]
        return [word for word in words if word not in lone]

    def _is_open(self, words: Sequence[int]) -> bool:
        opened = sum(word in self.known.opening_quotes for word in words)
        return opened > sum(word in self.known.closing_quotes for word in words)
