from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutgraf.text.corpus import Corpus, CorpusWriter

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
    assert isinstance(corpus.tokens.base, np.memmap)
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


def test_a_corpus_written_as_it_comes_has_the_bytes_of_a_saved_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sentences = [rng.integers(0, 50, size=rng.integers(0, 9)).tolist() for _ in range(2_000)]
    corpus = Corpus.of(sentences)
    corpus.save(tmp_path, "saved")
    with CorpusWriter(tmp_path, "written") as writer:
        for block in corpus.blocks(300):
            writer.add(block)
    with CorpusWriter(tmp_path, "nothing"):
        pass
    Corpus.of([]).save(tmp_path, "empty")
    for one, other in (("saved", "written"), ("empty", "nothing")):
        for part in ("tokens", "offsets"):
            assert (tmp_path / f"{one}.{part}.npy").read_bytes() == (tmp_path / f"{other}.{part}.npy").read_bytes()


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_blocks_are_the_sentences_in_their_order(size: int) -> None:
    blocks = list(Corpus.of(SENTENCES).blocks(size))
    assert [sentence.tolist() for block in blocks for sentence in block] == SENTENCES
    assert {len(block) for block in blocks[:-1]} <= {size}


def test_words_are_counted_block_by_block_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    sentences = [rng.integers(0, 9, size=rng.integers(0, 6)).tolist() for _ in range(100)]
    corpus, blocks = Corpus.of(sentences), Corpus.blocks
    monkeypatch.setattr(Corpus, "blocks", lambda self: blocks(self, 7))
    flat = [word for sentence in sentences for word in sentence]
    assert corpus.counts(9).tolist() == [flat.count(word) for word in range(9)]
    assert corpus.sentence_counts(9).tolist() == [sum(word in one for one in sentences) for word in range(9)]
