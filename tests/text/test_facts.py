from __future__ import annotations

import pytest

from nutgraf.text.casing import Casing
from nutgraf.text.facts import find_unsupported, is_fact

NAMES = """Ford U.S. U.S.-China UK IMF International Monetary Fund Williams American Canadian Canada China Chinese GM
    General Motors"""
CASING = Casing({}, {name.lower(): name for name in NAMES.split()} | {"said": "said", "profit": "profit"})


def unsupported(summary: str, text: str) -> list[str]:
    words = summary.lower().split()
    return [
        word for word, found in zip(words, find_unsupported(words, text.lower().split(), CASING), strict=True) if found
    ]


def test_names_and_numbers_are_facts() -> None:
    assert [is_fact(word, CASING) for word in ("ford", "profit", "12.5", "q2", "unheard-of")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert is_fact("NN", CASING)  # digits that were mapped


def test_a_name_or_number_that_the_text_lacks_is_found() -> None:
    assert unsupported("Ford profit up 5", "profit rose by 6 %") == ["ford", "5"]
    assert unsupported("Ford profit up", "Ford said profit rose") == []
    assert unsupported("the profit", "") == []


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("U.S.", "american troops"),
        ("U.S.", "the united states said"),
        ("US", "the U.S. said"),
        ("UK", "british voters"),
        ("Williams", "the william plant"),
        ("Canada", "canadian exports"),
        ("Chinese", "in china"),
        ("IMF", "the international monetary fund said"),
        ("GM", "General Motors said"),
        ("5", "five workers"),
        ("five", "5 workers"),
        ("1,000", "1000 people"),
        ("5m", "$ 5 million"),
        ("5.0", "5 %"),
        ("Q2", "in the second quarter"),
        ("5-year", "over five years"),
        ("U.S.-China", "china and the u.s. met"),
        ("NN", "by NN %"),
    ],
)
def test_another_form_of_what_the_text_has_is_supported(word: str, text: str) -> None:
    assert unsupported(word, text) == []


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("5", "15 workers"),
        ("5.4", "5 % and 4 %"),
        ("GM", "good morning"),  # two letters abbreviate names alone
        ("Ford", "they can afford it"),
        ("U.S.-China", "the u.s. said"),
        ("Q3", "in the second quarter"),
        ("Canada", "cane"),
    ],
)
def test_what_only_looks_alike_is_not(word: str, text: str) -> None:
    assert unsupported(word, text) == [word.lower()]
