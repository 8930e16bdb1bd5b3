from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nutgraf.progress import Progress, ignore
from nutgraf.recipe import Embeddings
from nutgraf.text.corpus import Corpus
from nutgraf.text.vector_blocks import NGRAMS, OUTPUTS, WORDS, Block, Blocks, weighted_mean
from tests.text.test_embeddings import LEXICON, SETTINGS, corpus

BY_THREE = replace(SETTINGS, epochs=2, blocks=3)
IDS = np.arange(len(LEXICON), dtype=np.int32)


def blocks(work: Path, settings: Embeddings = BY_THREE, sentences: int = 400, with_end: bool = False) -> Blocks:
    corpora = [corpus(0, sentences), corpus(1, sentences)]
    return Blocks(corpora, LEXICON, 16, settings, 1, with_end, work)


def train(found: Blocks, backwards: bool = False) -> NDArray[np.float32]:
    def train_all(missing: Sequence[Block]) -> None:
        for block in missing[:: -1 if backwards else 1]:
            found.train_block(block, ignore)

    found.train(train_all)
    return found.vectors(IDS)


def test_a_mean_weighs_each_row_by_how_often_it_was_read() -> None:
    first = {
        WORDS: np.array([[1, 1], [2, 2], [5, 5]], np.float32),
        NGRAMS: np.array([[4.0]], np.float32),
        OUTPUTS: np.zeros((3, 1), np.float32),
        "word_counts": np.array([3, 0, 0]),
        "ngram_counts": np.array([1]),
    }
    other = {
        WORDS: np.array([[5, 9], [7, 7], [5, 5]], np.float32),
        NGRAMS: np.array([[0.0]], np.float32),
        OUTPUTS: np.ones((3, 1), np.float32),
        "word_counts": np.array([1, 2, 0]),
        "ngram_counts": np.array([1]),
    }
    mean = weighted_mean([first, other])
    assert mean[WORDS].tolist() == [[2, 3], [7, 7], [5, 5]]  # (3 + 5) / 4, (3 + 9) / 4; of one block; of none
    assert mean[NGRAMS].tolist() == [[2]]
    assert mean[OUTPUTS].tolist() == [[0.25], [1], [0]]
    again = weighted_mean([first, first, other, other])
    assert all(np.allclose(again[name], mean[name]) for name in mean)


def test_the_same_bytes_in_any_order_of_blocks(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    assert np.array_equal(train(blocks(tmp_path / "one")), train(blocks(tmp_path / "other"), backwards=True))
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["mean-002"]


def test_words_used_alike_are_nearer_than_others(tmp_path: Path) -> None:
    found = train(blocks(tmp_path, replace(BY_THREE, epochs=20), sentences=9_000))[3:9]
    found = found / np.linalg.norm(found, axis=1, keepdims=True)
    near = found @ found.T
    alike = (near[:3, :3].sum() - 3 + near[3:, 3:].sum() - 3) / 12
    assert alike > near[:3, 3:].mean() + 0.1


def test_a_killed_training_resumes_and_a_damaged_block_is_made_again(tmp_path: Path) -> None:
    (whole := tmp_path / "whole").mkdir()
    (killed := tmp_path / "killed").mkdir()
    expected, found, made = train(blocks(whole)), blocks(killed), list[Block]()

    def until_the_fifth(missing: Sequence[Block]) -> None:
        for block in missing:
            if len(made) == 5:
                raise KeyboardInterrupt
            made.append(block)
            found.train_block(block, ignore)

    with pytest.raises(KeyboardInterrupt):
        found.train(until_the_fifth)
    damaged = killed / Block(1, 0).name
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    assert sorted(path.name for path in killed.iterdir()) == ["epoch-001-block-000", "epoch-001-block-001", "mean-001"]
    again = list[Block]()

    def rest(missing: Sequence[Block]) -> None:
        for block in missing:
            again.append(block)
            found.train_block(block, ignore)

    found.train(rest)
    assert again == [Block(1, 0), Block(1, 2)]
    assert np.array_equal(found.vectors(IDS), expected)


def test_progress_counts_every_sentence_once_an_epoch(tmp_path: Path) -> None:
    seen, found = list[Progress](), blocks(tmp_path, replace(BY_THREE, epochs=1), sentences=30_000)

    def train_all(missing: Sequence[Block]) -> None:
        for block in missing:
            found.train_block(block, seen.append)

    found.train(train_all)
    assert found.sentences == 60_000
    # A block of 20,000 tells of itself every 5,000.
    assert [progress.done for progress in seen] == [0, 5_000, 5_000, 5_000] * 3


def test_more_blocks_than_sentences_and_no_frequent_word(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    (tmp_path / "rare").mkdir()
    few = Blocks(
        [Corpus.of([[3, 4, 5, 3, 4, 5]])], LEXICON, 8, replace(BY_THREE, min_count=1), 1, True, tmp_path / "few"
    )
    assert train(few)[3:6].any()
    assert not train(blocks(tmp_path / "rare", replace(BY_THREE, min_count=10_000))).any()
