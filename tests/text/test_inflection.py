"""Forms of verbs, by example."""

from __future__ import annotations

import pytest

from nutgraf.text.inflection import inflect, present_forms, verb_forms

REGULAR = "raise raises raised raising"
IRREGULAR = "buy buys bought buying"


@pytest.mark.parametrize("line", [REGULAR, IRREGULAR, "carry carries carried carrying", "cut cuts cutting"])
def test_each_form_of_a_verb_has_all_its_forms(line: str) -> None:
    forms = frozenset(line.split())
    assert verb_forms([*forms, "bank"]) == dict.fromkeys(forms, forms)


def test_what_has_no_past_is_no_verb() -> None:
    assert verb_forms(["bank", "banks", "banking", "chief", "chiefs"]) == {}
    assert verb_forms(["raise", "raised", "raising"]) == {}


def test_only_words_that_are_there_count_as_forms() -> None:
    assert verb_forms(["write", "writes", "wrote"])["wrote"] == {"write", "writes", "wrote"}
    assert verb_forms(["carries", "carried"])["carried"] == {"carries", "carried"}


def test_a_form_of_two_verbs_has_the_forms_of_both() -> None:
    forms = verb_forms(["find", "finds", "found", "finding", "founds", "founded", "founding"])
    assert forms["found"] == {"find", "finds", "found", "finding", "founds", "founded", "founding"}
    assert forms["finds"] == {"find", "finds", "found", "finding"}


def test_past_and_ing_forms_have_present_ones_and_these_stay() -> None:
    assert present_forms(REGULAR.split()) == {word: {"raise", "raises"} for word in ("raised", "raising")}
    assert present_forms(["names", "named", "market", "markets"]) == {"named": {"names"}}
    assert present_forms(["cut", "cuts", "cutting"]) == {"cut": {"cuts"}, "cutting": {"cut", "cuts"}}


def test_short_verbs_double_their_last_letter() -> None:
    assert inflect("drop") == {"drop", "drops", "dropped", "dropping"}
