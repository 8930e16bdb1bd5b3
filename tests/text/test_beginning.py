from nutgraf.text.beginning import count_read, take_beginning
from nutgraf.text.tokens import Tokenizer

TOKENIZER = Tokenizer()
THREE = "Sales rose. Profit fell. Nobody knows why."


def test_the_first_sentences_that_fit_are_taken_and_at_least_one() -> None:
    assert take_beginning(THREE, 7, TOKENIZER) == THREE  # 7 words between blanks
    assert take_beginning(THREE, 6, TOKENIZER) == "Sales rose. Profit fell."  # 6 tokens
    assert take_beginning(THREE, 5, TOKENIZER) == "Sales rose."
    assert take_beginning(THREE, 1, TOKENIZER) == "Sales rose."


def test_words_are_counted_as_people_count_them() -> None:
    assert count_read(THREE, 20, TOKENIZER) == (7, 7)
    assert count_read(THREE, 6, TOKENIZER) == (4, 7)
    # Seven words between blanks, ten tokens: all sentences are taken, and the last tokens are cut off.
    assert count_read(THREE, 7, TOKENIZER) == (5, 7)
    assert count_read("Ford's profit, sales, shares", 4, TOKENIZER) == (2, 4)  # ford 's profit ,
    assert count_read("", 7, TOKENIZER) == (0, 0)
