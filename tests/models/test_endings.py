"""Each rule by example: a text, a line that a model might write, and the line that it becomes."""

from __future__ import annotations

import pytest

from nutgraf.models.mending import Mender
from nutgraf.text.lexicon import SPECIALS, Lexicon
from tests.models.test_mending import mended


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("acme closes oslo , rome and ohio .", "acme closes oslo", "acme closes oslo , rome and ohio"),
        ("acme closes oslo , rome , and ohio .", "acme closes oslo , rome", "acme closes oslo , rome , and ohio"),
        ("acme closes oslo , and names ann .", "acme closes oslo", "acme closes oslo"),
        ("acme names ann of the fire , health , youth and old age board .", "acme names ann of fire , health", None),
    ],
)  # fmt: skip
def test_a_list_is_whole_or_has_one_item(text: str, line: str, wanted: str | None) -> None:
    assert mended(text, line) == (wanted or "acme names ann of fire , health , youth and old age board")


def test_a_list_that_gets_too_long_has_its_first_item() -> None:
    text = "acme names ann of the fire , health , youth and old age board ."
    assert mended(text, "acme names ann of fire , health", most=9) == "acme names ann of fire"
    assert mended(text, "acme names ann of fire , health", least=7, most=9) == "acme names ann of fire , health"


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("acme fell as the state of ohio named ann .", "acme fell as state of ohio", "acme fell"),
        ("acme fell because ann of big old ohio resigned .", "acme fell because ann of big old ohio", "acme fell"),
        ("acme fell because of fires .", "acme fell because of fires", "acme fell because of fires"),
        ("acme fell while closing mills .", "acme fell while closing mills", "acme fell while closing mills"),
        ("acme resigns if named .", "acme resigns if named", "acme resigns if named"),
        ("acme resigns if ann names jo .", "acme resigns if ann", "acme resigns if ann names jo"),
        ("acme fell after fires .", "acme fell after fires", "acme fell after fires"),
        ("acme fell as its chief resigned .", "acme fell as chief resigned", "acme fell as chief resigned"),
        ("acme names a man who shot jo .", "acme names man who shot jo", "acme names man who shot jo"),
        ("ann did not say what fell .", "ann did not say what fell", "ann did not say what fell"),
        ("ann announced that mills in ohio will close .", "ann announced that mills in ohio", None),
    ],
)
def test_a_clause_has_its_verb_or_goes(text: str, line: str, wanted: str | None) -> None:
    assert mended(text, line) == (wanted or "ann announced that mills in ohio will close")


@pytest.mark.parametrize(
    ("text", "line", "wanted"),
    [
        ("ann says it is `` the first fall '' .", "ann says it is `` first fall", "ann says it is `` first fall ''"),
        ("ann cuts `` big mills , '' she said .", "ann cuts `` big mills", "ann cuts `` big mills ''"),
        ("ann names `` big mills '' old .", "ann names `` big mills old", "ann names big mills old"),
        ("ann names `` big mills '' old .", "ann names `` big mills '' old", "ann names `` big mills '' old"),
    ],
)
def test_a_quotation_is_closed_or_not_opened(text: str, line: str, wanted: str) -> None:
    assert mended(text, line) == wanted


def test_a_line_is_one_sentence() -> None:
    text = "acme names ann chief . its old mills closed in may ."
    for line in ("acme names ann chief . mills closed in may", "acme names ann chief mills closed in may"):
        assert mended(text, line) == "acme names ann chief"
    assert mended("ann has named h.res . 612 old .", "ann names h.res . 612 old") == "ann names h.res . 612 old"
    assert mended("oslo . acme names ann chief .", "oslo . acme names ann chief") == "oslo . acme names ann chief"


def test_a_rare_word_may_be_a_number_so_that_no_sentence_ends_before_it() -> None:
    text = ["ann", "has", "named", "h.res", ".", "612b", "old", "."]
    lexicon = Lexicon(SPECIALS).extended([["ann", "names", "named", "old", "has", "."]])
    source, line = (
        lexicon.extended([text]).encode(words) for words in (text, ["ann", "names", "h.res", ".", "612b", "old"])
    )
    assert Mender.of(lexicon.words)(source, line).tolist() == line.tolist()
