"""Lists of words as one string, the forms of verbs, and short forms such as "pct"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

# Verbs whose past is not their -ed form: the verb, then its past forms. Without those that are nouns in news: "costs".
_IRREGULAR = """
    arise arose arisen|beat beat beaten|become became|begin began begun|bend bent|bid bid|bind bound|bleed bled
    |blow blew blown|break broke broken|breed bred|bring brought|broadcast broadcast|build built|burst burst|buy bought
    |cast cast|catch caught|choose chose chosen|cling clung|come came|cut cut|deal dealt|dig dug|draw drew drawn
    |drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|find found|flee fled|fly flew flown
    |forbid forbade forbidden|forecast forecast|forget forgot forgotten|freeze froze frozen|get got|give gave given
    |go went gone|grow grew grown|hang hung|hear heard|hide hid|hit hit|hold held|hurt hurt|keep kept|know knew known
    |lay laid|lead led|leave left|lend lent|let let|lose lost|make made|mean meant|meet met|oversee oversaw overseen
    |overtake overtook overtaken|pay paid|put put|quit quit|rebuild rebuilt|retake retook retaken|ride rode ridden
    |rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|set set|shake shook shaken|shed shed
    |shoot shot|show showed shown|shrink shrank shrunk|shut shut|sing sang sung|sink sank sunk|sit sat|sleep slept
    |slide slid|speak spoke spoken|spend spent|spin spun|split split|spread spread|stand stood|steal stole stolen
    |stick stuck|strike struck|swear swore sworn|sweep swept|swim swam|swing swung|take took taken|teach taught
    |tear tore torn|tell told|think thought|throw threw thrown|undergo underwent|understand understood
    |undertake undertook undertaken|uphold upheld|wake woke|wear wore worn|weep wept|win won
    |withdraw withdrew withdrawn|withhold withheld|write wrote written"""
# What news summaries shorten: the word, then its short forms.
_SHORT = """
    billion bln bn|department dept|government govt|million mln|percent pct %|professor prof|trillion trln|versus vs"""
_NOUNS = frozenset(["bee", "fee"])  # "feed" is none of their forms
_PAST = {verb: frozenset(past) for verb, *past in map(str.split, _IRREGULAR.split("|"))}


def words_of(line: str) -> frozenset[str]:
    """Return the words between blanks."""
    return frozenset(line.split())


def irregular_pasts() -> frozenset[str]:
    """Return the past forms of irregular verbs."""
    return frozenset[str]().union(*_PAST.values())


def inflect(line: str) -> frozenset[str]:
    """Return all forms of regular verbs."""
    return frozenset(form for verb in line.split() for form in _forms(verb))


class Inflections:
    """The forms of words among a list of words: those of verbs, and long and short ones."""

    def __init__(self, words: Collection[str]):
        known = frozenset(words)
        self._verbs = [*_verbs(known)]
        self._families = [*self._verbs, *_short_forms(known)]

    def all_forms(self) -> dict[str, frozenset[str]]:
        """Return all forms of each word that has several. A form of two verbs ("found") has those of both."""
        forms: dict[str, frozenset[str]] = {}
        for usual, others in self._families:
            own = usual | others
            forms |= {form: forms.get(form, frozenset()) | own for form in own}
        return forms

    def summary_forms(self) -> dict[str, frozenset[str]]:
        """Return what a summary may say in place of a word: present forms of past and -ing forms, and short forms."""
        forms: dict[str, frozenset[str]] = {}
        for usual, others in self._families:
            forms |= {form: forms.get(form, frozenset()) | usual - {form} for form in others}
        return forms

    def present_forms(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the present forms of verbs: those such as "name", and those such as "names"."""
        forms = frozenset(form for usual, _ in self._verbs for form in usual)
        third = frozenset(form for form in forms if form.endswith("s") and not form.endswith("ss"))
        return forms - third, third

    def past_forms(self) -> frozenset[str]:
        """Return the past forms of verbs that are not present forms, too, as "cut" is."""
        past = frozenset(form for _, others in self._verbs for form in others if not form.endswith("ing"))
        return past.difference(*self.present_forms())

    def going_forms(self) -> frozenset[str]:
        """Return the -ing forms of verbs."""
        return frozenset(form for _, others in self._verbs for form in others if form.endswith("ing"))


def _short_forms(known: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the short forms of each word that has one, and the word."""
    for long, *short in map(str.split, _SHORT.split("|")):
        if long in known and (usual := known.intersection(short)):
            yield usual, frozenset([long])


def _verbs(known: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the present forms of each verb, and its past and -ing forms; it is known by its -s form and its past.

    Irregular ones are known by their past alone.
    """
    for verb in {base for word in known if word.endswith("s") for base in _bases(word)} | _PAST.keys():
        _, present, past, going = _forms(verb)
        doubled = verb + verb[-1] if re.search("[^aeiou][aeiou][^aeiouwxy]$", verb) else verb  # "committed"
        pasts = _PAST.get(verb, frozenset([past, doubled + "ed"])) & known
        if pasts and (present in known or verb in _PAST):
            yield frozenset([verb, present]) & known, pasts | frozenset([going, doubled + "ing"]) & known


def _bases(word: str) -> list[str]:
    """Return what a word may be the -s form of."""
    bases = [word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y"]
    return [base for base in bases if len(base) > 2 and base not in _NOUNS]


def _forms(verb: str) -> tuple[str, str, str, str]:
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", (verb if verb.endswith("ee") else verb[:-1]) + "ing"
    if re.search("[^aeiou]y$", verb):
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    # A short verb doubles its last letter: drop, dropped.
    stem = verb + verb[-1] if re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", verb) else verb
    return verb, verb + ("es" if re.search("(s|sh|ch|x|o)$", verb) else "s"), stem + "ed", stem + "ing"
