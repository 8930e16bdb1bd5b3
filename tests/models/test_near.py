"""near(x, s) by hand, the search against all pairs, and the choice of pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nutgraf import recipe
from nutgraf.errors import MissingExtraError
from nutgraf.models.initializers import load_initializer
from nutgraf.models.near import NONE, Match, Near, Words, choose, without_leads
from nutgraf.text.corpus import Corpus

SIZE = 12  # words of the lexicon, of which 0, 1, 2 are special


def make(summaries: list[list[int]], settings: recipe.Near, vectors: dict[int, list[float]] | None = None) -> Near:
    table = np.zeros((SIZE, 2), dtype=np.float32)
    for word, vector in (vectors or {}).items():
        table[word] = vector
    names, numbers = np.zeros(SIZE, dtype=bool), np.zeros(SIZE, dtype=bool)
    names[10], numbers[11] = True, True
    corpus = Corpus.of(summaries)
    return Near(corpus, Words.of(corpus, table, names, numbers), settings)


def test_the_score_by_hand() -> None:
    # idf: 3 is in both summaries of four (log 2), 4 and 5 in one (log 4).
    model = make([[3, 4], [3, 5], [6], [7]], recipe.Near(early=2.0), {5: [0, 2.0], 8: [0.6, 0.8]})
    text = Corpus.of([[4, 8, 3]])
    two, four = math.log(2), math.log(4)
    # Word 4 at place 0 weighs log 4; 8 is in no summary (log 4 / 1), at place 1: / 1.5; 3 at place 2: / 2.
    length = math.sqrt(four**2 + (four / 1.5) ** 2 + (two / 2) ** 2)
    first = (four * four + two * two / 2) / (length * math.hypot(two, four))  # all covered
    # Of [3, 5] the text has 3; 5 is similar to 8, by a cosine of 0.8.
    second = (two * two / 2) / (length * math.hypot(two, four)) * (two + four * (0.8 - 0.3) / 0.7) / (two + four)
    assert model.score(text, np.array([[0, 1]]))[0] == pytest.approx([first, second], rel=1e-5)


def test_names_cost_and_numbers_forbid() -> None:
    model = make([[3, 4], [3, 4, 10], [3, 4, 11], [5], [6], [7]], recipe.Near(name_penalty=0.5, early=1e9))
    scores = model.score(Corpus.of([[3, 4]]), np.array([[0, 1, 2]]))[0]
    lenient = make([[3, 4], [3, 4, 10], [3, 4, 11], [5], [6], [7]], recipe.Near(name_penalty=1.0, early=1e9))
    assert scores[1] == pytest.approx(lenient.score(Corpus.of([[3, 4]]), np.array([[1]]))[0, 0] / 2)
    assert scores[2] == 0
    assert scores[0] > scores[1] > 0


def test_a_second_occurrence_changes_nothing_but_later_places() -> None:
    model = make([[3, 3, 4], [3, 4], [5], [6]], recipe.Near(early=1e9))
    scores = model.score(Corpus.of([[4, 3, 3]]), np.array([[0, 1]]))[0]
    assert scores[0] == pytest.approx(scores[1])
    assert scores[0] == pytest.approx(1.0, rel=1e-4)


def test_the_search_finds_what_scoring_all_pairs_finds() -> None:
    rng = np.random.default_rng(3)
    summaries = [rng.integers(3, SIZE - 2, size=rng.integers(1, 5)).tolist() for _ in range(60)]
    model = make(summaries, recipe.Near(candidates=60, common=1.0))
    texts = Corpus.of([rng.integers(3, SIZE, size=rng.integers(2, 9)).tolist() for _ in range(20)])
    every = np.tile(np.arange(60), (20, 1))
    scores = model.score(texts, every)
    match = model.match(texts)
    assert match.scores == pytest.approx(-np.sort(-scores, axis=1), abs=1e-5)
    for row, (places, found) in enumerate(zip(match.places, match.scores, strict=True)):
        kept = places != NONE
        assert scores[row, places[kept]] == pytest.approx(found[kept])
        assert not found[~kept].any()


def test_common_words_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutgraf.models.near.NOT_COMMON", 1)
    model = make([[3, 4], [3, 5], [3, 6], [7]], recipe.Near(common=0.5))
    assert model.match(Corpus.of([[3], [4]])).places[:, 0].tolist() == [NONE, 0]


def test_the_nearest_summary_is_the_answer_and_survives_saving(tmp_path: Path) -> None:
    model = make([[3, 4], [5, 6], [7], [8]], recipe.Near())
    model.save(tmp_path)
    unknown = SIZE + 5  # a user's word that no corpus had
    for one in (model, Near.load(tmp_path)):
        answers = one([np.array(text, dtype=np.int32) for text in ([6, 5, unknown], [9], [])])
        assert [answer.tolist() for answer in answers] == [[5, 6], [], []]


def test_the_best_pairs_are_chosen_first_and_a_summary_is_used_as_often_as_allowed() -> None:
    match = Match(
        np.array([[7, 8], [7, 9], [7, NONE], [6, NONE]]),
        np.array([[0.9, 0.5], [0.95, 0.4], [0.8, 0.0], [0.2, 0.0]], dtype=np.float32),
    )
    assert choose(match, 0.3, 1).tolist() == [8, 7, NONE, NONE]
    assert choose(match, 0.3, 2).tolist() == [7, 7, NONE, NONE]
    assert choose(match, 0.0, 3).tolist() == [7, 7, 7, 6]


def test_how_near_the_answer_is() -> None:
    model = make([[3, 4], [5, 6], [7], [8]], recipe.Near(early=1e9))
    assert model.nearness(np.array([6, 5], dtype=np.int32)) == pytest.approx(1.0, rel=1e-4)
    assert model.nearness(np.array([9], dtype=np.int32)) == 0


def test_without_its_libraries_an_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutgraf.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="near-0 needs the training extra"):
        load_initializer("near", tmp_path)


def test_candidates_that_are_the_beginning_of_their_text_are_left_out() -> None:
    texts = Corpus.of([[10, 11, 12, 13, 14, 15, 16]])
    summaries = Corpus.of([[10, 11, 13], [10, 14, 16], [99, 10, 11, 12], [11, 10]])
    # Of the first words, as many as the summary's and one more, these have 3 of 3, 1 of 3, 3 of 4 and 1 of 2.
    match = Match(np.array([[0, 1, 2, 3]]), np.array([[0.9, 0.8, 0.7, 0.1]], dtype=np.float32))
    settings = recipe.Near(max_lead=0.75, min_score=0.3, again_min_score=0.2)
    found = without_leads(match, texts, summaries, settings)
    assert found.places.tolist() == [[1, 3, NONE, NONE]]
    assert found.scores[0].tolist() == pytest.approx([0.8, 0.1, 0, 0])
    assert without_leads(match, texts, summaries, replace(settings, max_lead=1.0)).places.tolist() == [[1, 2, 3, NONE]]


def test_the_index_is_the_same_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    corpus = Corpus.of([rng.integers(3, SIZE, size=rng.integers(0, 9)).tolist() for _ in range(40)])
    model, blocks = make([[3, 4], [5]], recipe.Near()), Corpus.blocks
    whole = model._weigh(corpus, 40.0)
    monkeypatch.setattr(Corpus, "blocks", lambda self: blocks(self, 7))
    found = model._matrix(corpus, 40.0)
    for name in ("data", "indices", "indptr"):
        one, other = getattr(whole, name), getattr(found, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    assert model._matrix(Corpus.of([])).shape == (0, SIZE)
