"""The alignment against slow and obvious versions, and against rotations that are known."""

import warnings
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.models import alignment
from nutgraf.models.alignment import (
    align,
    find_neighbours,
    gradient,
    nearest_rotation,
    normalise,
    prepare,
    relax,
    transport,
)
from nutgraf.models.pr_thr import PrThr
from nutgraf.progress import ignore
from nutgraf.text.lexicon import EOS, Ids, Vocab

FAST = recipe.PrThr(init_words=300, init_steps=60, epochs=2, iterations=40, batch=100, learning_rate=100.0)


def ids(*words: int) -> Ids:
    return np.array(words, dtype=np.int32)


def clustered(rng: np.random.Generator, words: int, width: int) -> NDArray[np.float32]:
    """Vectors with some structure, as embeddings have it: a cloud with no structure looks alike from all sides."""
    centres = rng.normal(size=(12, width)) * np.linspace(0.5, 2.5, 12)[:, None]
    places = rng.integers(12, size=words) ** 2 // 12
    return np.asarray(centres[places] + rng.normal(size=(words, width)), dtype=np.float32)


def turned(rng: np.random.Generator, X: NDArray[np.float32], noise: float) -> NDArray[np.float32]:
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    return np.asarray(X @ Q + noise * rng.normal(size=X.shape), dtype=np.float32)


