import numpy as np
import pytest

from nutgraf.models.baselines.mass import MASK, make_pairs, mask, mask_span
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import Ids

VOCABULARY = np.arange(60, dtype=np.int32)


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def test_a_span_by_hand() -> None:
    words = ids(10, 11, 12, 13, 14, 15, 16, 17)
    source, span = mask_span(words, 2, np.array([0.1, 0.79, 0.85, 0.95]), ids(50, 51, 52, 53))
    # The example of the paper: eight words, of which the third to the sixth are masked. Two are hidden, the next is
    # another word, the last stays.
    assert source.tolist() == [10, 11, MASK, MASK, 52, 15, 16, 17]
    assert span.tolist() == [12, 13, 14, 15]
    assert words.tolist() == [10, 11, 12, 13, 14, 15, 16, 17]  # unchanged


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 40])
def test_half_of_a_sentence_is_to_be_written(length: int) -> None:
    rng = np.random.default_rng(length)
    words = ids(*range(10, 10 + length))
    starts = set()
    for _ in range(300):
        source, span = mask(words, VOCABULARY, rng)
        assert len(source) == length
        assert len(span) == max(1, round(length / 2))
        start = int(span[0]) - 10
        assert span.tolist() == words[start : start + len(span)].tolist()
        outside = np.ones(length, dtype=bool)
        outside[start : start + len(span)] = False
        assert (source[outside] == words[outside]).all()
        starts.add(start)
    assert starts == set(range(length - len(span) + 1))  # it may be anywhere


def test_masked_words_are_hidden_replaced_or_left_80_10_10() -> None:
    rng = np.random.default_rng(1)
    words = np.full(200_000, 5, dtype=np.int32)
    source, span = mask(words, VOCABULARY, rng)
    assert len(span) == 100_000
    assert (source == MASK).sum() / len(span) == pytest.approx(0.8, abs=0.005)
    others = source[(source != MASK) & (source != 5)]
    assert len(others) / len(span) == pytest.approx(0.1 * 56 / 57, abs=0.005)  # one of the 57 words is 5 itself
    assert {*others.tolist()} == {*range(3, 60)} - {5}  # any word of the vocabulary, and no special one


def test_pairs_come_from_both_piles_alike() -> None:
    texts = Corpus.of([list(range(10, 20))] * 30 + [[], [10]])
    summaries = Corpus.of([list(range(30, 36))] * 50)
    sources, targets = make_pairs(texts, summaries, VOCABULARY, 40, np.random.default_rng(2))
    assert sorted(sources.lengths.tolist()) == [6] * 20 + [10] * 20
    assert sorted(targets.lengths.tolist()) == [3] * 20 + [5] * 20
    assert all((target >= 30).all() == (len(target) == 3) for target in targets)
    everything, _ = make_pairs(texts, summaries, VOCABULARY, 1000, np.random.default_rng(2))
    assert len(everything) == 80  # sentences of one word or none are left out
