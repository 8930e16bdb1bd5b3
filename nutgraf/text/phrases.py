"""Where the phrases of a sentence end, and which of its words are verbs, as far as their forms and neighbours tell.

In ids of a lexicon, by rules of English; `text.grammar` knows the forms of words, `text.small_words` the small ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.text.grammar import Grammar
from nutgraf.text.small_words import SmallWords, Words


@dataclass(frozen=True)
class Phrases:
    """What reads sentences."""

    grammar: Grammar
    known: SmallWords
    verbs: Words  # in any form; many are nouns, too
    only_bare: Words  # those in a form such as "name", most of which are nouns, too
    tensed: Words  # a sentence has one of these
    nouns: Words  # words that have a form in -s: most are no names
    adverbs: Words  # words in -ly
    persons: Words  # "workers": a subject that ends in one of these is more than one

    @classmethod
    def of(cls, words: Sequence[str]) -> Phrases:
        """Prepare it for a lexicon of words."""
        grammar, known = Grammar.of(words), SmallWords.of(words)
        inflected = grammar.past | grammar.going | grammar.third
        tensed = grammar.past | grammar.third | known.future | known.be | {grammar.to}
        known_words = frozenset(words)
        nouns = frozenset(place for place, word in enumerate(words) if word + "s" in known_words)
        adverbs = frozenset(place for place, word in enumerate(words) if word.endswith("ly"))
        people = (place for place, word in enumerate(words) if word.endswith(("ers", "ors", "ists", "ians")))
        persons = frozenset(people) - grammar.third
        return cls(grammar, known, inflected | grammar.bare, grammar.bare - inflected, tensed, nouns, adverbs, persons)

    def end_at(self, text: Sequence[int], place: int) -> bool:
        """Whether a phrase of the text ends with the word at a place."""
        known, word = self.known, text[place]
        follower = text[place + 1] if place + 1 < len(text) else None
        if word in known.marks or word in known.want_more or follower in known.owner | known.goes_on:
            return False
        helps = word in self.grammar.infinitive and not (place and text[place - 1] in known.links)  # not "in May"
        if helps or self.is_participle(text, place):
            return False  # "may", "brought by"
        before = next((text[k] for k in range(place - 1, -1, -1) if text[k] not in known.articles), -1)
        changed = before in self.grammar.in_ing and follower in known.results
        if changed or follower in known.lacking:
            return False  # "sending its shares down", "homes without power", "expects no rain"
        if word in known.particles:  # "fire broke out at"
            ends = follower is None or follower in known.marks or follower in known.links - known.joints
            behind_link = place > 0 and text[place - 1] in known.links and follower != self.grammar.to  # not "of up to"
            return ends and (behind_link or (place > 0 and self.is_verb(text, place - 1)))
        if word in known.small or word in known.pronouns or self.is_span_before(text, place):
            return False
        if follower is None or follower in known.marks:
            return True
        participle = word in self.grammar.past or word in self.grammar.in_ing
        if place and text[place - 1] in known.marks and participle:
            return False  # ", helped by rain"
        if place and text[place - 1] in known.links and word in self.grammar.in_ing and follower in known.links:
            return False  # "before moving to Oslo"
        if follower in known.joints:
            return self._ends_before_joint(text, place)
        if follower in known.links:  # "fire broke" goes on with "out", "aims" with "to buy", but not "shut" on Monday
            needless = any(next_word in known.not_needed for next_word in text[place + 2 : place + 3])
            opens = (follower in known.particles and not needless) or follower == self.grammar.to
            return not (opens and self.is_verb(text, place))
        opens = follower in known.after_phrase or self._opens_clause(text, place + 1)
        return opens and not self.is_verb(text, place)  # "valuing" goes on with "the firm"

    def _ends_before_joint(self, text: Sequence[int], place: int) -> bool:
        """Whether a phrase ends before "and": with "prices" of "prices and costs", not with "new" of "new and old"."""
        second = text[place + 2] if place + 2 < len(text) else -1
        several = text[place] in self.grammar.plural
        return (several or second in self.known.small or second in self.verbs) and not self.is_verb(text, place)

    def _opens_clause(self, text: Sequence[int], place: int) -> bool:
        """Whether what is behind a noun says more of it: "led by" and "doubling the", but not "funding round"."""
        word, second = text[place], text[place + 1] if place + 1 < len(text) else -1
        if word in self.known.describing:
            return True
        if word in self.grammar.past:
            return second in self.known.by
        return word in self.grammar.going and second in self.known.articles

    def is_verb(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is a verb, as far as its form and the two words before it tell."""
        known, grammar, word = self.known, self.grammar, text[place]
        reach = 1 if word in grammar.past else 2  # "the pay rise", but "a fire broke out"
        before, follower = text[max(0, place - reach) : place], text[place + 1 : place + 2]
        last, has_object = before[-1:], not known.the.isdisjoint(follower)
        if not known.articles.isdisjoint(follower) and (last == [grammar.to] or not known.relative.isdisjoint(last)):
            return True  # "to facilitate the", "that circles a star": of any word
        joined = not known.joints.isdisjoint(last)
        if joined and has_object:
            return word in self.verbs  # "build and manage a network"
        if word in self.only_bare:  # most are nouns: "the deal", "sales forecast"
            acts = has_object and known.articles.isdisjoint(last)  # "hit a man"
            goes_on = joined and not known.particles.isdisjoint(follower)  # "and close down"
            helped = not (grammar.infinitive.isdisjoint(last) and known.pronouns.isdisjoint(last))  # "may deal"
            return acts or goes_on or helped
        if word in grammar.third and self._needs_noun(before):
            return False
        return word in self.verbs and known.articles.isdisjoint(before)

    def is_finite(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is a verb with a tense, or what helps one: "will" of "will not name", "named"."""
        word, known, grammar = text[place], self.known, self.grammar
        if word in known.be_or_have or (word in grammar.infinitive and word != grammar.to):
            return True
        acts = self.is_verb(text, place) and word not in grammar.going and grammar.to not in text[place - 1 : place]
        return acts and not self.is_participle(text, place)

    def is_reduced(self, text: Sequence[int], place: int) -> bool:
        """Whether a past form is no verb of its own: "a statement submitted in court contained a"."""
        known, follower = self.known, text[place + 1 : place + 2]
        acts = self.is_helped(text, place) or text[place] not in self.grammar.past or text[place] in known.reports
        if acts or known.links.isdisjoint(follower) or not known.clause.isdisjoint(follower):
            return False
        ends = (known.clause, known.relative, known.pronouns, known.joints, known.marks, self.grammar.going)
        for k in range(place + 2, len(text)):
            new = text[k] in known.articles and text[k - 1] not in known.links  # "Oslo. The firm closed a"
            if new or any(text[k] in words for words in ends):
                return False
            if text[k] in known.helping or (
                text[k] in self.grammar.past and not known.articles.isdisjoint(text[k + 1 : k + 2])
            ):
                return True
        return False

    def is_participle(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is a past form that says more of the noun before it: "a factory hit by"."""
        return text[place] in self.grammar.past and any(word in self.known.by for word in text[place + 1 : place + 2])

    def _needs_noun(self, before: Sequence[int]) -> bool:
        """Whether a noun comes behind two words: "in damages", "to settle charges", "Acme's offices"."""
        known, last = self.known, before[-1:]
        acts = before[:-1] == [self.grammar.to] and last[0] in self.grammar.bare
        return acts or any(word in known.mark_of_owner or word in known.links - known.joints for word in last)

    def is_span_before(self, text: Sequence[int], place: int) -> bool:
        """Whether a word is "day" of "a day after"."""
        follower = text[place + 1 : place + 2]
        return text[place] in self.known.spans and any(word in self.known.apart for word in follower)

    def is_subject(self, text: Sequence[int], place: int) -> bool:
        """Whether a helping verb comes behind a word: "men" of "more than men had named"."""
        return any(word in self.known.helping for word in text[place + 1 : place + 2])

    def is_helped(self, text: Sequence[int], place: int) -> bool:
        """Whether "is" or "has" stands before a word: "closed" of "has closed"."""
        return any(word in self.known.be_or_have for word in text[max(0, place - 1) : place])

    def would_have(self, text: Sequence[int], place: int) -> bool:
        """Whether a word stands behind "would have"."""
        return place > 1 and text[place - 2] in self.known.future and text[place - 1] in self.known.have

    def have_verb(self, text: Sequence[int], line: Sequence[int], places: Sequence[int]) -> bool:
        """Whether a line has a verb with a tense, in its own form or in the text's: "leaders meet" of "leaders met"."""
        return any(word in self.tensed for word in (*line, *(text[place] for place in places if place >= 0)))

    def is_plain(self, word: int) -> bool:
        """Whether a word is small, or one that headlines do without."""
        return word in self.known.after_phrase or word in self.known.marks

    def is_single(self, before: Sequence[int]) -> bool:
        """Whether the subject of a verb is surely one, as a preposition shows it: "parliament of Oslo"."""
        known = self.known
        head = next((place for place, word in enumerate(before) if word in known.links), 0)
        sure = head > 0 and before[head - 1] not in self.grammar.plural and before[head] not in known.joints
        words = {*before}
        others = (known.joints, known.clause, known.several, known.counts, self.grammar.infinitive, self.tensed)
        return sure and all(words.isdisjoint(some) for some in others)

    def may_be_several(self, before: Sequence[int]) -> bool:
        """Whether the subject of a verb with these words before it may be more than one: "workers", "A and B"."""
        return self.is_joint(before) or any(word in self.persons for word in before[-1:])

    def is_joint(self, before: Sequence[int]) -> bool:
        """Whether the subject of a verb with these words before it is "A and B", so that it may be one or several."""
        subject = self._subject(before)
        joint = self._find_joint(subject)
        around = (subject[joint - 1], subject[joint + 1]) if len(subject) > joint + 2 else ()
        return joint > 0 and not (around and self.nouns.issuperset(around))  # not "oil and gas firm"

    def _find_joint(self, subject: Sequence[int]) -> int:
        """Return where "and" is in "A and B", if no preposition comes before it; else 0."""
        link = next((n for n, word in enumerate(subject) if word in self.known.links), 0)
        return link if link < len(subject) - 1 and subject[link] in self.known.joints else 0

    def _subject(self, before: Sequence[int]) -> Sequence[int]:
        """Return the words behind the last verb or conjunction."""
        ends = (self.known.clause, self.tensed)
        return before[next((n for n in range(len(before), 0, -1) if any(before[n - 1] in some for some in ends)), 0) :]

    def is_plural(self, before: Sequence[int]) -> bool:
        """Whether the subject of a verb with these words before it is several, as far as a preposition shows it."""
        starts = [place for place, word in enumerate(before, 1) if word in self.known.clause]
        subject = before[starts[-1] :] if starts else before
        if subject and subject[0] in self.known.several:
            return True
        titles = (word in self.grammar.plural and word not in self.grammar.third for word in subject[:2])
        if any(word in self.known.joints for word in subject) and any(titles):
            return True  # "senators Ann Lee and Jo Doe"
        title = next((n for n, word in enumerate(subject) if word in self.known.titles), len(subject))
        named = itertools.takewhile(lambda word: not self.is_plain(word) or word in self.known.joints, subject[title:])
        if self._find_joint(self._subject(before)) and not self.known.joints.isdisjoint(named):
            return True  # "senator Ann Lee and Jo Doe"
        pairs = itertools.pairwise(subject)
        if any(joint in self.known.joints and word in self.known.several for joint, word in pairs):
            return True  # "Acme and two firms"
        head = next((place for place, word in enumerate(subject) if word in self.known.links - self.known.joints), 0)
        return head > 0 and subject[head - 1] in self.grammar.plural
