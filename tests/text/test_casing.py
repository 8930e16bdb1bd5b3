from pathlib import Path

import pytest

from nutgraf.text.casing import Casing

TEXTS = [
    "Shares of AT&T rose in the U.S. on Monday.",
    "The shares fell in The Hague: They said so.",
    "ALL CAPITALS IN A LINE",
]
SUMMARIES = ["Shares Rise at AT&T", "The Shares Fall", "the shares fall"]


def test_forms_are_counted_inside_sentences() -> None:
    casing = Casing.learn(TEXTS, SUMMARIES)
    assert casing.form("at&t") == "AT&T"
    assert casing.form("u.s.") == "U.S."
    assert casing.form("rise") == "Rise"  # as these summaries have it
    assert casing.form("in") == "in"
    assert casing.form("nowhere") == "nowhere"
    assert "capitals" not in casing.texts
    assert "they" not in casing.texts  # only after a colon


def test_a_capital_that_only_titles_have_goes_where_few_are_titles() -> None:
    texts = {word: word for word in ("saves", "falls", "oil")}
    assert Casing({"saves": "Saves", "falls": "falls", "oil": "oil"}, texts).form("saves") == "saves"
    assert Casing({"saves": "Saves", "falls": "Falls", "oil": "oil"}, texts).form("saves") == "Saves"
    assert Casing({"saves": "Saves", "falls": "falls"}, {"falls": "falls"}).form("saves") == "Saves"  # a name, perhaps


def test_names_are_told_from_the_texts() -> None:
    casing = Casing.learn(TEXTS, SUMMARIES)
    asked = ("at&t", "monday", "shares", "rise", "in")
    assert [word for word in asked if casing.is_name(word)] == ["at&t", "monday", "rise"]  # no text has "rise"
    assert not Casing({"fall": "Fall"}, {"fall": "fall"}).is_name("fall")


def test_a_word_at_the_start_of_a_text() -> None:
    casing = Casing.learn(TEXTS, SUMMARIES)
    assert casing.inside("the", "The") == "the"
    assert casing.inside("monday", "Monday") == "Monday"
    assert casing.inside("zyxomma", "Zyxomma") == "Zyxomma"


@pytest.mark.parametrize("short", [False, True])
def test_written_and_read(short: bool, tmp_path: Path) -> None:
    learned = Casing.learn(TEXTS, SUMMARIES)
    casing = Casing({**learned.summaries, "=": "="}, learned.texts)
    casing.save(tmp_path / "casing.tsv", short)
    read = Casing.load(tmp_path / "casing.tsv")
    assert (read.summaries, read.texts) == (casing.summaries, casing.texts)


def test_a_short_file_by_hand(tmp_path: Path) -> None:
    casing = Casing({"ford": "Ford", "rose": "rose"}, {"rose": "Rose", "the": "the"})
    casing.save(tmp_path / "casing.tsv", short=True)
    assert (tmp_path / "casing.tsv").read_text() == "ford\tFord\t\nrose\t=\tRose\nthe\t\t=\n"
