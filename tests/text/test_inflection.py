"""Forms of verbs, by example."""

from __future__ import annotations

import pytest

from nutgraf.text.inflection import Inflections, inflect

REGULAR = "raise raises raised raising"
IRREGULAR = "buy buys bought buying"


@pytest.mark.parametrize("line", [REGULAR, IRREGULAR, "carry carries carried carrying", "cut cuts cutting"])
def test_each_form_of_a_verb_has_all_its_forms(line: str) -> None:
    forms = frozenset(line.split())
    assert Inflections([*forms, "bank"]).all_forms() == dict.fromkeys(forms, forms)


def test_what_has_no_past_is_no_verb() -> None:
    assert Inflections(["bank", "banks", "banking", "chief", "chiefs"]).all_forms() == {}
    assert Inflections(["raise", "raised", "raising"]).all_forms() == {}


def test_only_words_that_are_there_count_as_forms() -> None:
    assert Inflections(["write", "writes", "wrote"]).all_forms()["wrote"] == {"write", "writes", "wrote"}
    assert Inflections(["carries", "carried"]).all_forms()["carried"] == {"carries", "carried"}


def test_a_form_of_two_verbs_has_the_forms_of_both() -> None:
    forms = Inflections(["find", "finds", "found", "finding", "founds", "founded", "founding"]).all_forms()
    assert forms["found"] == {"find", "finds", "found", "finding", "founds", "founded", "founding"}
    assert forms["finds"] == {"find", "finds", "found", "finding"}


def test_past_and_ing_forms_have_present_ones_and_these_stay() -> None:
    assert Inflections(REGULAR.split()).summary_forms() == {word: {"raise", "raises"} for word in ("raised", "raising")}
    assert Inflections(["names", "named", "market", "markets"]).summary_forms() == {"named": {"names"}}
    assert Inflections(["cut", "cuts", "cutting"]).summary_forms() == {"cut": {"cuts"}, "cutting": {"cut", "cuts"}}


def test_long_words_have_short_forms_and_these_stay() -> None:
    known = Inflections(["percent", "pct", "million"])
    assert known.summary_forms() == {"percent": {"pct"}}
    assert known.all_forms() == {word: {"percent", "pct"} for word in ("percent", "pct")}


def test_present_forms_are_bare_or_of_the_third_person() -> None:
    words = [*REGULAR.split(), "pass", "passes", "passed", "percent", "pct"]
    bare, third = Inflections(words).present_forms()
    assert (bare, third) == (frozenset(["raise", "pass"]), frozenset(["raises", "passes"]))


def test_past_forms_are_no_present_forms() -> None:
    words = [*REGULAR.split(), *IRREGULAR.split(), "cut", "cuts", "cutting", "percent", "pct", "fee", "fees", "feed"]
    assert Inflections(words).past_forms() == {"raised", "bought"}


def test_short_verbs_double_their_last_letter() -> None:
    assert inflect("drop") == {"drop", "drops", "dropped", "dropping"}


def test_longer_verbs_may_double_it_too() -> None:
    found = Inflections(["commits", "committed", "committing", "visits", "visited"])
    assert found.past_forms() == {"committed", "visited"}
    assert found.all_forms()["commits"] == {"commits", "committed", "committing"}


def test_irregular_verbs_are_known_by_their_past_alone() -> None:
    assert Inflections(["fled", "bled", "sped"]).past_forms() == {"fled", "bled"}
