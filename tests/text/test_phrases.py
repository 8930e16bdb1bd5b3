"""Where phrases end and what is a verb, by example."""

from __future__ import annotations

import pytest

from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.phrases import Phrases

FORMS = """break breaks broke breaking close closes closed closing value values valued valuing aim aims aimed aiming
    deal deals dealt dealing rise rises rose rising to"""


def read(text: str) -> tuple[Phrases, list[int], list[str]]:
    words = text.split()
    lexicon = Lexicon(SPECIALS).extended([words, FORMS.split()])
    return Phrases.of(lexicon.words), lexicon.encode(words).tolist(), words


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("a fire broke out in the plant .", "out plant"),
        ("acme closed a total of up to 50 mills .", "mills"),
        ("ann closed the head office of acme in may .", "acme may"),
        ("acme closed a mill a day after zenith .", "mill zenith"),
        ("profit fell , closed by rain .", "fell rain"),
        ("profit fell , closing the day at ten .", "fell day ten"),
        ("profit fell , closing its plants down for ten days .", "fell days"),
        ("acme fell in towns without oil .", "oil"),
        ("we name no men .", "men"),
        ("more than ten mills closed .", "closed"),
        ("acme aims to close .", "close"),
    ],
)
def test_where_a_phrase_ends(text: str, ends: str) -> None:
    phrases, ids, words = read(text)
    assert " ".join(word for place, word in enumerate(words) if phrases.end_at(ids, place)) == ends


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("acme closed the deal .", "closed"),
        ("acme may deal with ann .", "deal"),
        ("the pay rise of ann .", ""),
        ("a planet that circles a star .", "circles"),
        ("a man closed it to facilitate the deal .", "closed facilitate"),
        ("acme may close and deal the cards .", "close deal"),
        ("a close and a deal of the year .", ""),
    ],
)
def test_what_is_a_verb(text: str, verbs: str) -> None:
    phrases, ids, words = read(text)
    assert " ".join(word for place, word in enumerate(words) if phrases.is_verb(ids, place)) == verbs


@pytest.mark.parametrize(
    ("subject", "several"),
    [
        ("shares of acme", True),
        ("acme", False),
        ("two men", True),
        ("head of mills", False),
        ("senators ann lee and jo doe", True),
        ("acme says shares of zenith", True),
        ("shares fall as acme", False),
    ],
)
def test_who_is_several(subject: str, several: bool) -> None:
    phrases, ids, _ = read(subject)
    assert phrases.is_plural(ids) == several


def test_who_does_what_comes_behind() -> None:
    phrases, ids, words = read("more than men had named , ann was and jo broke")
    assert [word for place, word in enumerate(words) if phrases.is_subject(ids, place)] == ["men", "ann"]
