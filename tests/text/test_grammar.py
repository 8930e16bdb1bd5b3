"""Which forms fit where, by example."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nutgraf.text.grammar import Grammar
from nutgraf.text.lexicon import SPECIALS, Lexicon

WORDS = """acme shares has to due may name names named naming fall falls fell percent pct will chief's"""
LEXICON = Lexicon([*SPECIALS, *WORDS.split()])
GRAMMAR = Grammar.of(LEXICON.words)


@pytest.mark.parametrize(
    ("before", "word", "forms"),
    [
        ("acme", "named", "names"),
        ("", "named", "names"),
        ("chief's", "named", "names"),
        ("shares", "fell", "fall falls"),
        ("to", "naming", "name"),
        ("may", "named", "name"),
        ("has", "named", ""),
        ("acme", "names", ""),
        ("acme", "percent", "pct"),
        ("acme", "will", "to"),
        ("acme", "chief's", ""),
    ],
)
def test_forms_fit_the_word_before(before: str, word: str, forms: str) -> None:
    found = GRAMMAR.forms_after(LEXICON.encode(before.split()).tolist(), int(LEXICON.encode([word])[0]))
    assert sorted(LEXICON.words[form] for form in found) == forms.split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("acme to named acme", "acme named acme"),
        ("to fell to named", "fell named"),
        ("acme to name", "acme to name"),
        ("acme to naming", "acme to naming"),
        ("due to named acme", "due to named acme"),
        ("acme to", "acme to"),
    ],
)
def test_to_goes_before_a_past_form(line: str, wanted: str) -> None:
    found = GRAMMAR.without_mistaken_to(LEXICON.encode(line.split()))
    assert " ".join(LEXICON.words[word] for word in found) == wanted


def test_words_of_another_language_have_no_forms() -> None:
    assert Grammar.of([*SPECIALS, "banque", "nomme", "nouveau"]).forms == {}


def test_words_are_matched_as_all_ways_to_match_them_say() -> None:
    grammar = Grammar.of([*SPECIALS, "a", "b", "c"])
    rng = np.random.default_rng(1)
    for _ in range(50):
        text, line = rng.integers(3, 6, 6).tolist(), rng.integers(3, 6, 4).tolist()
        places = grammar.match(text, line)
        matched = [place for place in places if place >= 0]
        assert matched == sorted(set(matched))
        assert all(text[place] == word for place, word in zip(places, line, strict=True) if place >= 0)
        ways = (
            way
            for size in range(5)
            for way in itertools.combinations(range(4), size)
            if any(
                [text[k] for k in chosen] == [line[i] for i in way] for chosen in itertools.combinations(range(6), size)
            )
        )
        assert len(matched) == max(map(len, ways))


def test_a_name_keeps_its_form() -> None:
    grammar = Grammar.of([*SPECIALS, "unit", "units", "united"])
    assert grammar.forms == {}
