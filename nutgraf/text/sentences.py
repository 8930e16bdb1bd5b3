"""Where English sentences end, and which full stops belong to abbreviations.

The one list of abbreviations, for the tokenizer (which keeps "Corp." whole) and for splitting paragraphs.
"""

from __future__ import annotations

import re
from itertools import zip_longest

CLOSING_MARKS = "\"')]}”’"
CANNOT_START = (",", ";", ":", "?")  # marks that no sentence begins with
_OPENING_MARKS = "\"'([{“‘"
_LIST = """
mr mrs ms dr prof rev hon gen col lt sgt capt cmdr adm gov sen sens rep reps st ft mt jr sr vs etc inc corp co cos ltd
plc llc bros dept dist ave blvd rd vol jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri ala
ariz ark calif colo conn fla ga kan ky la md mich minn mo mont neb nev okla ore pa tenn tex va vt wis wyo e.g i.e
"""
_ABBREVIATIONS = frozenset(_LIST.split())
# With a capital these end no sentence; but they are words, too, and the tokenizer treats them as such.
_ABBREVIATED_NAMES = frozenset(("Del", "Ill", "Ind", "Mar", "Mass", "Miss", "Ont", "Penn", "Que", "Wash"))
# After "U.S." or "Corp.", one of these starts a sentence; other words with a capital may continue a name.
_STARTER = re.compile(r"(?:The|He|She|It|They|We|But|This|These|However)\b")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{0,2}\.?\Z")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, with single blanks between words."""
    sentences: list[list[str]] = [[]]
    pieces = text.split()
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        sentences[-1].append(piece)
        if following and _ends_sentence(piece, following):
            sentences.append([])
    return [" ".join(sentence) for sentence in sentences if sentence]


def _ends_sentence(piece: str, following: str) -> bool:
    body = piece.strip(_OPENING_MARKS + CLOSING_MARKS)
    start = following.lstrip(_OPENING_MARKS)
    if start[:1].islower() or not body.endswith((".", "!", "?")):
        return False
    if not body.endswith(".") or _STARTER.match(start):
        return True
    last = re.split("[-/]", body)[-1]  # "Japan-U.S." is an abbreviation if "U.S." is
    return last.rstrip(".") not in _ABBREVIATED_NAMES and not keeps_full_stop(last, following)


def keeps_full_stop(piece: str, following: str) -> bool:
    """Whether the full stop at the end of a piece of text belongs to an abbreviation, given the piece after it."""
    body = piece.strip(_OPENING_MARKS + CLOSING_MARKS)
    word = body.rstrip(".")
    two_letters = len(word) == 2 and word.isalpha()  # "it." is a word at an end, "St." an abbreviation by the list
    if _ACRONYM.match(body) and not two_letters and (len(body) > 2 or following):
        return True
    if following[:1].islower() or following[:1] in CANNOT_START:
        return True
    return following != "" and _is_abbreviation(word, following)


def _is_abbreviation(word: str, following: str) -> bool:
    word = word.lower()
    return word in _ABBREVIATIONS or (word in ("no", "nos") and following[:1].isdigit())
