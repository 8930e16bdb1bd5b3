from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from gensim.models import FastText
from numpy.typing import NDArray

from nutgraf.progress import Progress, ignore
from nutgraf.recipe import Embeddings
from nutgraf.text.corpus import Corpus
from nutgraf.text.embeddings import train_embeddings
from nutgraf.text.lexicon import EOS, PAD, SPECIALS, UNK, Lexicon

SETTINGS = Embeddings(epochs=20, window=3, min_count=2, buckets=2_000, learning_rate=0.025, sample=1e-3)
WORDS = ["oslo", "quito", "perth", "rises", "falls", "jumps", "in", "market", "qz", "oslos"]
LEXICON = Lexicon([*SPECIALS, *WORDS])


def corpus(seed: int, sentences: int = 400) -> Corpus:
    """Sentences such as `market in oslo in rises`: places are exchanged for places and moves for moves."""
    places, moves = np.random.default_rng(seed).integers(0, 3, (2, sentences))
    return Corpus.of([[10, 9, 3 + int(place), 9, 6 + int(move)] for place, move in zip(places, moves, strict=True)])


def vectors(
    ids: list[int], seed: int = 1, settings: Embeddings = SETTINGS, sentences: int = 400, with_end: bool = False
) -> NDArray[np.float32]:
    corpora = [corpus(0, sentences), corpus(1, sentences)]
    return train_embeddings(corpora, LEXICON, np.array(ids, dtype=np.int32), 16, settings, seed, ignore, with_end)


def digest() -> str:
    """The vectors as one short string; called in other processes, too."""
    return hashlib.sha256(vectors(list(range(len(LEXICON)))).tobytes()).hexdigest()


@pytest.mark.parametrize("method", ["_do_train_job", "_get_next_alpha"])  # in a worker, in the thread that reads
def test_a_thread_of_gensim_that_fails_ends_the_training(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(FastText, method, fail)
    with pytest.raises(MemoryError, match="no more"):
        train_embeddings([corpus(1)], LEXICON, np.arange(len(LEXICON), dtype=np.int32), 8, SETTINGS, 1, ignore)


def test_words_used_alike_are_nearer_than_others() -> None:
    found = vectors([3, 4, 5, 6, 7, 8], sentences=3_000)
    found = found / np.linalg.norm(found, axis=1, keepdims=True)
    near = found @ found.T
    places, moves = near[:3, :3], near[3:, 3:]
    alike = (places.sum() - 3 + moves.sum() - 3) / 12
    assert alike > near[:3, 3:].mean() + 0.1


def test_the_same_bytes_in_every_process() -> None:
    script = "from tests.text.test_embeddings import digest; print(digest())"
    for hash_seed in ("1", "2"):
        answer = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        )
        assert answer.stdout.strip() == digest()


def test_another_seed_gives_other_vectors() -> None:
    assert not np.array_equal(vectors([3, 4], seed=1), vectors([3, 4], seed=2))


def test_rows_follow_the_ids_asked_for() -> None:
    found = vectors([8, 3, 0, 1, 2])
    assert found.shape == (5, 16)
    assert found.dtype == np.float32
    assert np.array_equal(found[:2], vectors([3, 8])[::-1])
    assert not found[2:].any()  # PAD, EOS and UNK


def test_the_end_has_a_vector_only_where_sentences_are_read_with_it() -> None:
    assert not vectors([EOS]).any()
    pad, end, unk, untrained = vectors([PAD, EOS, UNK, 11], with_end=True)
    assert not pad.any()
    assert not unk.any()
    assert np.linalg.norm(end) > 3 * np.linalg.norm(untrained)


@pytest.mark.parametrize("changed", [replace(SETTINGS, learning_rate=0.05), replace(SETTINGS, sample=1e-4)])
def test_learning_rate_and_sampling_count(changed: Embeddings) -> None:
    assert not np.array_equal(vectors([3, 4]), vectors([3, 4], settings=changed))


def test_a_word_that_never_occurs_has_the_vector_of_its_letters() -> None:
    oslo, oslos, other = vectors([3, 12, 11])
    assert oslos.any()
    assert np.linalg.norm(oslos) > 3 * np.linalg.norm(other)  # "qz" shares no n-gram with any word trained on
    assert oslo @ oslos > 0


def test_without_any_frequent_word_all_is_made_of_untrained_letters() -> None:
    found = vectors([3, 4], settings=Embeddings(epochs=1, min_count=10_000, buckets=100))
    assert found.shape == (2, 16)
    assert not found.any()


def test_the_limit_holds_for_each_corpus_and_progress_reaches_the_end() -> None:
    seen: list[Progress] = []
    settings = Embeddings(epochs=2, buckets=100, max_sentences=3_000)
    ids = np.array([3], dtype=np.int32)
    train_embeddings([corpus(0, 4_000), corpus(1, 2_500)], LEXICON, ids, 4, settings, 1, seen.append)
    assert [progress.done for progress in seen] == [0, 5_000, 10_000, 15_000]
    assert {progress.total for progress in seen} == {(3_000 + 2_500) * 3}


def test_a_report_that_fails_ends_the_training() -> None:
    """gensim would wait for ever for the sentences."""
    for fails_at in (0, 800):  # while words are counted, and in the first epoch

        def full(progress: Progress, fails_at: int = fails_at) -> None:
            if progress.done >= fails_at:
                raise OSError("no space")

        corpora = [Corpus.of([[3, 4, 5]] * 10_000)]
        with pytest.raises(OSError, match="no space"):
            train_embeddings(
                corpora, LEXICON, np.array([3], dtype=np.int32), 8, Embeddings(epochs=2, buckets=100), 1, full
            )
