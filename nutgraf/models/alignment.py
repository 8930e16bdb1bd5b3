"""Aligning two embeddings by Wasserstein Procrustes, to train Pr-Thr (Section 3.1 and the appendix).

The embeddings are trained separately on D^F and on D^S. Wasserstein Procrustes (Grave, Joulin and Berthet 2018, as in
fastText's alignment code) finds a rotation R and a matching P of words that minimise |X_F R - P X_S|:

1. Vectors are normalised, centred, normalised again.
2. A first rotation. The paper's: the convex relaxation of graph matching over the most frequent words, by Frank-Wolfe,
   then one Procrustes. Ours, `init = "shared"`: one Procrustes over the words that both vocabularies spell alike, for
   corpora too small for the relaxation to find anything (LOG.md has the figures).
3. Refinement: random batches of each side are matched by Sinkhorn, R takes a gradient step and is projected back to
   the rotations; batches grow from epoch to epoch.

Training the embeddings and choosing eta are done elsewhere.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.models.pr_thr import PAPER_ETA, SHARED_WORDS, Matrix, PrThr
from nutgraf.progress import Progress, Report, ignore
from nutgraf.text.lexicon import EOS, PAD, UNK, Ids, Vocab

Rows = NDArray[np.int64]

FARTHEST = 2.0  # the distance of opposite unit vectors
SINKHORN = 3.0e-9  # seconds for each pair of words matched, a step
STOP = 1e-3  # Sinkhorn ends when the columns' sums are this near to 1 (fastText's figure), or at POT's own limit


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

    Where eta is "auto", the model has the paper's until `thresholds` chooses one.
    """
    aligned = align_words(vocab_F, vocab_S, vectors_F, vectors_S, settings, seed, report)
    nearest, distance = find_neighbours(aligned.summaries.vectors, aligned.texts.vectors)
    neighbour_of = np.full(len(vocab_F), UNK, dtype=np.int32)
    distance_of = np.full(len(vocab_F), FARTHEST, dtype=np.float32)
    rows_F = vocab_F.local(aligned.texts.ids)
    neighbour_of[rows_F], distance_of[rows_F] = aligned.summaries.ids[nearest], distance
    eta = PAPER_ETA if isinstance(settings.eta, str) else settings.eta
    return PrThr(vocab_F, neighbour_of, distance_of, eta, settings.max_words, aligned.self_match)


@dataclass(frozen=True)
class Side:
    """Words with vectors: lexicon ids, EOS among them, and unit vectors, row by row."""

    ids: Ids
    vectors: Matrix


@dataclass(frozen=True)
class Aligned:
    """Words of both sides in one space."""

    texts: Side
    summaries: Side
    shared: tuple[Rows, Rows]  # the rows, of either side, of the words that both have

    @property
    def self_match(self) -> float:
        """The share of the most frequent shared words that are their own nearest neighbours; 0 where none is shared."""
        in_F, in_S = (rows[:SHARED_WORDS] for rows in self.shared)
        nearest, _ = find_neighbours(self.summaries.vectors, self.texts.vectors[in_F])
        return float((nearest == in_S).mean()) if len(in_F) else 0.0


def align_words(
    vocab_F: Vocab,
    vocab_S: Vocab,
    vectors_F: Matrix,
    vectors_S: Matrix,
    settings: recipe.PrThr,
    seed: int,
    report: Report = ignore,
) -> Aligned:
    """Bring two embeddings whose rows are the words of V^F and of V^S into one space.

    Words with a zero vector take no part, and neither do PAD and UNK.
    """
    rows_F, rows_S = _rows_to_align(vectors_F), _rows_to_align(vectors_S)
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
    texts, summaries = Side(ids_F, normalise(prepare(X_F) @ rotation)), Side(ids_S, prepare(X_S))
    return Aligned(texts, summaries, shared)


def _rows_to_align(vectors: Matrix) -> Rows:
    takes_part = np.linalg.norm(vectors, axis=1) > 0
    takes_part[[PAD, UNK]] = False
    rows = np.flatnonzero(takes_part)
    # EOS comes last: every sentence has it, but the first rotation is found from the most frequent real words.
    return np.concatenate([rows[rows != EOS], rows[rows == EOS]])


def _shared_rows(ids_F: Ids, ids_S: Ids) -> tuple[Rows, Rows]:
    """Return the rows of the words that both sides have, most frequent in the texts first; EOS is not a word."""
    _, in_F, in_S = np.intersect1d(ids_F, ids_S, assume_unique=True, return_indices=True)
    order = np.argsort(in_F)
    order = order[ids_F[in_F[order]] > UNK]
    return in_F[order], in_S[order]


