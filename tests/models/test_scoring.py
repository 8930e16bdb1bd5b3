"""The mean log-probabilities of sentences: each as it would be alone, however the output layer is estimated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nutgraf.learning.batches import pad_batch
from nutgraf.models import scoring
from nutgraf.models.light import LightModel
from nutgraf.models.scoring import Estimate, Side, mean_log_probs
from nutgraf.models.storage import weights_of
from nutgraf.text.corpus import Corpus
from tests.toys import toy_model

TEXTS = Corpus.of(np.array(words, np.int32) for words in ([3, 4, 5, 6], [7, 3], [5, 5, 8, 4, 3], [6]))
SUMMARIES = Corpus.of(np.array(words, np.int32) for words in ([4, 5], [3], [8, 4, 6], [15, 7]))
GIVEN, WANTED = Side(TEXTS, np.array([0, 3, 1, 0, 2])), Side(SUMMARIES, np.array([1, 0, 2, 3, 2]))


@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("estimate", [Estimate(), Estimate(5)])
def test_mean_log_probs_are_those_of_each_sentence_alone(
    light: bool, copy: bool, estimate: Estimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH", 2)
    model, before = toy_model(copy, 1, dropout=0.5, source=19, target=19).eval(), torch.get_rng_state()
    scorer = LightModel(weights_of(model)) if light else model
    means = mean_log_probs(scorer, GIVEN, WANTED, estimate)
    assert torch.equal(torch.get_rng_state(), before)
    for mean, given, wanted in zip(means, GIVEN.places.tolist(), WANTED.places.tolist(), strict=True):
        pair = pad_batch([TEXTS[given]]), pad_batch([SUMMARIES[wanted]])
        log_probs = model.log_probs(*pair, estimate.words, drawn=False).detach()
        assert log_probs.shape == (1, len(SUMMARIES[wanted]) + 1)  # with its end
        assert mean == pytest.approx(float(log_probs.mean()), rel=1e-4)


def test_only_drawn_words_depend_on_the_seed() -> None:
    model = toy_model(copy=True, source=19, target=19)
    drawn = [mean_log_probs(model, GIVEN, WANTED, Estimate(4, seed)).tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    exact, frequent = (mean_log_probs(model, GIVEN, WANTED, Estimate(words)) for words in (0, 5))
    assert (frequent > exact).all()  # rare words are left out of the normaliser
