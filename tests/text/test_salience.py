from math import sqrt

import pytest

from nutgraf.text.salience import content_words, order_sentences, score_sentences, share_words

GREY = "It was a grey morning"  # grey, morning
VOTE = "The council voted to close a pool"  # council, voted, close, pool
POOL = "The pool will close"  # pool, close
CLUB = "A club in the council"  # club, council


def test_salience_by_hand() -> None:
    assert content_words(VOTE) == {"council", "voted", "close", "pool"}
    scores = score_sentences([GREY, VOTE, POOL, CLUB])
    # Of the three other sentences, one has council, none voted, one close, one pool: (1 + 0 + 1 + 1) / 3.
    assert scores == pytest.approx([0, 1 / sqrt(4 * 2), (2 / 3) / sqrt(2 * 3), (1 / 3) / sqrt(2 * 4)])


def test_a_document_may_be_one_sentence_or_have_no_content() -> None:
    assert score_sentences([VOTE]) == [0]
    assert score_sentences(["The", "It was"]) == [0, 0]
    assert order_sentences(["The", "It was"], 0, 5) == [0, 1]


def test_sentences_are_taken_for_what_is_new_in_them() -> None:
    sentences = [GREY, VOTE, POOL, CLUB]
    # After the vote, nothing of POOL is new, half of CLUB is; GREY is new, but has no salience.
    assert order_sentences(sentences, 1, 2) == [1, 3]
    assert order_sentences(sentences, 1, 9) == [1, 3, 0, 2]


def test_the_share_of_words_that_another_line_has() -> None:
    assert share_words("Council closes pool", ["Pool reopens", "Council to close pool"]) == pytest.approx(2 / 3)
    assert share_words("Council closes pool", []) == 0
    assert share_words("the", [GREY]) == 1  # it says nothing
