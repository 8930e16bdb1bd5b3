from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutgraf.text.corpus import Corpus

SENTENCES = [[3, 4, 3], [5], [], [4, 6]]


def test_sentences_by_index_slice_and_iteration() -> None:
    corpus = Corpus.of(SENTENCES)
    assert len(corpus) == 4
    assert [sentence.tolist() for sentence in corpus] == SENTENCES
    assert corpus[-1].tolist() == [4, 6]
    assert [sentence.tolist() for sentence in corpus[1:3]] == [[5], []]
    for outside in (4, -5):
        with pytest.raises(IndexError):
            corpus[outside]


def test_lengths_and_counts_by_hand() -> None:
    corpus = Corpus.of(SENTENCES)
    assert corpus.lengths.tolist() == [3, 1, 0, 2]
    assert corpus.counts(8).tolist() == [0, 0, 0, 2, 2, 1, 1, 0]
    # Word 3 occurs twice, in one sentence.
    assert corpus.sentence_counts(8).tolist() == [0, 0, 0, 1, 2, 1, 1, 0]


def test_a_saved_corpus_is_mapped_and_not_read(tmp_path: Path) -> None:
    Corpus.of(SENTENCES).save(tmp_path, "texts")
    corpus = Corpus.open(tmp_path, "texts")
    assert isinstance(corpus.tokens, np.memmap)
    assert [sentence.tolist() for sentence in corpus] == SENTENCES
    assert corpus.tokens.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        corpus.tokens[0] = 1


@pytest.mark.parametrize("sentences", [[], [[]]])
def test_a_corpus_without_words(tmp_path: Path, sentences: list[list[int]]) -> None:
    Corpus.of(sentences).save(tmp_path, "texts")
    corpus = Corpus.open(tmp_path, "texts")
    assert len(corpus) == len(sentences)
    assert corpus.counts(4).tolist() == [0, 0, 0, 0]
    assert corpus.sentence_counts(4).tolist() == [0, 0, 0, 0]


def test_take_and_join_agree_with_lists() -> None:
    corpus = Corpus.of([[1, 2], [], [3], [4, 5, 6]])
    assert [list(words) for words in corpus.take(np.array([3, 0, 1]))] == [[4, 5, 6], [1, 2], []]
    assert [list(words) for words in Corpus.join([corpus, Corpus.of([[7]])])] == [[1, 2], [], [3], [4, 5, 6], [7]]
    assert len(Corpus.join([])) == len(corpus.take(np.array([], dtype=np.int64))) == 0
