"""Procrustes Thresholded Alignment (Pr-Thr), Section 3.1 and the appendix.

Two embeddings, trained apart on D^F and on D^S, are aligned by Wasserstein Procrustes (Grave, Joulin and Berthet 2018,
as in fastText's alignment code): find a rotation R and a matching P of words that minimise |X_F R - P X_S|.

1. Vectors are normalised, centred, normalised again.
2. A start. The paper's: the convex relaxation of graph matching over the most frequent words, by Frank-Wolfe, then one
   Procrustes. Ours, `init = "shared"`: one Procrustes over the words that both vocabularies spell alike, for corpora
   too small for the relaxation to find anything (LOG.md has the figures).
3. Refinement: random batches of each side are matched by Sinkhorn, R takes a gradient step and is projected back on the
   rotations; batches grow from epoch to epoch.

A summary is then the words' nearest neighbours in V^S, where they are near enough, in the order of the text. The
distance is the Euclidean one between unit vectors (from 0 to 2): the paper does not name its own. Training the
embeddings and choosing eta are done elsewhere.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import ot
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids, Vocab

Matrix = NDArray[np.float32]

PAPER_ETA = 0.9
FARTHEST = 2.0  # the distance of opposite unit vectors
SHARED_WORDS = 1000  # the most frequent words of both vocabularies, over which `self_match` is counted


def _float32(array: NDArray[Any]) -> Matrix:
    return np.asarray(array, dtype=np.float32)


def unit(vectors: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), dtype=np.float32)


def prepared(vectors: Matrix) -> Matrix:
    """Normalise, centre and normalise again."""
    vectors = unit(vectors)
    return unit(vectors - vectors.mean(axis=0))


def rotation_of(matrix: Matrix) -> Matrix:
    """Return the orthogonal matrix nearest to a square one: the solution of Procrustes."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right, dtype=np.float32)


