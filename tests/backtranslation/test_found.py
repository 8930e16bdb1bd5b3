"""Pairs found again: the new score by hand, the choice of the best, files, and log-probabilities in batches."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from nutgraf import recipe
from nutgraf.backtranslation import found
from nutgraf.backtranslation.found import Scorer, choose_most, find_again
from nutgraf.models import scoring
from nutgraf.models.near import NONE, Match
from nutgraf.models.scoring import Estimate, Side
from nutgraf.progress import Progress
from nutgraf.run.pairs import ARTIFICIAL, FOUND_FILE
from nutgraf.text.corpus import Corpus
from tests.toys import toy_model

TEXTS = Corpus.of([[3, 4, 5, 6], [7, 8], [], [4, 4, 3]])
SUMMARIES = Corpus.of([[3], [4, 5], [8, 7, 6], [5]])
MATCH = Match(
    np.array([[0, 1, 3], [2, 3, NONE], [NONE, NONE, NONE], [1, 0, NONE]]),
    np.array([[0.8, 0.5, 0.1], [0.4, 0.3, 0.0], [0.0, 0.0, 0.0], [0.6, 0.2, 0.0]], dtype=np.float32),
)


def make_scorer(shortlist: int = 0, seed: int = 1, copy: bool = True) -> Scorer:
    models = [toy_model(copy, number, dropout=0.5, source=19, target=19) for number in (1, 2)]
    return Scorer(models[0], models[1], Estimate(shortlist, seed))


def empty_match(texts: int) -> Match:
    return Match(np.full((texts, 3), NONE), np.zeros((texts, 3), dtype=np.float32))


def test_the_new_score_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = make_scorer()
    # Pairs in the order (0, 0), (0, 1), (1, 2), (1, 3), (3, 1), (3, 0); the summary 3 of text 0 is too weak.
    means = {
        id(scorer.summarizer): np.array([-3.0, -1.0, -1.0, -2.0, 0.0, -1.0]),
        id(scorer.expander): np.array([-2.0, -1.0, -1.0, -1.0, -1.0, 0.0]),
    }
    sides: list[tuple[list[int], list[int]]] = []

    def known(model: torch.nn.Module, given: Side, wanted: Side, *_: object) -> object:
        sides.append((given.places.tolist(), wanted.places.tolist()))
        return means[id(model)]

    monkeypatch.setattr(found, "mean_log_probs", known)
    settings = recipe.Near(again_min_score=0.2, summarizer_weight=0.5, expander_weight=2.0)
    again = find_again(MATCH, TEXTS, SUMMARIES, scorer, settings)
    of_texts, of_summaries = [0, 0, 1, 1, 3, 3], [0, 1, 2, 3, 1, 0]
    assert sides == [(of_texts, of_summaries), (of_summaries, of_texts)]
    assert again.places.tolist() == [[1, 0, NONE], [2, 3, NONE], [NONE] * 3, [0, 1, NONE]]
    expected = [
        [0.5 * math.exp(-0.5 - 2), 0.8 * math.exp(-1.5 - 4), 0],
        [0.4 * math.exp(-0.5 - 2), 0.3 * math.exp(-1 - 2), 0],
        [0, 0, 0],
        [0.2 * math.exp(-0.5), 0.6 * math.exp(-2), 0],
    ]
    assert again.scores == pytest.approx(np.array(expected), rel=1e-5)


def test_a_shortlist_gives_the_same_for_the_same_seed_and_leaves_the_global_stream_alone() -> None:
    settings, before = recipe.Near(), torch.get_rng_state()
    first, second, other = (
        find_again(MATCH, TEXTS, SUMMARIES, make_scorer(4, seed, copy=False), settings).scores for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_progress_reaches_its_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", 4)
    heard: list[Progress] = []
    find_again(MATCH, TEXTS, SUMMARIES, make_scorer(), recipe.Near(again_min_score=0.2), heard.append)
    assert [(progress.done, progress.total) for progress in heard] == [(4, 12), (6, 12), (10, 12), (12, 12)]


def test_without_any_candidate_nothing_is_found(tmp_path: Path) -> None:
    for match, texts in ((empty_match(4), TEXTS), (empty_match(0), Corpus.of([]))):
        again = find_again(match, texts, SUMMARIES, make_scorer(), recipe.Near())
        assert again.places.shape == again.scores.shape == (len(texts), 3)
        chosen = choose_most(again, 5, 2)
        assert chosen.tolist() == [NONE] * len(texts)
        found.save_pairs(again, chosen, SUMMARIES, tmp_path)
        assert [words.tolist() for words in Corpus.open(tmp_path, ARTIFICIAL)] == [[]] * len(texts)


def test_the_best_pairs_are_chosen_up_to_their_number() -> None:
    # Text 3 takes summary 1 before text 0 wants it; text 2 has no candidate.
    assert choose_most(MATCH, 9, 1).tolist() == [0, 2, NONE, 1]
    assert choose_most(MATCH, 2, 1).tolist() == [0, NONE, NONE, 1]
    assert choose_most(MATCH, 1, 1).tolist() == [0, NONE, NONE, NONE]
    assert choose_most(MATCH, 0, 1).tolist() == [NONE] * 4
    crowded = Match(np.array([[1], [1], [1]]), np.array([[0.2], [0.4], [0.3]], dtype=np.float32))
    assert choose_most(crowded, 9, 1).tolist() == [NONE, 1, NONE]
    assert choose_most(crowded, 9, 2).tolist() == [NONE, 1, 1]


def test_pairs_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "KEPT", 2)
    found.save_pairs(MATCH, np.array([1, NONE, NONE, 0]), SUMMARIES, tmp_path)
    assert [words.tolist() for words in Corpus.open(tmp_path, ARTIFICIAL)] == [[4, 5], [], [], [3]]
    places, scores = found.load_chosen(tmp_path)
    assert places.tolist() == [1, NONE, NONE, 0]
    assert scores.tolist() == pytest.approx([0.5, 0, 0, 0.2])
    match = found.load_match(tmp_path)
    assert np.array_equal(match.places, MATCH.places[:, :2])
    assert np.array_equal(match.scores, MATCH.scores[:, :2])
    assert set(load_file(tmp_path / FOUND_FILE)) == {"places", "scores", "candidates", "candidate_scores"}
