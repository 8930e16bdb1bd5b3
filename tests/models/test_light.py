"""The model in numpy says what the model in torch says of sentences that are there."""

from __future__ import annotations

import numpy as np
import pytest

from nutgraf.learning.batches import pad_batch
from nutgraf.learning.beam import NEVER
from nutgraf.models.light import LightModel, glu, log_sum_exp, windows
from nutgraf.models.scoring import Estimate
from nutgraf.models.storage import weights_of
from nutgraf.text.corpus import pad_sentences
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids
from tests.toys import toy_model

# 13 and above are words that no model knows, and 99 is past the lexicon: it came with the text.
SOURCES: list[Ids] = [np.array(s, dtype=np.int32) for s in ([3, 15, 5, 15, 6], [7, 99], [4], [18, 19], [])]
TARGETS: list[Ids] = [np.array(s, dtype=np.int32) for s in ([15, 4, 3, 3], [99, 8], [], [6, 7, 8, 5, 14], [3])]


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("frequent", [0, 4, 99])
def test_log_probs_are_those_of_torch(copy: bool, frequent: int) -> None:
    model = toy_model(copy).eval()
    expected = model.log_probs(pad_batch(SOURCES), pad_batch(TARGETS), frequent, drawn=False).detach().numpy()
    found = LightModel(weights_of(model)).log_probs(pad_sentences(SOURCES), pad_sentences(TARGETS), frequent)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected, abs=1e-5)
    assert (found == 0).tolist() == (pad_sentences(TARGETS) == 0).tolist()  # padding adds nothing


@pytest.mark.parametrize("copy", [False, True])
def test_next_words_have_a_probability_of_1_together_and_later_words_change_nothing(copy: bool) -> None:
    model = LightModel(weights_of(toy_model(copy)))
    model.bias[PAD] = -1e4  # else it has a share, and cannot be asked for
    words = [EOS, UNK, *range(3, 9), *([15] if copy else [])]  # all that can come next, after a source with 15 in it
    targets = np.array([[4, word, later] for word in words for later in (3, 8)])
    source = np.tile(pad_sentences([np.array([3, 15, 5], dtype=np.int32)]), (len(targets), 1))
    found = model.log_probs(source, targets)[:, 1].reshape(-1, 2)
    assert found[:, 0] == pytest.approx(found[:, 1], abs=1e-6)
    assert np.exp(found[:, 0]).sum() == pytest.approx(1, abs=1e-5)


def test_no_words_are_drawn() -> None:
    with pytest.raises(ValueError, match="drawn"):
        LightModel(weights_of(toy_model(copy=True))).scoring(Estimate(5, seed=1))


def test_a_convolution_by_hand() -> None:
    x = np.array([[[1.0], [2.0], [3.0]]], dtype=np.float32)
    assert windows(x, 3, 1).tolist() == [[[0, 1, 2], [1, 2, 3], [2, 3, 0]]]
    assert windows(x, 3, 2).tolist() == [[[0, 0, 1], [0, 1, 2], [1, 2, 3]]]
    assert windows(x, 2, 1).tolist() == [[[0, 1], [1, 2], [2, 3]]]


def test_a_gate_and_a_normaliser_by_hand() -> None:
    assert glu(np.array([[2.0, 4.0, 0.0, np.log(3.0)]], dtype=np.float32)).tolist() == [[1.0, pytest.approx(3.0)]]
    assert glu(np.array([[2.0, -1e4]], dtype=np.float32)).tolist() == [[0.0]]  # without a warning
    logits = np.array([[np.log(1.0), np.log(3.0), NEVER], [1e4, 1e4, NEVER]], dtype=np.float32)
    assert log_sum_exp(logits).ravel().tolist() == pytest.approx([np.log(4.0), 1e4 + np.log(2.0)])
