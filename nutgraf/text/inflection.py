"""Lists of words as one string, and the forms of regular verbs."""

from __future__ import annotations

import re


def words_of(line: str) -> frozenset[str]:
    """Return the words between blanks."""
    return frozenset(line.split())


def inflect(line: str) -> frozenset[str]:
    """Return all forms of regular verbs."""
    return frozenset(form for verb in line.split() for form in _forms(verb))


def _forms(verb: str) -> tuple[str, str, str, str]:
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", (verb if verb.endswith("ee") else verb[:-1]) + "ing"
    if re.search("[^aeiou]y$", verb):
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    # A short verb doubles its last letter: drop, dropped.
    stem = verb + verb[-1] if re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", verb) else verb
    return verb, verb + ("es" if re.search("(s|sh|ch|x|o)$", verb) else "s"), stem + "ed", stem + "ing"