def test_preparation_normalises_centres_and_normalises_again() -> None:
    X = np.array([[3.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    # Unit rows (1, 0) and (0, 1), less their mean (1/2, 1/2), are (1/2, -1/2) and (-1/2, 1/2).
    half = np.sqrt(0.5)
    np.testing.assert_allclose(prepare(X), [[half, -half], [-half, half]], atol=1e-6)
    assert normalise(np.zeros((1, 2), dtype=np.float32)).tolist() == [[0.0, 0.0]]


def test_procrustes_undoes_a_rotation() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    Y = turned(rng, X, 0.0)
    R = nearest_rotation(X.T @ Y)
    np.testing.assert_allclose(X @ R, Y, atol=1e-4)
    np.testing.assert_allclose(R @ R.T, np.eye(6), atol=1e-5)


def test_transport_matches_what_costs_least_and_warns_of_nothing() -> None:
    rng = np.random.default_rng(2)
    order = rng.permutation(20)
    cost = np.ones((20, 20), dtype=np.float32)
    cost[np.arange(20), order] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = transport(cost, 0.05)
        extreme = transport((1e4 * rng.random((30, 30))).astype(np.float32), 0.05)
    assert (P.argmax(axis=1) == order).all()
    np.testing.assert_allclose(P.sum(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-3)
    assert np.isfinite(extreme).all()


def test_transport_by_hand() -> None:
    # Kernel exp(-C / reg) = [[1, 1/4], [1/4, 1]], scaled to rows and columns that sum to 1: [[4, 1], [1, 4]] / 5.
    cost = np.array([[0.0, 1.0], [1.0, 0.0]]) * np.log(4) * 0.05
    np.testing.assert_allclose(transport(cost, 0.05), [[0.8, 0.2], [0.2, 0.8]], atol=1e-4)


def plain_sinkhorn(cost: NDArray[np.float64], regularisation: float) -> NDArray[np.float64]:
    """Scale rows and columns in turn until both sum to 1."""
    # The same constant off every cost is the same factor on every entry: it changes nothing once rows are scaled.
    P: NDArray[np.float64] = np.exp(-(cost - cost.min()) / regularisation)
    for _ in range(2_000):
        P = P / P.sum(axis=1, keepdims=True)
        P = P / P.sum(axis=0, keepdims=True)
    return P


def plain_relaxation(
    X_S: NDArray[np.float32], X_F: NDArray[np.float32], steps: int, regularisation: float
) -> NDArray[np.float64]:
    """Frank-Wolfe with whole Gram matrices in float64, word by word as the definition has it."""
    roots = []
    for X in (X_F.astype(np.float64), X_S.astype(np.float64)):
        values, vectors = np.linalg.eigh(X.T @ X)  # X (X^T X)^(-1/4) halves the exponents of the singular values
        roots.append(X @ vectors @ np.diag(values**-0.25) @ vectors.T)
    A, B = roots
    K_F, K_S = A @ A.T, B @ B.T
    K_S = K_S * np.sqrt((K_F**2).sum() / (K_S**2).sum())
    words = len(K_F)
    P = np.ones((words, words)) / words
    for step in range(1, steps + 1):
        slope = P @ K_F @ K_F + K_S @ K_S @ P - 2 * K_S @ P @ K_F
        P = (1 - 2 / (2 + step)) * P + 2 / (2 + step) * plain_sinkhorn(slope, regularisation)
    left, _, right = np.linalg.svd(A.T @ P.T @ B)
    return np.asarray(left @ right)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_relaxation_equals_a_slow_and_obvious_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X_S = prepare(clustered(rng, 14, 4))
    X_F = 2 * prepare(turned(rng, X_S, 0.1)[rng.permutation(14)])  # of another norm, to be scaled away
    settings = recipe.PrThr(init_words=12, init_steps=6, regularisation=0.5)
    expected = plain_relaxation(X_S[:12], X_F[:12], 6, 0.5)
    np.testing.assert_allclose(relax(X_S, X_F, settings, ignore), expected, atol=2e-3)


def test_gradient_by_hand() -> None:
    # K_F = A A^T = diag(1, 4) and K_S = B B^T = diag(9, 1). With P all 1/2, P K_F - K_S P has the entries
    # (1 - 9) / 2, (4 - 9) / 2 and (1 - 1) / 2, (4 - 1) / 2; the gradient is each of them times (k_F - k_S) again.
    A, B = np.diag([1, 2]).astype(np.float32), np.diag([3, 1]).astype(np.float32)
    half = np.full((2, 2), 0.5, dtype=np.float32)
    np.testing.assert_allclose(gradient(half, A, B), [[32, 12.5], [0, 4.5]])


def test_gradient_agrees_with_finite_differences() -> None:
    rng = np.random.default_rng(7)
    A, B, P = (rng.normal(size=shape).astype(np.float32) for shape in ((5, 3), (5, 3), (5, 5)))

    def objective(P: NDArray[np.float64]) -> float:
        return float(((P @ (A @ A.T) - (B @ B.T) @ P) ** 2).sum() / 2)

    found = gradient(P, A, B)
    for i, j in ((0, 0), (1, 3), (4, 2)):
        step = np.zeros((5, 5))
        step[i, j] = 1e-4
        slope = (objective(P + step) - objective(P - step)) / 2e-4
        assert found[i, j] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_alignment_finds_a_rotation_under_noise_and_another_order() -> None:
    rng = np.random.default_rng(3)
    X_S = clustered(rng, 400, 8)
    X_F = turned(rng, X_S, 0.05)
    # Frequencies differ a little: neighbours in rank change places.
    order = np.argsort(np.arange(400) + rng.normal(size=400) * 5)
    rotation = align(X_S, X_F[order], FAST, seed=1)
    nearest, _ = find_neighbours(prepare(X_S), normalise(prepare(X_F[order]) @ rotation))
    assert (nearest == order).mean() > 0.9


def test_alignment_is_a_function_of_the_seed() -> None:
    rng = np.random.default_rng(4)
    X_S = clustered(rng, 150, 6)
    X_F = turned(rng, X_S, 0.05)
    first, again, other = (align(X_S, X_F, FAST, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_more_words_wanted_than_there_are() -> None:
    rng = np.random.default_rng(5)
    settings = recipe.PrThr(init_steps=2, epochs=2, iterations=4)  # batches of 500 out of 40 words
    assert align(clustered(rng, 40, 4), clustered(rng, 60, 4), settings, seed=1).shape == (4, 4)


def test_neighbours_and_their_euclidean_distances() -> None:
    X_S = np.array([[1, 0], [0, 1]], dtype=np.float32)
    X_F = np.array([[1, 0], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    nearest, distance = find_neighbours(X_S, X_F, block=2)
    assert nearest.tolist() == [0, 1, 1]
    # |(0.6, 0.8) - (0, 1)|^2 = 0.36 + 0.04
    np.testing.assert_allclose(distance, [0, np.sqrt(0.4), np.sqrt(2)], atol=1e-6)


def embedded(init: Literal["relaxation", "shared"]) -> PrThr:
    """V^F has words 3..62, V^S words 33..92: 30 are shared, and have the same vector, turned."""
    rng = np.random.default_rng(6)
    everything = clustered(rng, 93, 8)
    other = turned(rng, everything, 0.02)
    vocab_F, vocab_S = Vocab(ids(0, 1, 2, *range(3, 63)), 93), Vocab(ids(0, 1, 2, *range(33, 93)), 93)
    vectors_F, vectors_S = everything[vocab_F.ids], other[vocab_S.ids]
    vectors_F[:3] = vectors_S[:3] = 0
    settings = recipe.PrThr(eta="auto", init=init, init_words=50, init_steps=3, epochs=0)
    return alignment.train(vocab_F, vocab_S, vectors_F, vectors_S, settings, seed=1)


def test_shared_words_align_both_vocabularies() -> None:
    model = embedded("shared")
    assert model.self_match > 0.9
    assert model.eta == 0.9  # the paper's, until one is chosen
    assert set(model.neighbour[3:].tolist()) <= set(range(33, 93))
    assert embedded("relaxation").self_match < 0.9  # three steps find nothing


def test_without_shared_words_the_message_says_what_to_do() -> None:
    vectors = np.eye(5, dtype=np.float32)
    vocabularies = Vocab(ids(0, 1, 2, 3, 4), 9), Vocab(ids(0, 1, 2, 5, 6), 9)
    with pytest.raises(InputError, match="no word in common"):
        alignment.train(*vocabularies, vectors, vectors, recipe.PrThr(init="shared"), seed=1)
    with pytest.raises(InputError, match="at least 2"):
        alignment.train(*vocabularies, 0 * vectors, vectors, recipe.PrThr(), seed=1)


def test_a_word_whose_nearest_neighbour_is_eos_is_dropped() -> None:
    # Three shared words hold the alignment in place. In the texts word 6 is used as the end is in the summaries.
    vectors_S = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]], dtype=np.float32)
    vectors_F = np.concatenate([vectors_S, [[1, 1, 1]]]).astype(np.float32)
    vocab_F, vocab_S = Vocab(ids(*range(7)), 7), Vocab(ids(*range(6)), 7)
    settings = recipe.PrThr(eta=2.0, init="shared", epochs=0)
    model = alignment.train(vocab_F, vocab_S, vectors_F, vectors_S, settings, seed=1)
    assert model.neighbour[6] == EOS
    assert model([ids(3, 6, 5)])[0].tolist() == [3, 5]
    without_end = vectors_S.copy()
    without_end[EOS] = 0
    model = alignment.train(vocab_F, vocab_S, vectors_F, without_end, settings, seed=1)
    assert len(model([ids(3, 6, 5)])[0]) == 3
