"""What the beam search of numpy is made of; the search itself is tested against brute force in test_search."""

import numpy as np
import pytest

from nutgraf.learning.beam import NEVER, Beam, top_columns
from nutgraf.recipe import Decoding


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_the_highest_scores_come_first_and_of_equal_ones_the_first_column(count: int) -> None:
    scores = np.array([[0.5, 2.0, 0.5, -1.0], [NEVER, NEVER, 3.0, NEVER]], dtype=np.float32)
    expected = [[1, 0, 2, 3][:count], [2]]
    found = top_columns(scores, count)
    assert found.shape == (2, min(count, 4))
    assert np.take_along_axis(scores, found, 1)[0].tolist() == scores[0, expected[0]].tolist()
    assert found[1, 0] == 2
    if count != 2:  # of the two equal scores, either may be left out
        assert found[0].tolist() == expected[0]


def test_settings_are_those_of_the_recipe() -> None:
    decoding = Decoding(min_words=3, max_words=9, no_repeat_ngram=2, length_penalty=0.5, batch=7, repeat_top_words=40)
    assert Beam.of(decoding, 6, unk=False) == Beam(6, 3, 9, 2, 0.5, 7, unk=False, repeat_top_words=40)
