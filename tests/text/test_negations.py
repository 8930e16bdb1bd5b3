"""Negations that a summary loses."""

import pytest

from nutgraf.text.negations import find_lost_negations


def lost(summary: str, text: str) -> list[str]:
    words = summary.split()
    return [word for word, found in zip(words, find_lost_negations(words, text.split()), strict=True) if found]


@pytest.mark.parametrize(
    ("summary", "text", "found"),
    [
        ("we will pay for a bridge", "we will not pay for a bridge that nobody wants", ["pay"]),
        ("bank plans to sell unit", "the bank has no plans to sell its unit", ["plans"]),
        ("talks agree on aid", "talks failed to agree on aid", ["agree"]),
        ("mayor did not pay", "the mayor did not pay", []),
        ("mayor refuses to pay", "the mayor will not pay", []),  # the same in other words
        ("mayor to pay later", "the mayor will not pay now but will pay later", []),  # it is also said
        ("mayor wants it", "the mayor does not want it", []),  # another form: nobody knows
        ("the mayor", "not the mayor", ["mayor"]),
        ("the", "not the mayor", []),
        ("", "not", []),
    ],
)
def test_a_word_that_the_text_only_denies_lost_its_negation(summary: str, text: str, found: list[str]) -> None:
    assert lost(summary, text) == found