def transport(cost: NDArray[Any], regularisation: float) -> Matrix:
    """Match rows and columns (Sinkhorn): a non-negative square matrix whose rows and columns sum to 1, nearly."""
    # Potentials of rows and columns do not change the solution; without them the kernel exp(-cost / reg) underflows.
    cost = cost - cost.min(axis=1, keepdims=True)
    cost = cost - cost.min(axis=0, keepdims=True)
    ones = np.ones(len(cost), dtype=cost.dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # where scaling overflows, POT says so and returns the last good plan
        P = ot.sinkhorn(ones, ones, cost, regularisation, stopThr=1e-3, numItermax=200, warn=False)
        if not np.isfinite(P).all():
            P = ot.sinkhorn(ones, ones, cost, regularisation, "sinkhorn_log", stopThr=1e-3, numItermax=200, warn=False)
    return np.asarray(P, dtype=np.float32)


def relaxation(X_S: Matrix, X_F: Matrix, settings: recipe.PrThr, report: Report) -> Matrix:
    """Relax the matching of two Gram matrices to the doubly stochastic ones, then solve one Procrustes."""
    count = min(settings.init_words, len(X_S), len(X_F))
    A, B = _root(X_F[:count]), _root(X_S[:count])
    B = _float32(B * np.sqrt(np.linalg.norm(A.T @ A) / np.linalg.norm(B.T @ B)))
    A2, B2 = A.T @ A, B.T @ B  # K_F = A A^T and K_S = B B^T are count wide; these are only as wide as the embeddings
    P = np.full((count, count), 1 / count, dtype=np.float32)
    for step in range(1, settings.init_steps + 1):
        PA, BP = P @ A, B.T @ P
        # The gradient P K_F^2 + K_S^2 P - 2 K_S P K_F of |P K_F - K_S P|^2 / 2; rows are summaries' words.
        G = (PA @ A2) @ A.T + B @ (B2 @ BP) - 2 * B @ ((BP @ A) @ A.T)
        P += 2 / (2 + step) * (transport(G, settings.regularisation) - P)
        report(Progress(step, settings.init_steps, "steps", "start of the alignment"))
    return rotation_of(_float32((P @ X_F[:count]).T @ X_S[:count]))


def _root(X: Matrix) -> Matrix:
    """Take the square root of the singular values, so that a few directions do not decide everything."""
    left, values, right = np.linalg.svd(X, full_matrices=False)
    return np.asarray((left * np.sqrt(values)) @ right, dtype=np.float32)


def refine(
    rotation: Matrix, X_S: Matrix, X_F: Matrix, settings: recipe.PrThr, rng: np.random.Generator, report: Report
) -> Matrix:
    """Alternate between matching random batches and turning the rotation."""
    count = min(settings.words_aligned, len(X_S), len(X_F))
    plan = [(settings.iterations // 4**epoch, settings.batch * 2**epoch) for epoch in range(settings.epochs)]
    total, done = sum(iterations for iterations, _ in plan), 0
    for iterations, size in plan:
        batch = min(size, count)
        for _ in range(iterations):
            texts = X_F[rng.permutation(count)[:batch]]
            summaries = X_S[rng.permutation(count)[:batch]]
            P = transport(-(texts @ rotation) @ summaries.T, settings.regularisation)
            gradient = -texts.T @ (P @ summaries)
            rotation = rotation_of(rotation - settings.learning_rate / batch * gradient)
            done += 1
            if done % 10 == 0 or done == total:
                report(Progress(done, total, "steps", f"alignment, batches of {batch}"))
    return rotation


def align(
    X_S: Matrix,
    X_F: Matrix,
    settings: recipe.PrThr,
    seed: int,
    report: Report = ignore,
    shared: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Matrix:
    """Find the rotation that takes the texts' vectors to the summaries': `prepared(X_F) @ rotation`.

    Rows are in order of frequency, without the special words. `shared` are the rows, of X_F and of X_S, of the words
    that both have; only `init = "shared"` looks at them.
    """
    X_S, X_F = prepared(X_S), prepared(X_F)
    if settings.init == "shared":
        if shared is None:
            raise ValueError('init = "shared" needs the rows of the shared words')
        in_F, in_S = (rows[: settings.init_words] for rows in shared)
        rotation = rotation_of(X_F[in_F].T @ X_S[in_S])
    else:
        rotation = relaxation(X_S, X_F, settings, report)
    return refine(rotation, X_S, X_F, settings, np.random.default_rng(seed), report)


def neighbours(X_S: Matrix, X_F: Matrix, block: int = 2048) -> tuple[NDArray[np.int64], Matrix]:
    """Return the row of X_S nearest to each row of X_F, and the distance; rows are unit vectors."""
    nearest = np.zeros(len(X_F), dtype=np.int64)
    distance = np.zeros(len(X_F), dtype=np.float32)
    for i in range(0, len(X_F), block):
        cosine = X_F[i : i + block] @ X_S.T
        nearest[i : i + block] = cosine.argmax(axis=1)
        distance[i : i + block] = np.sqrt(np.maximum(2 - 2 * cosine.max(axis=1), 0))
    return nearest, distance


@dataclass(frozen=True)
class PrThr:
    """A summarizer that puts each word's neighbour in its place."""

    vocab: Vocab  # V^F
    neighbour: Ids  # (|V^F|,) lexicon ids
    distance: Matrix  # (|V^F|,)
    eta: float
    max_words: int  # N
    self_match: float  # the share of the most frequent shared words that are their own neighbours: near 0, it failed

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        return [self._summary(sentence) for sentence in sentences]

    def _summary(self, sentence: Ids) -> Ids:
        local = self.vocab.local(sentence)
        kept = (local > UNK) & (self.distance[local] <= self.eta) & (self.neighbour[local] != EOS)
        return np.asarray(self.neighbour[local[kept][: self.max_words]], dtype=np.int32)

    def with_eta(self, eta: float, max_words: int | None = None) -> PrThr:
        """Return the same alignment with another threshold, and another N where given."""
        return replace(self, eta=float(eta), max_words=max_words or self.max_words)

    def save(self, folder: Path) -> None:
        """Write the model's two files."""
        arrays = {"vocabulary": self.vocab.ids, "neighbour": self.neighbour, "distance": self.distance}
        save_file(arrays, folder / "pr-thr.safetensors")
        figures = {
            "eta": self.eta,
            "max_words": self.max_words,
            "self_match": self.self_match,
            "lexicon": len(self.vocab.table),
        }
        (folder / "pr-thr.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> PrThr:
        """Read what `save` wrote."""
        figures = json.loads((folder / "pr-thr.json").read_text(encoding="utf-8"))
        arrays = load_file(folder / "pr-thr.safetensors")
        vocab = Vocab(arrays["vocabulary"], figures["lexicon"])
        return cls(
            vocab,
            arrays["neighbour"],
            arrays["distance"],
            figures["eta"],
            figures["max_words"],
            figures["self_match"],
        )


def train(
    vocab_F: Vocab,
    vocab_S: Vocab,
    vectors_F: Matrix,
    vectors_S: Matrix,
    settings: recipe.PrThr,
    seed: int,
    report: Report = ignore,
) -> PrThr:
    """Align two embeddings whose rows are the words of V^F and of V^S, and find each word's neighbour.

    Special words have no vector of their own and take no part; EOS does where its vector is not zero. Where eta is
    "auto" it starts as the paper's, until `thresholds` chooses.
    """
    rows_F, rows_S = _aligned_rows(vectors_F), _aligned_rows(vectors_S)
    if min(len(rows_F), len(rows_S)) < 2:
        raise InputError(f"Pr-Thr: {len(rows_F)} and {len(rows_S)} words with vectors; at least 2 of each are needed")
    X_F, X_S = vectors_F[rows_F], vectors_S[rows_S]
    ids_F, ids_S = vocab_F.ids[rows_F], vocab_S.ids[rows_S]
    shared = _shared_rows(ids_F, ids_S)
    if settings.init == "shared" and len(shared[0]) == 0:
        raise InputError(
            'Pr-Thr: texts and summaries have no word in common, and pr_thr.init = "shared" starts from such words; '
            'are both files in one language? Otherwise set pr_thr.init to "relaxation"'
        )
    rotation = align(X_S, X_F, settings, seed, report, shared)
    nearest, distance = neighbours(prepared(X_S), unit(prepared(X_F) @ rotation))
    in_F, in_S = (rows[:SHARED_WORDS] for rows in shared)
    self_match = float((nearest[in_F] == in_S).mean()) if len(in_F) else 0.0
    neighbour_of = np.full(len(vocab_F), UNK, dtype=np.int32)
    distance_of = np.full(len(vocab_F), FARTHEST, dtype=np.float32)
    neighbour_of[rows_F], distance_of[rows_F] = ids_S[nearest], distance
    eta = PAPER_ETA if isinstance(settings.eta, str) else settings.eta
    return PrThr(vocab_F, neighbour_of, distance_of, eta, settings.max_words, self_match)


def _aligned_rows(vectors: Matrix) -> NDArray[np.int64]:
    takes_part = np.linalg.norm(vectors, axis=1) > 0
    takes_part[[PAD, UNK]] = False
    rows = np.flatnonzero(takes_part)
    # EOS is in every sentence, but it comes last here: the start takes the most frequent words, and it is none.
    return np.concatenate([rows[rows != EOS], rows[rows == EOS]])


def _shared_rows(ids_F: Ids, ids_S: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words that both lists have stand in each, most frequent in the texts first."""
    _, in_F, in_S = np.intersect1d(ids_F, ids_S, assume_unique=True, return_indices=True)
    order = np.argsort(in_F)
    order = order[ids_F[in_F[order]] > UNK]
    return in_F[order], in_S[order]
