"""Hand-written summaries and texts."""

from __future__ import annotations

import pytest

from nutgraf.text.directions import AXES, find_contradictions, find_directions, forbidden_words


def contradictions(summary: str, text: str) -> list[str]:
    words = summary.split()
    return [word for word, found in zip(words, find_contradictions(words, text.split()), strict=True) if found]


@pytest.mark.parametrize(
    ("summary", "text", "found"),
    [
        ("acme profit rises", "acme said its profit fell by a third", ["rises"]),
        ("acme shares up 5 %", "shares of acme dropped 5 % after the report", ["up"]),
        ("stocks lower", "stocks closed higher", ["lower"]),
        ("home sales drop", "home sales are skyrocketing", ["drop"]),
        ("bank raises rates", "the bank slashed rates to 2 %", ["raises"]),
        ("acme cuts dividend", "acme raised its dividend", ["cuts"]),
        ("acme beats estimates", "acme missed analysts ' estimates", ["beats"]),
        ("acme posts profit", "acme had a loss of 3 million", ["profit"]),
        ("broker upgrades acme", "the broker downgraded acme", ["upgrades"]),
        ("parliament approves budget", "lawmakers rejected the budget", ["approves"]),
        ("banker pleads guilty", "the banker was acquitted on monday", ["guilty"]),
        ("court acquits banker", "a court convicted the banker", ["acquits"]),
        ("bank reduces rates", "the bank is hiking its rates", ["reduces"]),
    ],
)
def test_the_opposite_of_what_the_text_says_contradicts(summary: str, text: str, found: list[str]) -> None:
    assert contradictions(summary, text) == found


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        ("acme profit falls", "profit of acme fell on higher costs"),  # the text says both
        ("acme profit falls as costs rise", "profit of acme fell"),  # and so does the summary
        ("acme profit falls", "acme reported weaker results and rising costs"),  # a hint is enough
        ("profit does not rise", "profit fell"),
        ("profit rises", "profit did not fall"),
        ("stocks pare gains", "stocks fell"),
        ("acme profit rises", "acme reported its results"),
        ("acme to buy bolt", "bolt will be sold to acme"),  # no axis: who sells has a buyer
        ("minister confirms talks", "the rebels denied that there were talks"),  # nor here: one of two parties each
        ("tokyo opens weaker", "tokyo closed weaker"),
        ("acme raises doubts", "acme cut ties with its partner"),  # no amount that somebody decides
        ("thousands rally", "prices fell"),  # a word of two meanings
        ("profit rises", "profit will stagnate rather than fall"),
        ("acme sets up fund", "acme shares fell"),
        ("minister steps down", "support for the minister has risen"),
        ("lower house votes", "taxes rose"),
        ("acme profit rises", "acme declined to comment on its results"),
        ("sales higher", "a lower-than-expected and higher-than-feared result"),
        ("star misses final", "the team beat its rival"),  # nobody had expectations
        ("", "profit fell"),
        ("profit rises", ""),
    ],
)
def test_what_does_not_contradict(summary: str, text: str) -> None:
    assert contradictions(summary, text) == []


def test_a_fall_to_a_number_is_a_direction_and_a_refusal_is_none() -> None:
    assert find_directions(["it", "declined", "to", "5.2", "%"]) == [False, True, False, False, False]
    assert not any(find_directions(["it", "declined", "to", "comment"]))


def test_forbidden_words_are_of_the_side_that_the_text_excludes() -> None:
    forbidden = forbidden_words(["sales", "fell"])
    assert {"rises", "up", "climbed"} <= forbidden
    assert not {"falls", "down", "raises"} & forbidden
    assert forbidden_words(["sales", "fell", "and", "costs", "rose"]) == frozenset()
    # No word of the text is ever forbidden: a summary may copy whatever it likes.
    for text in ("sets up a fund that fell", "did not rise but fell", "no profit , a loss"):
        assert not forbidden_words(text.split()) & set(text.split())


def test_verbs_have_all_their_forms() -> None:
    said = frozenset[str]().union(*(axis.one.says | axis.other.says for axis in AXES))
    hinted = frozenset[str]().union(*(axis.one.hints | axis.other.hints for axis in AXES))
    assert {"surge", "surges", "surged", "surging", "drop", "drops", "dropped", "dropping"} <= said
    assert {"veto", "vetoes", "vetoed", "vetoing", "ratify", "ratifies", "ratified", "ratifying"} <= said
    assert {"climbed", "climbing", "gained", "gaining"} <= said
    assert {"agree", "agrees", "agreed", "agreeing", "pass", "passes", "passed", "slowed", "slowing"} <= hinted
    assert not {"surgeing", "droped", "climbbed", "gainned", "agreing", "vetos", "slowwed"} & (said | hinted)


def test_sides_have_no_word_in_common() -> None:
    for axis in AXES:
        assert not axis.one.says & axis.other.says, axis.name
        assert not axis.one.says & axis.other.hints, axis.name
        assert not axis.other.says & axis.one.hints, axis.name
