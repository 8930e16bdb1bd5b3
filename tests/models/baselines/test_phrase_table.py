"""Phrases of a few words of two dimensions, by hand, and of many words against a slow version."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nutgraf.models.baselines.phrase_table import average_nearest, make_phrases, nearest
from nutgraf.recipe import Pbsmt

Matrix = NDArray[np.float32]


def at(*degrees: float) -> Matrix:
    """Unit vectors by their angles."""
    radians = np.radians(degrees)
    return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def cosine(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def unit(rng: np.random.Generator, rows: int) -> Matrix:
    vectors = rng.normal(size=(rows, 6)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_the_mean_cosine_to_the_nearest() -> None:
    X, Y = at(0, 90), at(10, 30, 80)
    found = average_nearest(X, Y, 2)
    assert found.tolist() == pytest.approx([(cosine(10) + cosine(30)) / 2, (cosine(10) + cosine(60)) / 2], abs=1e-6)
    assert average_nearest(X, Y, 9)[0] == pytest.approx((cosine(10) + cosine(30) + cosine(80)) / 3, abs=1e-6)


def test_a_word_near_to_everything_is_not_the_nearest() -> None:
    X, Y = at(0), at(20, -21)
    r_Y = np.array([0.95, 0.5], dtype=np.float32)  # the first is near to many others
    places, scores = nearest(X, Y, r_Y, Pbsmt(candidates=1))
    assert places.tolist() == [[1]]
    # The score is a softmax of the cosines alone, over all words.
    raw = np.exp(45 * np.array([cosine(20), cosine(21)]))
    assert scores[0, 0] == pytest.approx(np.log(raw[1] / raw.sum()), abs=1e-4)


def test_scores_of_both_directions_by_hand() -> None:
    X, Y = at(0, 40), at(0, 10, 30)
    phrases = make_phrases(X, Y, Pbsmt(temperature=10, candidates=3, neighbours=1))
    found = {(s, t): (d, i) for s, t, d, i in zip(phrases.sources.tolist(), phrases.targets.tolist(),
                                                  phrases.direct, phrases.inverse, strict=True)}  # fmt: skip
    # All words are among each other's three nearest.
    angles = np.array([[0, 10, 30], [40, 30, 10]])
    raw = np.exp(10 * np.cos(np.radians(angles)))
    assert set(found) == {(i, j) for i in range(2) for j in range(3)}
    for (i, j), (direct, inverse) in found.items():
        assert direct == pytest.approx(np.log(raw[i, j] / raw[i].sum()), abs=1e-5)
        assert inverse == pytest.approx(np.log(raw[i, j] / raw[:, j].sum()), abs=1e-5)


def test_pairs_are_mutual_and_share_out_the_probability_of_their_word() -> None:
    settings = Pbsmt(candidates=2, neighbours=3, temperature=5)
    rng = np.random.default_rng(2)
    X, Y = unit(rng, 30), unit(rng, 20)
    cos = (X @ Y.T).astype(np.float64)
    r_X = np.sort(cos, axis=1)[:, -3:].mean(1)
    r_Y = np.sort(cos, axis=0)[-3:].mean(0)
    csls = 2 * cos - r_X[:, None] - r_Y
    mutual = {
        (i, j)
        for i in range(30)
        for j in range(20)
        if (csls[i] > csls[i, j]).sum() < 2 and (csls[:, j] > csls[i, j]).sum() < 2
    }
    phrases = make_phrases(X, Y, settings)
    assert set(zip(phrases.sources.tolist(), phrases.targets.tolist(), strict=True)) == mutual
    assert len({i for i, _ in mutual}) < 30  # some words have no translation
    totals = np.bincount(phrases.sources, np.exp(phrases.direct))
    assert totals[totals > 0] == pytest.approx(1)
    p = np.exp(5 * cos)
    for i, j, direct, inverse in zip(phrases.sources, phrases.targets, phrases.direct, phrases.inverse, strict=True):
        own = [other for source, other in mutual if source == i]
        assert direct == pytest.approx(np.log(p[i, j] / p[i, own].sum()), abs=1e-4)
        assert inverse == pytest.approx(np.log(p[i, j] / p[:, j].sum()), abs=1e-4)


def test_the_best_of_each_word_are_kept_best_first() -> None:
    rng = np.random.default_rng(3)
    phrases = make_phrases(unit(rng, 12), unit(rng, 9), Pbsmt(temperature=5))
    best = phrases.best(2)
    assert np.bincount(best.sources).tolist() == [2] * 12
    totals = phrases.direct + phrases.inverse
    for word in range(12):
        own = np.sort(totals[phrases.sources == word])[::-1]
        assert (best.direct + best.inverse)[best.sources == word].tolist() == pytest.approx(own[:2].tolist())


def test_improbable_pairs_are_left_out() -> None:
    phrases = make_phrases(at(0, 180), at(0, 180), Pbsmt(temperature=45, candidates=2, neighbours=1))
    assert phrases.sources.tolist() == phrases.targets.tolist() == [0, 1]  # exp(-90) is nothing
