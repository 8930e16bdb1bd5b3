"""What summarizers agree on: likeness against a slow version, the choice by hand, and a committee on tiny models."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.backtranslation.committee import Committee, mean_likeness, most_alike
from nutgraf.learning.batches import pad_batch
from nutgraf.learning.beam import Beam
from nutgraf.learning.search import beam
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.subsequence import common_subsequence
from nutgraf.text.trigrams import Trigrams

LEXICON = Lexicon([*SPECIALS, *(f"w{i}" for i in range(9))])
SUMMARIES = Corpus.of(np.array(words, dtype=np.int32) for words in ([3, 4, 5], [4, 5, 6], [3, 4, 6, 7], [5, 6]))
SENTENCES = [np.array(words, dtype=np.int32) for words in ([3, 4, 5, 6, 7], [8, 3, 4], [5, 5, 6, 9])]


def f1(common: int, one: int, other: int) -> float:
    return 2 * common / max(1, one + other)


def likeness(a: list[int], b: list[int]) -> float:
    words = (Counter(a) & Counter(b)).total()
    bigrams = (Counter(pairwise(a)) & Counter(pairwise(b))).total()
    r2 = f1(bigrams, len(a) - 1, len(b) - 1)
    return (f1(words, len(a), len(b)) + r2 + f1(common_subsequence(a, b), len(a), len(b))) / 3


def ids(group: list[list[int]]) -> list[np.ndarray]:
    return [np.array(words, dtype=np.int32) for words in group]


def test_likeness_is_as_a_slow_version_says() -> None:
    rng = np.random.default_rng(5)
    groups = [
        [rng.integers(3, 9, size=rng.integers(1, 8)).tolist() for _ in range(rng.integers(1, 6))] for _ in range(150)
    ]
    found = mean_likeness([ids(group) for group in groups])
    for group, values in zip(groups, found, strict=True):
        for i, words in enumerate(group):
            others = [likeness(words, other) for j, other in enumerate(group) if i != j]
            assert values[i] == pytest.approx(sum(others) / max(1, len(others)))


def test_the_most_alike_come_first_and_each_once() -> None:
    group = ids([[3, 4, 5], [7, 8], [3, 4, 6], [3, 4, 5, 6], [3, 4, 5]])
    ((best, values),) = most_alike([group], 2)
    assert [words.tolist() for words in best] == [[3, 4, 5], [3, 4, 5, 6]]
    assert values.tolist() == sorted(values.tolist(), reverse=True)
    assert [[*map(len, found)] for found, _ in most_alike([[], ids([[3]])], 5)] == [[], [1]]


def model(seed: int) -> Seq2seq:
    vocab = Vocab(np.arange(len(LEXICON), dtype=np.int32), len(LEXICON))
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(len(LEXICON), 6, generator=generator).numpy()
    settings = recipe.Seq2seq(width=8, encoder_layers=1, decoder_layers=1, dropout=0.0, copy=True)
    return Seq2seq(vocab, vocab, settings, vectors, vectors, generator).eval()


def committee(teaching: recipe.Teaching, count: int = 2) -> Committee:
    decoding = recipe.Decoding(min_words=2, max_words=4)
    teachers = [model(seed) for seed in range(count)]
    return Committee(teachers, model(9), Trigrams.train(SUMMARIES, LEXICON), teaching, decoding, 0, "key")


def slow_choice(of: Committee, sentence: np.ndarray) -> list[int]:
    """The formula, word by word."""
    proposed: list[list[int]] = []
    for teacher in of.teachers:
        settings = Beam(of.teaching.beam, 2, 4, 3, 1.0, 64, unk=False)
        proposed += [found.words.tolist() for found in beam(ConvDecoder(teacher), [sentence], settings)[0]]

    def score(words: list[int], place: int) -> float:
        others = [likeness(words, other) for i, other in enumerate(proposed) if i != place]
        with torch.no_grad():
            channel = of.expander.log_probs(pad_batch(ids([words])), pad_batch([sentence]))
        log_prob = -math.log(2) * float(of.fluency.bits([np.array(words, dtype=np.int32)])[0])
        return (
            sum(others) / len(others)
            + of.teaching.expander_weight * float(channel.sum()) / (len(sentence) + 1)
            + of.teaching.fluency_weight * log_prob / (len(words) + 1)
        )

    return max(proposed, key=lambda words: score(words, proposed.index(words)))


@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.8, 0.2), (5.0, 0.0), (0.0, 5.0)])
def test_the_choice_is_by_the_formula(weights: tuple[float, float]) -> None:
    of = committee(recipe.Teaching(beam=3, kept=9, expander_weight=weights[0], fluency_weight=weights[1]))
    assert [words.tolist() for words in of(SENTENCES, 0)] == [slow_choice(of, sentence) for sentence in SENTENCES]


def test_only_the_most_alike_are_weighed() -> None:
    alone = committee(recipe.Teaching(kept=1, expander_weight=100.0))
    agreed = committee(recipe.Teaching(kept=1, expander_weight=0.0, fluency_weight=0.0))
    assert [words.tolist() for words in alone(SENTENCES, 0)] == [words.tolist() for words in agreed(SENTENCES, 0)]
    assert alone([], 0) == []
