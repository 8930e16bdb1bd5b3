import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.models import pr_thr as procrustes
from nutgraf.models.pr_thr import PrThr, align, neighbours, prepared, rotation_of, transport, unit
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
    np.testing.assert_allclose(prepared(X), [[half, -half], [-half, half]], atol=1e-6)
    assert unit(np.zeros((1, 2), dtype=np.float32)).tolist() == [[0.0, 0.0]]


def test_procrustes_undoes_a_rotation() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    Y = turned(rng, X, 0.0)
    R = rotation_of(X.T @ Y)
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


def test_alignment_finds_a_rotation_under_noise_and_another_order() -> None:
    rng = np.random.default_rng(3)
    X_S = clustered(rng, 400, 8)
    X_F = turned(rng, X_S, 0.05)
    # Frequencies differ a little: neighbours in rank change places.
    order = np.argsort(np.arange(400) + rng.normal(size=400) * 5)
    rotation = align(X_S, X_F[order], FAST, seed=1)
    nearest, _ = neighbours(prepared(X_S), unit(prepared(X_F[order]) @ rotation))
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
    nearest, distance = neighbours(X_S, X_F, block=2)
    assert nearest.tolist() == [0, 1, 1]
    # |(0.6, 0.8) - (0, 1)|^2 = 0.36 + 0.04
    np.testing.assert_allclose(distance, [0, np.sqrt(0.4), np.sqrt(2)], atol=1e-6)


@pytest.fixture
def model() -> PrThr:
    vocab = Vocab(ids(0, 1, 2, 5, 6, 7, 8), lexicon_size=20)
    neighbour = ids(2, 2, 2, 15, 16, EOS, 18)
    distance = np.array([2, 2, 2, 0.5, 0.9, 0.1, 1.1], dtype=np.float32)
    return PrThr(vocab, neighbour, distance, eta=0.9, words=2, self_match=0.5)


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
    assert (loaded.eta, loaded.words, loaded.self_match) == (0.9, 2, 0.5)
    assert len(loaded.vocab.table) == 20
    np.testing.assert_array_equal(loaded.vocab.ids, model.vocab.ids)
    np.testing.assert_array_equal(loaded.neighbour, model.neighbour)
    np.testing.assert_array_equal(loaded.distance, model.distance)


def embedded(start: str) -> PrThr:
    """V^F has words 3..62, V^S words 33..92: 30 are shared, and have the same vector, turned."""
    rng = np.random.default_rng(6)
    everything = clustered(rng, 93, 8)
    other = turned(rng, everything, 0.02)
    vocab_F, vocab_S = Vocab(ids(0, 1, 2, *range(3, 63)), 93), Vocab(ids(0, 1, 2, *range(33, 93)), 93)
    vectors_F, vectors_S = everything[vocab_F.ids], other[vocab_S.ids]
    vectors_F[:3] = vectors_S[:3] = 0
    settings = recipe.PrThr(eta="auto", start=start, init_words=50, init_steps=3, epochs=0)
    return procrustes.train(vocab_F, vocab_S, vectors_F, vectors_S, settings, seed=1)


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
        procrustes.train(*vocabularies, vectors, vectors, recipe.PrThr(start="shared"), seed=1)
    with pytest.raises(InputError, match="at least 2"):
        procrustes.train(*vocabularies, 0 * vectors, vectors, recipe.PrThr(), seed=1)