def align(
    X_S: Matrix,
    X_F: Matrix,
    settings: recipe.PrThr,
    seed: int,
    report: Report = ignore,
    shared: tuple[Rows, Rows] | None = None,
) -> Matrix:
    """Find the rotation that takes the texts' vectors to the summaries': `prepare(X_F) @ rotation`.

    Rows are in order of frequency. `shared` are the rows, of X_F and of X_S, of the words that both sides have; only
    `init = "shared"` uses them.
    """
    X_S, X_F = prepare(X_S), prepare(X_F)
    if settings.init == "shared":
        if shared is None:
            raise ValueError('init = "shared" needs the rows of the shared words')
        in_F, in_S = (rows[: settings.init_words] for rows in shared)
        rotation = nearest_rotation(X_F[in_F].T @ X_S[in_S])
    else:
        rotation = relax(X_S, X_F, settings, report)
    return refine(rotation, X_S, X_F, settings, np.random.default_rng(seed), report)


def normalise(vectors: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return _float32(vectors / np.where(norms > 0, norms, 1))


def prepare(vectors: Matrix) -> Matrix:
    """Normalise, centre and normalise again."""
    vectors = normalise(vectors)
    return normalise(vectors - vectors.mean(axis=0))


def nearest_rotation(matrix: Matrix) -> Matrix:
    """Return the orthogonal matrix nearest to a square one: of X^T Y, the R that minimises |X R - Y| (Procrustes)."""
    left, _, right = np.linalg.svd(matrix)
    return _float32(left @ right)


def transport(cost: NDArray[Any], regularisation: float) -> Matrix:
    """Match rows and columns (Sinkhorn): a non-negative square matrix whose rows and columns sum to 1, nearly."""
    import ot  # takes a second to import, and most processes of a training match nothing

    # Constants added to rows and columns do not change the solution; without them exp(-cost / reg) underflows.
    cost = cost - cost.min(axis=1, keepdims=True)
    cost = cost - cost.min(axis=0, keepdims=True)
    ones = np.ones(len(cost), dtype=cost.dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # where scaling overflows, POT warns and returns the last good plan
        P = ot.sinkhorn(ones, ones, cost, regularisation, stopThr=STOP, warn=False)
        if not np.isfinite(P).all():
            P = ot.sinkhorn(ones, ones, cost, regularisation, "sinkhorn_log", stopThr=STOP, warn=False)
    return _float32(P)


def relax(X_S: Matrix, X_F: Matrix, settings: recipe.PrThr, report: Report) -> Matrix:
    """Match two Gram matrices over the doubly stochastic matrices by Frank-Wolfe, then solve one Procrustes."""
    count = min(settings.init_words, len(X_S), len(X_F))
    A, B = _root(X_F[:count]), _root(X_S[:count])
    B = _float32(B * np.sqrt(np.linalg.norm(A.T @ A) / np.linalg.norm(B.T @ B)))
    P = np.full((count, count), 1 / count, dtype=np.float32)
    for step in range(1, settings.init_steps + 1):
        P += 2 / (2 + step) * (transport(gradient(P, A, B), settings.regularisation) - P)
        report(Progress(step, settings.init_steps, "steps", "start of the alignment"))
    return nearest_rotation(_float32((P @ A).T @ B))


def gradient(P: Matrix, A: Matrix, B: Matrix) -> Matrix:
    """Return P K_F^2 + K_S^2 P - 2 K_S P K_F, the gradient of |P K_F - K_S P|^2 / 2; rows are summaries' words.

    K_F = A A^T and K_S = B B^T are (words, words) and never computed: A and B are only as wide as the embeddings.
    """
    PA, BP = P @ A, B.T @ P
    return _float32((PA @ (A.T @ A)) @ A.T + B @ ((B.T @ B) @ BP) - 2 * B @ ((BP @ A) @ A.T))


def _root(X: Matrix) -> Matrix:
    """Take the square root of the singular values, so that a few directions do not decide everything."""
    left, values, right = np.linalg.svd(X, full_matrices=False)
    return _float32((left * np.sqrt(values)) @ right)


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
            downhill = texts.T @ (P @ summaries)
            rotation = nearest_rotation(rotation + settings.learning_rate / batch * downhill)
            done += 1
            if done % 10 == 0 or done == total:
                report(Progress(done, total, "steps", f"alignment, batches of {batch}"))
    return rotation


def find_neighbours(X_S: Matrix, X_F: Matrix, block: int = 2048) -> tuple[Rows, Matrix]:
    """Return the row of X_S nearest to each row of X_F, and the distance; rows are unit vectors."""
    nearest = np.zeros(len(X_F), dtype=np.int64)
    distance = np.zeros(len(X_F), dtype=np.float32)
    for i in range(0, len(X_F), block):
        cosine = X_F[i : i + block] @ X_S.T
        nearest[i : i + block] = cosine.argmax(axis=1)
        distance[i : i + block] = np.sqrt(np.maximum(2 - 2 * cosine.max(axis=1), 0))
    return nearest, distance


def estimate(settings: recipe.PrThr) -> float:
    """Return how many seconds an alignment may take on one thread."""
    work: float = settings.init_steps * settings.init_words**2 * 10
    work += sum(
        settings.iterations // 4**epoch * (settings.batch * 2**epoch) ** 2 * 4 for epoch in range(settings.epochs)
    )
    return 2 * work * SINKHORN


def _float32(array: NDArray[Any]) -> Matrix:
    return np.asarray(array, dtype=np.float32)
