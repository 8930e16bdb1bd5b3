import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutgraf.models.pr_thr import PrThr
from nutgraf.text.lexicon import EOS, Ids, Vocab


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


@pytest.fixture
def model() -> PrThr:
    vocab = Vocab(ids(0, 1, 2, 5, 6, 7, 8), lexicon_size=20)
    neighbour = ids(2, 2, 2, 15, 16, EOS, 18)
    distance = np.array([2, 2, 2, 0.5, 0.9, 0.1, 1.1], dtype=np.float32)
    return PrThr(vocab, neighbour, distance, eta=0.9, max_words=2, self_match=0.5)


def test_words_become_their_near_neighbours(model: PrThr) -> None:
    assert model([ids(8, 6, 5)])[0].tolist() == [16, 15]  # 8 is too far
    assert model([ids(5, 5, 6)])[0].tolist() == [15, 15]  # N = 2
    assert model([ids(7, 6)])[0].tolist() == [16]  # EOS is the neighbour of 7
    assert model.with_eta(1.2, 3)([ids(8, 6, 5, 5)])[0].tolist() == [18, 16, 15]
    assert model.with_eta(0.4)([ids(8, 6, 5)])[0].tolist() == []


def test_empty_and_unknown_sentences(model: PrThr) -> None:
    outputs = model([ids(), ids(2, 3, 19), ids(20, 1_000_000, 5)])
    assert [output.tolist() for output in outputs] == [[], [], [15]]
    assert all(output.dtype == np.int32 for output in outputs)
    assert model([]) == []


def test_saved_and_loaded_it_is_the_same(model: PrThr, tmp_path: Path) -> None:
    model.save(tmp_path)
    loaded = PrThr.load(tmp_path)
    assert (loaded.eta, loaded.max_words, loaded.self_match) == (0.9, 2, 0.5)
    assert len(loaded.vocab.table) == 20
    np.testing.assert_array_equal(loaded.vocab.ids, model.vocab.ids)
    np.testing.assert_array_equal(loaded.neighbour, model.neighbour)
    np.testing.assert_array_equal(loaded.distance, model.distance)


def test_few_own_neighbours_mean_that_the_alignment_failed(model: PrThr) -> None:
    assert not model.alignment_failed
    assert not replace(model, self_match=0.2).alignment_failed
    failed = replace(model, self_match=0.19)
    assert failed.alignment_failed
    assert "only 19%" in failed.alignment_warning


def test_summarizing_does_not_import_optimal_transport() -> None:
    code = "import sys, nutgraf.models.initializers; print(sorted({'ot', 'gensim'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
