"""Beam search against brute force, sampling against its distribution."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
import torch

from nutgraf.learning.beam import Beam
from nutgraf.learning.search import Sampling, beam, sample
from nutgraf.progress import Stopped, ignore
from nutgraf.text.lexicon import EOS, SPECIALS, UNK, Ids
from tests.toys import TableDecoder, TableState

COLUMNS = 7  # PAD, EOS, UNK and four words
SOURCES: list[Ids] = [np.array([i, *range(i)], dtype=np.int32) for i in (0, 2, 5)]


def brute_force(decoder: TableDecoder, source: Ids, settings: Beam) -> list[tuple[float, list[int]]]:
    """Score every allowed sentence."""
    table, found = decoder.table[int(source[0])], []
    words = [w for w in range(2, COLUMNS) if settings.unk or w != UNK]
    for length in range(settings.min_words, settings.max_words + 1):
        for sentence in itertools.product(words, repeat=length):
            grams = list(zip(*(sentence[i:] for i in range(settings.no_repeat_ngram)), strict=False))
            if settings.no_repeat_ngram and len(set(grams)) < len(grams):
                continue
            rare = [word for word in sentence if word >= len(SPECIALS) + settings.repeat_top_words]
            if settings.repeat_top_words and len(set(rare)) < len(rare):
                continue
            path = [EOS, *sentence, EOS]
            score = sum(float(table[a, b]) for a, b in itertools.pairwise(path))
            found.append((score / (length + 1) ** settings.length_penalty, list(sentence)))
    return sorted(found, reverse=True)


@pytest.mark.parametrize(("no_repeat_ngram", "repeat_top_words"), [(0, 0), (1, 0), (2, 0), (0, 2), (2, 3)])
@pytest.mark.parametrize(("min_words", "unk"), [(0, True), (2, False)])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_wide_beam_equals_brute_force(
    no_repeat_ngram: int, repeat_top_words: int, min_words: int, unk: bool, penalty: float
) -> None:
    decoder = TableDecoder(COLUMNS)
    settings = Beam(1000, min_words, 4, no_repeat_ngram, penalty, batch=2, unk=unk, repeat_top_words=repeat_top_words)
    found = beam(decoder, SOURCES, settings)
    for source, hypotheses in zip(SOURCES, found, strict=True):
        expected = brute_force(decoder, source, settings)
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-4)
        # Sentences with the same pairs of words tie, so the order among them is open.
        found_scores = {tuple(h.words.tolist()): h.score for h in hypotheses}
        assert found_scores == pytest.approx({tuple(sentence): score for score, sentence in expected}, abs=1e-4)


def test_a_beam_of_one_is_greedy() -> None:
    decoder = TableDecoder(COLUMNS, seed=3)
    for source, hypotheses in zip(SOURCES, beam(decoder, SOURCES, Beam(1, 0, 6, 0, 1.0, 2)), strict=True):
        table, words = decoder.table[int(source[0])].clone(), [EOS]
        table[:, 0] = float("-inf")
        while len(words) <= 6 and (len(words) == 1 or words[-1] != EOS):
            words.append(int(table[words[-1]].argmax()))
        assert hypotheses[0].words.tolist() == [w for w in words if w != EOS]


def test_a_search_can_be_stopped_before_every_step() -> None:
    decoder, settings = TableDecoder(COLUMNS, seed=1), Beam(3, 5, 5, 0, 1.0, 8)
    for steps in range(6):  # five words and the end
        left = iter([False] * steps)
        with pytest.raises(Stopped):
            beam(decoder, SOURCES, settings, ignore, lambda left=left: next(left, True))  # type: ignore[misc]
    left = iter([False] * 6)
    assert len(beam(decoder, SOURCES, settings, ignore, lambda: next(left, True))) == len(SOURCES)


def test_lengths_hold_exactly() -> None:
    decoder = TableDecoder(COLUMNS, seed=1)
    for hypotheses in beam(decoder, SOURCES, Beam(3, 5, 5, 0, 1.0, 8)):
        assert {len(h.words) for h in hypotheses} == {5}
    drawn = sample(decoder, SOURCES * 20, Sampling(3, 4, 6, batch=8), 0)
    assert {len(words) for words in drawn} <= {4, 5, 6}


def test_batches_change_no_hypothesis() -> None:
    decoder = TableDecoder(COLUMNS, seed=2)
    one, many = (beam(decoder, SOURCES, Beam(4, 1, 6, 2, 1.0, batch)) for batch in (1, 3))
    assert [[h.words.tolist() for h in found] for found in one] == [[h.words.tolist() for h in found] for found in many]


def test_sampling_follows_the_top_k_distribution() -> None:
    decoder = TableDecoder(COLUMNS)
    draws = 20_000
    sources = [SOURCES[1]] * draws
    drawn = sample(decoder, sources, Sampling(3, 1, 1, batch=4096), 1)
    scores = decoder.table[2, EOS].clone()
    scores[:2] = float("-inf")  # PAD never; EOS not before one word
    best, columns = scores.topk(3)
    counts = Counter(int(words[0]) for words in drawn)
    assert set(counts) == set(columns.tolist())
    for probability, column in zip(best.softmax(0).tolist(), columns.tolist(), strict=True):
        error = (probability * (1 - probability) / draws) ** 0.5
        assert counts[column] / draws == pytest.approx(probability, abs=4 * error)


def test_sampling_is_the_same_for_the_same_seed_and_ends_at_the_stop_word() -> None:
    decoder = TableDecoder(COLUMNS)
    settings = Sampling(4, 3, 9, batch=16, stop=5)
    first, second, other = (sample(decoder, SOURCES * 10, settings, s) for s in (7, 7, 8))
    assert [w.tolist() for w in first] == [w.tolist() for w in second]
    assert [w.tolist() for w in first] != [w.tolist() for w in other]
    assert any(5 in w for w in first)
    assert all(5 not in w[:-1] for w in first)


def test_only_the_most_frequent_words_are_drawn_twice() -> None:
    decoder = TableDecoder(COLUMNS)
    free, bound = (sample(decoder, SOURCES * 30, Sampling(7, 5, 5, 16, repeat_top_words=n), 2) for n in (0, 2))
    again = [
        Counter(int(w) for words in drawn for w, n in Counter(words.tolist()).items() if n > 1)
        for drawn in (free, bound)
    ]
    assert any(word >= 5 for word in again[0])
    assert again[1]
    assert all(word < 5 for word in again[1])


def test_sampling_without_unk() -> None:
    drawn = sample(TableDecoder(COLUMNS), SOURCES * 50, Sampling(7, 1, 9, 64, unk=False), 0)
    assert all(UNK not in words for words in drawn)


def test_threads_change_nothing() -> None:
    threads = torch.get_num_threads()
    found = []
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            drawn = sample(TableDecoder(COLUMNS), SOURCES * 20, Sampling(7, 1, 9, 4), 3)
            ranked = beam(TableDecoder(COLUMNS), SOURCES * 3, Beam(3, 1, 6, 2, 1.0, 4))
            found.append(([words.tolist() for words in drawn], [[h.words.tolist() for h in best] for best in ranked]))
            assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(threads)
    assert found[0] == found[1]


def test_an_error_in_a_thread_is_raised() -> None:
    class Broken(TableDecoder):
        def start(self, *_: object, **__: object) -> TableState:
            raise ValueError("broken")

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ValueError, match="broken"):
            sample(Broken(COLUMNS), SOURCES * 20, Sampling(7, 1, 9, 4), 3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
