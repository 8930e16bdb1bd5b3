"""Which forms fit where, by example."""

from __future__ import annotations

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
