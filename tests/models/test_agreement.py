"""What summarizers agree on: likeness against a slow version, and the order of proposals by the formula."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
import torch

from nutgraf import recipe
from nutgraf.learning.batches import pad_batch
from nutgraf.models.agreement import Agreement, Weighed, expected_overlap, mean_likeness, most_alike
from nutgraf.models.light import LightModel
from nutgraf.models.mending import Mender
from nutgraf.models.mu1 import Mu1
from nutgraf.models.scoring import Estimate
from nutgraf.models.seq2seq import Seq2seq
from nutgraf.models.storage import weights_of
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.subsequence import common_subsequence
from nutgraf.text.trigrams import END, Trigrams

LEXICON = Lexicon([*SPECIALS, *(f"w{i}" for i in range(9))])
SUMMARIES = Corpus.of(np.array(words, dtype=np.int32) for words in ([3, 4, 5], [4, 5, 6], [3, 4, 6, 7], [5, 6]))


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
    ((best, values),) = most_alike([group])
    assert [words.tolist() for words in best] == [[3, 4, 5], [3, 4, 5, 6], [3, 4, 6], [7, 8]]
    assert values.tolist() == sorted(values.tolist(), reverse=True)
    assert [[*map(len, found)] for found, _ in most_alike([[], ids([[3]])])] == [[], [1]]


def model(seed: int) -> Seq2seq:
    vocab = Vocab(np.arange(len(LEXICON), dtype=np.int32), len(LEXICON))
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(len(LEXICON), 6, generator=generator).numpy()
    settings = recipe.Seq2seq(width=8, encoder_layers=1, decoder_layers=1, dropout=0.0, copy=True)
    return Seq2seq(vocab, vocab, settings, vectors, vectors, generator).eval()


TEXTS = ids([[3, 4, 5, 6, 7], [8, 3, 4], [5, 5, 6, 9]])
PROPOSED = [
    ids([[3, 4, 5], [4, 5], [3, 4, 7], [7, 6], [4, 5]]),
    ids([[8, 3], [3, 4], [8, 4, 3]]),
    ids([[5, 6], [9]]),
]


def agreement(a: float = 0.8, b: float = 0.2, t: float = 0.0) -> Agreement:
    return Agreement(model(9), Trigrams.train(SUMMARIES, LEXICON), recipe.Agreement(a, b, t))


def rank(
    of: Agreement, texts: list[np.ndarray], proposed: list[list[np.ndarray]], kept: int | None = None
) -> list[list[list[int]]]:
    return [[one.words.tolist() for one in found] for found in of.rank(texts, proposed, Estimate(), kept)]


def slow_score(of: Agreement, text: np.ndarray, proposed: list[list[int]], place: int) -> float:
    """The formula, word by word."""
    words = proposed[place]
    others = [likeness(words, other) for i, other in enumerate(proposed) if i != place]
    with torch.no_grad():
        channel = model(9).log_probs(pad_batch(ids([words])), pad_batch([text]))
    log_prob, known = 0.0, list(pairwise(text.tolist()))
    for place, word in enumerate(words):
        p = float(of.fluency.next_words(np.array(words[:place], np.int32))[of.fluency.classes[word]])
        log_prob += math.log(max(p, of.weights.text_pairs * ((words[place - 1], word) in known and place > 0)))
    log_prob += math.log(of.fluency.next_words(np.array(words, np.int32))[END])
    return (
        sum(others) / len(others)
        + of.weights.expander_weight * float(channel.sum()) / (len(text) + 1)
        + of.weights.fluency_weight * log_prob / (len(words) + 1)
    )


@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.8, 0.2), (5.0, 0.0), (0.0, 5.0), (0.0, 5.0, 0.9), (0.8, 0.8, 0.5)])
def test_the_order_is_by_the_formula(weights: tuple[float, ...]) -> None:
    of = agreement(*weights)
    for text, group, found in zip(TEXTS, PROPOSED, rank(of, TEXTS, PROPOSED), strict=True):
        proposed = [words.tolist() for words in group]
        scores = {tuple(words): slow_score(of, text, proposed, place) for place, words in enumerate(proposed)}
        assert len(found) == len(scores)
        assert [scores[tuple(words)] for words in found] == pytest.approx(sorted(scores.values(), reverse=True))


def test_a_score_is_the_formula_and_has_its_parts() -> None:
    of = agreement(0.8, 0.2)
    for text, group, found in zip(TEXTS, PROPOSED, of.rank(TEXTS, PROPOSED, Estimate()), strict=True):
        proposed = [words.tolist() for words in group]
        for one in found:
            assert one.score is not None
            place, score = proposed.index(one.words.tolist()), one.score
            assert score.total == pytest.approx(slow_score(of, text, proposed, place))
            assert score.agreement == pytest.approx(slow_score(agreement(0, 0), text, proposed, place))
            more_content = slow_score(agreement(1.8, 0.2), text, proposed, place)
            assert score.content is not None
            assert score.expected is None  # it has no weight
            assert math.log(score.content) == pytest.approx(more_content - score.total)
            more_fluency = slow_score(agreement(0.8, 1.2), text, proposed, place)
            assert math.log(score.fluency) == pytest.approx(more_fluency - score.total)


class Likely:
    """In place of mu1-0: a word is in the summary with a tenth of its number as probability, at its first place."""

    def probabilities(self, sentences: list[np.ndarray]) -> list[np.ndarray]:
        return [
            np.array([0 if word in sentence[:place] else 0.1 * word for place, word in enumerate(sentence)], np.float32)
            for sentence in sentences
        ]


def test_mu1_expects_as_much_as_by_hand() -> None:
    texts, proposed = ids([[3, 4, 5, 3]]), ids([[3, 4], [5, 5, 8], [8]])
    found = expected_overlap(Weighed(texts, np.zeros(3, int), Corpus.of(proposed)), Likely().probabilities(texts))
    # A summary has 0.3 + 0.4 + 0.5 = 1.2 words of the text: 2 (0.3 + 0.4) / (2 + 1.2), 2 (0.5) / (3 + 1.2), nothing.
    assert found.tolist() == pytest.approx([1.4 / 3.2, 1.0 / 4.2, 0.0])


def test_what_mu1_expects_is_added_to_the_score() -> None:
    plain = replace(agreement(0, 0), cutter=cast(Mu1, Likely()))
    weighed = replace(plain, weights=recipe.Agreement(0, 0, initial_weight=2.0))
    for before, after in zip(plain.rank(TEXTS, PROPOSED), weighed.rank(TEXTS, PROPOSED), strict=True):
        totals = {tuple(one.words.tolist()): one.score.total for one in before if one.score}
        for one in after:
            assert one.score is not None
            assert one.score.expected is not None
            assert one.score.expected > 0
            assert one.score.total == pytest.approx(totals[tuple(one.words.tolist())] + 2 * one.score.expected)
            assert one.score.parts.keys() == {"agreement", "fluency", "expected"}


def test_a_line_that_is_wrong_once_it_is_whole_is_no_proposal() -> None:
    text, lines = (
        ["acme", "says", "that", "oslo", "will", "name", "ann"],
        ("acme name ann", "acme says oslo to name ann"),
    )
    lexicon = Lexicon(SPECIALS).extended([text, ["to", "says", "said", "names", "named", "naming"]])
    found = replace(agreement(0, 0), mender=Mender.of(lexicon.words)).edit(
        [lexicon.encode(text)], [[lexicon.encode(line.split()) for line in lines]], recipe.Decoding(min_words=1)
    )
    # The first one becomes "acme to name ann", of which only "oslo" is true.
    assert [" ".join(lexicon.decode(words.tolist())) for words in found[0]] == ["acme says oslo to name ann"]


def test_breaks_lower_the_score() -> None:
    mender = Mender.of(["", "", "", *["acme", "named", "a", "chief", "for", "rome", "in", "oslo"], "opens"])
    plain = replace(agreement(0, 0), mender=mender)
    weighed = replace(plain, weights=recipe.Agreement(0, 0, break_weight=0.3))
    text, lines = ids([[3, 4, 5, 6, 7, 8, 9, 10]]), [ids([[3, 4, 6, 9, 10], [3, 6, 11]])]
    (before,), (after,) = plain.rank(text, lines), weighed.rank(text, lines)
    totals = {tuple(one.words.tolist()): one.score.total for one in before if one.score}
    found = {tuple(one.words.tolist()): one.score for one in after if one.score}
    assert [found[3, 4, 6, 9, 10].breaks, found[3, 6, 11].breaks] == [0, 2]
    assert found[3, 4, 6, 9, 10].total == pytest.approx(totals[3, 4, 6, 9, 10])
    assert found[3, 6, 11].total == pytest.approx(totals[3, 6, 11] - 0.6)


def test_without_an_expander_nothing_is_weighed_by_it() -> None:
    without, idle = replace(agreement(0.8, 0.2), expander=None), agreement(0.0, 0.2)
    for found, expected in zip(without.rank(TEXTS, PROPOSED), idle.rank(TEXTS, PROPOSED), strict=True):
        assert [(one.words.tolist(), one.score) for one in found] == [
            (one.words.tolist(), one.score) for one in expected
        ]
        assert all(one.score and one.score.content is None for one in found)


def test_the_choice_by_hand() -> None:
    # 4 5 is proposed twice, and half of 4 5 6 is in it; nobody else says 7 8.
    (found,) = rank(agreement(0, 0), TEXTS[:1], [ids([[7, 8], [4, 5, 6], [4, 5], [4, 5]])])
    assert found == [[4, 5], [4, 5, 6], [7, 8]]


def test_only_the_most_alike_are_weighed_and_the_others_follow() -> None:
    alike = rank(agreement(0, 0), TEXTS, PROPOSED)
    assert rank(agreement(100.0, 100.0), TEXTS, PROPOSED, 1) == alike
    weighed = rank(agreement(0.0, 100.0), TEXTS, PROPOSED, 2)
    assert weighed != alike
    for found, expected in zip(weighed, alike, strict=True):
        assert sorted(found[:2]) == sorted(expected[:2])
        assert found[2:] == expected[2:]
    for group in agreement().rank(TEXTS, PROPOSED, Estimate(), 2):
        assert [one.score is not None for one in group] == [place < 2 for place in range(len(group))]


def test_the_order_of_a_text_does_not_depend_on_the_others() -> None:
    together = agreement().rank(TEXTS, PROPOSED, Estimate(5))
    for text, group, found in zip(TEXTS, PROPOSED, together, strict=True):
        (alone,) = agreement().rank([text], [group], Estimate(5))
        assert [one.words.tolist() for one in alone] == [one.words.tolist() for one in found]
        assert [one.score for one in alone] == [one.score for one in found]


def test_the_order_is_the_same_in_numpy() -> None:
    of = agreement()
    light = replace(of, expander=LightModel(weights_of(model(9))))
    rng = np.random.default_rng(3)
    texts = ids([rng.integers(3, 12, size=rng.integers(1, 9)).tolist() for _ in range(50)])
    proposed = [ids([rng.integers(3, 12, size=rng.integers(1, 5)).tolist() for _ in range(6)]) for _ in texts]
    for estimate in (Estimate(), Estimate(5)):
        found, expected = (
            [one for group in each.rank(texts, proposed, estimate) for one in group] for each in (light, of)
        )
        assert [one.words.tolist() for one in found] == [one.words.tolist() for one in expected]
        for one, other in zip(found, expected, strict=True):
            assert one.score is not None
            assert other.score is not None
            assert one.score.total == pytest.approx(other.score.total, rel=1e-5)
            assert one.score.parts == pytest.approx(other.score.parts, rel=1e-5)


def test_no_texts_and_no_proposals() -> None:
    assert agreement().rank([], [], Estimate()) == []
    assert agreement().rank(TEXTS[:1], [[]], Estimate()) == [[]]
