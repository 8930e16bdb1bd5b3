"""A selection against the same sentences in lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutgraf.text.corpus import Corpus, pad_sentences
from nutgraf.text.selection import Selection

RNG = np.random.default_rng(3)
LISTS = [[RNG.integers(3, 99, size=RNG.integers(0, 7)).tolist() for _ in range(count)] for count in (5, 0, 12, 1)]
ALL = [sentence for sentences in LISTS for sentence in sentences]


def make() -> tuple[Selection, list[list[int]]]:
    numbers = RNG.integers(0, len(ALL), size=40)  # some several times
    return Selection([Corpus.of(sentences) for sentences in LISTS], numbers), [ALL[number] for number in numbers]


def as_lists(sentences: Selection) -> list[list[int]]:
    return [words.tolist() for words in sentences]


def test_sentences_of_several_corpora_by_index_slice_and_iteration() -> None:
    selection, expected = make()
    assert as_lists(selection) == expected
    assert [selection[i].tolist() for i in range(-40, 40)] == [*expected, *expected]
    assert [words.tolist() for words in selection[3:30:2]] == expected[3:30:2]
    assert selection.lengths.tolist() == [*map(len, expected)]
    for outside in (40, -41):
        with pytest.raises(IndexError):
            selection[outside]


def test_take_join_and_pad_agree_with_lists() -> None:
    selection, expected = make()
    other, more = make()
    places = np.array([7, 0, 39, 7])
    assert as_lists(selection.take(places)) == [expected[place] for place in places]
    assert as_lists(Selection.join([selection, other, selection])) == [*expected, *more, *expected]
    padded = pad_sentences([np.array(expected[place], np.int32) for place in places])
    assert selection.pad(places).tolist() == padded.tolist()
    assert as_lists(Selection.of(Corpus.of(ALL))) == ALL
    assert Selection.of(selection) is selection


def test_nothing_selected() -> None:
    nothing = make()[0].take(np.zeros(0, dtype=np.int64))
    for empty in (nothing, Selection.join([]), Selection.join([nothing, nothing]), Selection.of(Corpus.of([]))):
        assert (len(empty), as_lists(empty), empty[:], empty.lengths.tolist()) == (0, [], [], [])


def test_saved_block_by_block_it_has_the_bytes_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selection, expected = make()
    blocks = Selection.blocks
    monkeypatch.setattr(Selection, "blocks", lambda self: blocks(self, 7))
    selection.save(tmp_path, "selected")
    Corpus.of(expected).save(tmp_path, "corpus")
    for part in ("tokens", "offsets"):
        assert (tmp_path / f"selected.{part}.npy").read_bytes() == (tmp_path / f"corpus.{part}.npy").read_bytes()


def test_the_words_stay_on_disk(tmp_path: Path) -> None:
    Corpus.of(ALL).save(tmp_path, "all")
    selection = Selection.of(Corpus.open(tmp_path, "all")).take(np.arange(4))
    assert isinstance(Selection.join([selection, selection]).corpora[1].tokens.base, np.memmap)
