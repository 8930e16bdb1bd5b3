from collections.abc import Sequence

import pytest

from nutgraf.recipe import Text
from nutgraf.text import beginning
from nutgraf.text.beginning import count_read, find_read, take_beginning
from nutgraf.text.skimming import skim
from nutgraf.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
THREE = "Sales rose. Profit fell. Nobody knows why."


def test_the_first_sentences_that_fit_are_taken_and_at_least_one() -> None:
    assert take_beginning(THREE, 7, TOKENIZER) == THREE  # 7 words between blanks
    assert take_beginning(THREE, 6, TOKENIZER) == "Sales rose. Profit fell."  # 6 tokens
    assert take_beginning(THREE, 5, TOKENIZER) == "Sales rose."
    assert take_beginning(THREE, 1, TOKENIZER) == "Sales rose."


def test_words_are_counted_as_people_count_them() -> None:
    assert count_read(THREE, Text(max_text_words=20), TOKENIZER) == (7, 7)
    assert count_read(THREE, Text(max_text_words=6), TOKENIZER) == (4, 7)
    # Seven words between blanks, ten tokens: all sentences are taken, and the last tokens are cut off.
    assert count_read(THREE, Text(max_text_words=7), TOKENIZER) == (5, 7)
    assert count_read("Ford's profit, sales, shares", Text(max_text_words=4), TOKENIZER) == (2, 4)  # ford 's profit ,
    assert count_read("", Text(max_text_words=7), TOKENIZER) == (0, 0)


def test_what_is_skimmed_over_makes_room_and_counts_as_read() -> None:
    text = "Acme (the maker of kettles) will close a plant in Ohio on Monday, it said."
    words, skimming = TOKENIZER.words(text), Text(max_text_words=6, skim=True)
    assert [words[place] for place in find_read(words, skimming)] == ["acme", "will", "close", "a", "plant", "in"]
    assert find_read(words, Text(max_text_words=6)) == [0, 1, 2, 3, 4, 5]
    assert count_read(text, skimming, TOKENIZER) == (10, 15)
    assert count_read(text, Text(skim=True), TOKENIZER) == (15, 15)
    many = "Acme will close three plants on Monday" + ", today" * 9 + " in Ohio"
    assert count_read(many, Text(max_text_words=8, skim=True), TOKENIZER) == (5, 18)


@pytest.mark.parametrize("word", [",", "(", "a", "--", "today"])
def test_of_a_very_long_line_only_the_beginning_is_skimmed(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[int]()

    def count(words: Sequence[str]) -> list[int]:
        seen.append(len(words))
        return skim(words)

    monkeypatch.setattr(beginning, "skim", count)
    assert len(find_read([word, "b"] * 100_000, Text(max_text_words=80, skim=True))) <= 80
    assert seen == [160]
