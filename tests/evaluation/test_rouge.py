from __future__ import annotations

import random

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from nutgraf.demo.newswire import newswire
from nutgraf.evaluation.rouge import rouge, words
from nutgraf.text.subsequence import common_subsequence

ODD = [
    ("", ""),
    ("", "a headline"),
    ("a headline", ""),
    ("...", "?!"),
    ("one", "one"),
    ("one", "two"),
    ("the the the the", "the the"),
    ("to be or not to be", "not to be or to be"),
    ("Café Ünïon naïve İstanbul ½ ² ß", "cafe union naive istanbul"),
    ("profits\u00a0rose\t5%\n", "Profit rises 5 pct"),
    ("U.S.-led talks, 3.5%", "us led talks 3 5"),
    ("日本 の 株価", "日本"),
    ("running runs ran easily", "run runner easy"),
    ("generously sky dying news", "generous skies die new"),
    ("don't can't o'neill's", "dont cant oneill"),
]


def _official(predictions: list[str], references: list[str]) -> np.ndarray:
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    rows = [scorer.score(reference, prediction) for prediction, reference in zip(predictions, references, strict=True)]
    return np.array([[row[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL")] for row in rows])


def _assert_equal_to_rouge_score(pairs: list[tuple[str, str]]) -> None:
    predictions, references = [a for a, _ in pairs], [b for _, b in pairs]
    scores = rouge(predictions, references)
    ours = np.stack([scores.r1, scores.r2, scores.rl], axis=1)
    assert np.array_equal(ours, _official(predictions, references))  # to the last digit


def test_equals_rouge_score_on_odd_text() -> None:
    _assert_equal_to_rouge_score(ODD)


def test_equals_rouge_score_on_newswire() -> None:
    stories = newswire(300, seed=2)
    _assert_equal_to_rouge_score(stories)
    _assert_equal_to_rouge_score([(" ".join(lead.split()[:12]), headline) for lead, headline in stories])


def test_equals_rouge_score_on_random_repetitive_text() -> None:
    rng = random.Random(0)
    vocabulary = [
        "said",
        "says",
        "saying",
        "rates",
        "rate",
        "5%",
        "U.S.",
        "é",
        "-",
        "nationalised",
        "organization",
        "be",
    ]

    def line() -> str:
        return " ".join(rng.choices(vocabulary, k=rng.randrange(0, 90)))

    _assert_equal_to_rouge_score([(line(), line()) for _ in range(300)])


def test_hand_computed() -> None:
    scores = rouge(["the bank cut rates"], ["bank cuts its rates again"])
    # stems: the bank cut rate | bank cut it rate again; P = 3/4, R = 3/5; one common bigram: P = 1/3, R = 1/4.
    assert scores.r1[0] == pytest.approx(2 / 3)
    assert scores.r2[0] == pytest.approx(2 / 7)
    assert scores.rl[0] == pytest.approx(2 / 3)


def test_words_are_stems() -> None:
    assert words("Rates, U.S.-led: 5%") == ["rate", "u", "s", "led", "5"]


def test_common_subsequence_by_hand() -> None:
    assert common_subsequence(list("abcbdab"), list("bdcaba")) == 4
    assert common_subsequence([], ["a"]) == 0
    assert common_subsequence(["a"] * 200, ["a"] * 150) == 150


def test_signature_names_scorer_and_settings() -> None:
    signature = rouge(["a"], ["a"]).signature
    for part in ("rouge-score 0.", "F1", "Porter", "lower-cased"):
        assert part in signature


def test_one_prediction_a_reference() -> None:
    with pytest.raises(ValueError, match="2 predictions for 1 reference"):
        rouge(["a", "b"], ["a"])
