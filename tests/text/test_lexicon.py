from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Lexicon, Vocab


def lexicon(*words: str) -> Lexicon:
    return Lexicon([*SPECIALS, *words])


def test_words_to_ids_and_back() -> None:
    small = lexicon("profit", "rises")
    assert len(small) == 5
    assert small.encode(["rises", "never-seen", "profit"]).tolist() == [4, UNK, 3]
    assert small.encode([]).dtype == np.int32
    assert small.decode([3, 4, EOS]) == ["profit", "rises", "</s>"]


def test_a_lexicon_starts_with_the_special_words() -> None:
    assert [SPECIALS[i] for i in (PAD, EOS, UNK)] == ["<pad>", "</s>", "<unk>"]
    with pytest.raises(ValueError, match="starts with"):
        Lexicon(["profit"])


def test_new_words_are_appended_once_and_the_old_lexicon_stays() -> None:
    small = lexicon("profit")
    larger = small.extended([["acme", "profit"], ["zoë", "acme"]])
    assert larger.words[4:] == ["acme", "zoë"]
    assert larger.encode(["profit", "zoë"]).tolist() == [3, 5]
    assert len(small) == 4
    assert small.extended([["profit"]]) is small


def test_saved_and_loaded(tmp_path: Path) -> None:
    small = lexicon("zoë", "it\u2028is", "a\x85b", "\\", '"')
    small.save(tmp_path / "lexicon.txt")
    assert Lexicon.load(tmp_path / "lexicon.txt").words == small.words


def test_most_frequent_by_hand() -> None:
    counts = np.array([9, 9, 9, 1, 5, 0, 5, 2], dtype=np.int64)
    # Words 4 and 6 are equal: the lower id first. Special words are there whatever their counts.
    assert Vocab.most_frequent(counts, 6).ids.tolist() == [0, 1, 2, 4, 6, 7]
    assert counts[0] == 9


def test_words_that_never_occur_stay_out_of_a_larger_vocabulary() -> None:
    counts = np.array([0, 0, 0, 1, 5, 0, 5, 2], dtype=np.int64)
    assert Vocab.most_frequent(counts, 100).ids.tolist() == [0, 1, 2, 4, 6, 7, 3]
    assert len(Vocab.most_frequent(counts, 2)) == 3


def test_local_ids_also_beyond_the_lexicon() -> None:
    vocab = Vocab(np.array([0, 1, 2, 6, 4], dtype=np.int32), lexicon_size=8)
    ids = np.array([[4, 6, 3], [8, 1_000_000, EOS]], dtype=np.int32)
    assert vocab.local(ids).tolist() == [[4, 3, UNK], [UNK, UNK, EOS]]
    assert vocab.local(ids).dtype == np.int32
    assert vocab.local(np.zeros(0, dtype=np.int32)).tolist() == []


def test_a_vocabulary_starts_with_the_special_words() -> None:
    with pytest.raises(ValueError, match="special words"):
        Vocab(np.array([3, 4, 5], dtype=np.int32), lexicon_size=8)
