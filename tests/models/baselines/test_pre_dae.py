from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from nutgraf.models.baselines.pre_dae import CUT, DROPPED, choose_span, make_pairs, rearrange, scramble
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import UNK, Ids


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def mask(text: str) -> NDArray[np.bool_]:
    return np.array([letter == "x" for letter in text], dtype=bool)


def test_phrases_are_put_in_another_order_by_hand() -> None:
    words = ids(3, 4, 5, 6, 7, 8)
    # 3 4 | 5 | 6 7 8, and 7 is dropped; the third phrase first, then the first, then the second.
    moved = rearrange(words, mask("xxxx.x"), mask(".xx..."), np.array([2, 0, 1]))
    assert moved.tolist() == [6, 8, 3, 4, 5]
    # Numbers of no phrase are passed over.
    assert rearrange(words, mask("xxxx.x"), mask(".xx..."), np.array([5, 2, 4, 0, 3, 1])).tolist() == moved.tolist()


def test_a_phrase_that_loses_all_its_words_is_gone() -> None:
    assert rearrange(ids(3, 4, 5), mask("x.x"), mask("xx."), np.array([2, 1, 0])).tolist() == [5, 3]
    assert rearrange(ids(), mask(""), mask(""), np.zeros(0, dtype=np.int64)).tolist() == []


def test_a_cut_after_the_last_word_changes_nothing() -> None:
    assert rearrange(ids(3, 4), mask("xx"), mask(".x"), np.array([1, 0])).tolist() == [3, 4]


@pytest.mark.parametrize("seed", range(20))
def test_a_scrambled_text_has_no_other_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ids(*rng.integers(3, 20, rng.integers(0, 60)).tolist())
    assert not Counter(scramble(words, rng).tolist()) - Counter(words.tolist())


def test_words_are_dropped_and_phrases_end_as_often_as_in_the_original() -> None:
    rng = np.random.default_rng(1)
    words = ids(*range(100_000))
    moved = scramble(words, rng)
    assert len(moved) / len(words) == pytest.approx(1 - DROPPED, abs=0.005)
    # A word is followed by its own successor unless a phrase ends there or one of the two is dropped.
    follows = (np.diff(moved) == 1).mean()
    assert follows == pytest.approx((1 - CUT) * (1 - DROPPED), abs=0.01)


def test_a_target_is_words_in_a_row_from_one_of_the_first_places() -> None:
    rng = np.random.default_rng(2)
    words = ids(*range(100, 140))
    spans = [choose_span(words, rng) for _ in range(2000)]
    assert all((np.diff(span) == 1).all() for span in spans)
    assert {len(span) for span in spans} == {6, 7, 8, 9, 10, 11}
    assert {int(span[0]) for span in spans} == set(range(100, 111))


def test_a_target_fits_into_a_short_text() -> None:
    rng = np.random.default_rng(3)
    assert all(len(choose_span(ids(*range(12)), rng)) >= 6 for _ in range(100))
    assert choose_span(ids(3, 4, 5), rng).tolist() == [3, 4, 5]


def test_pairs_are_of_long_texts_and_targets_lack_what_may_not_be_said() -> None:
    comma = 3
    texts = Corpus.of([[comma, UNK, *range(20 * i, 20 * i + 12)] for i in range(1, 6)] + [[4, 5, 6]])
    said = np.ones(200, dtype=bool)
    said[comma] = False
    sources, targets = make_pairs(texts, said, 100, np.random.default_rng(4))
    assert len(sources) == len(targets) == 5  # the short one is left out
    for source, target in zip(sources, targets, strict=True):
        assert (np.diff(target) == 1).all()
        assert target.min() // 20 == max(source) // 20 >= 1  # of the same text
    places = [max(source) // 20 for source in sources]
    assert sorted(places) == [1, 2, 3, 4, 5] != places  # shuffled: the first ones are a sample of all
    assert len(make_pairs(texts, said, 2, np.random.default_rng(4))[0]) == 2
