"""Summaries made to fit a text, by hand: names, numbers, what must be supported, the score and the choice."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutgraf import recipe
from nutgraf.models.adapting import ADAPTED, Adapter, Fitted, fit_candidates, left_out, nameless
from nutgraf.models.near import Near, Words
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.tokens import is_number

# Vectors by hand: firms, places and deeds each have a direction of their own.
FIRM, PLACE, RISE, BUY = (1.0, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, 1.0, 0), (0, 0, 0, 1.0)
VECTORS = {
    **dict.fromkeys(["acme", "globex", "initech", "hooli", "corp"], FIRM),
    **dict.fromkeys(["oslo", "lima"], PLACE),
    **dict.fromkeys(["rose", "rises", "falls", "profit", "sales"], RISE),
    **dict.fromkeys(["buys", "acquired"], BUY),
}
PLAIN = ["said", "quarterly", "percent", "million", "in", "by", "5", "8", "9"]
NAMES = frozenset({"acme", "globex", "initech", "hooli", "corp", "oslo", "lima"})
LEXICON = Lexicon([*SPECIALS, *VECTORS, *PLAIN])
TEXTS = ["acme corp said quarterly profit rose 8 percent in oslo"]
SUMMARIES = ["globex quarterly profit rises 5 percent", "acme sales", "lima"]


def ids(line: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return LEXICON.encode(line.split())


def make_near(summaries: list[str] = SUMMARIES, settings: recipe.Near | None = None) -> Near:
    vectors = np.array([VECTORS.get(word, (0, 0, 0, 0)) for word in LEXICON.words], dtype=np.float32)
    names = np.array([word in NAMES for word in LEXICON.words])
    numbers = np.array([is_number(word) for word in LEXICON.words])
    corpus = Corpus.of([ids(line) for line in summaries])
    settings = settings or recipe.Near(min_score=0.01, candidates=8, common=1.0)
    return Near(corpus, Words.of(corpus, vectors, names, numbers), settings)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Adapter:
    # Of these few words, only "said" and "in" need no support.
    monkeypatch.setattr("nutgraf.models.adapting.USUAL", 2)
    texts = Corpus.of([ids("said in"), ids("said in"), *map(ids, TEXTS)])
    return Adapter(make_near().words, texts, Corpus.of([ids(line) for line in SUMMARIES]), LEXICON)


def fit(adapter: Adapter, text: str, summary: str) -> str | None:
    fitted = adapter.fit(adapter.read(ids(text)), adapter.read_candidate(ids(summary)))
    return None if fitted is None else " ".join(LEXICON.decode(fitted))


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        (TEXTS[0], "globex quarterly profit rises 5 percent", "acme quarterly profit rises 8 percent"),
        (TEXTS[0], "acme quarterly profit rises", "acme quarterly profit rises"),
        # The part of a name that the text has stays; words that summaries leave out, as "corp" here, are not put in.
        (TEXTS[0], "acme globex quarterly profit rises", "acme quarterly profit rises"),
        # Each name in its turn, and none that the summary has already.
        ("acme acquired initech in oslo", "globex acquired hooli in lima", None),  # three would have to give way
        ("acme acquired initech in oslo", "globex acquired hooli in oslo", "acme acquired initech in oslo"),
        ("acme acquired initech in oslo", "acme buys acquired hooli", "acme buys acquired initech"),
        # A place is no firm, and a firm is put in once.
        ("quarterly profit rose in oslo", "globex quarterly profit rises", None),
        ("acme profit rose 8 percent", "globex profit rises by hooli", None),
    ],
)
def test_names_of_the_text_replace_those_that_it_lacks(
    adapter: Adapter, text: str, summary: str, expected: str | None
) -> None:
    assert fit(adapter, text, summary) == expected


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("acme profit rose 8 percent", "acme profit rises 5 percent", "acme profit rises 8 percent"),
        ("acme profit rose 5 million 8 percent", "acme profit rises 9 percent", "acme profit rises 8 percent"),
        ("acme profit rose 8 percent", "acme profit rises 5 million", None),
        ("acme profit rose 8 percent", "acme profit 8 percent 5 percent", None),  # one number, two places
    ],
)
def test_a_number_gives_way_to_one_before_the_same_word(
    adapter: Adapter, text: str, summary: str, expected: str | None
) -> None:
    assert fit(adapter, text, summary) == expected


@pytest.mark.parametrize(
    ("text", "summary", "fits"),
    [
        (TEXTS[0], "acme quarterly profit rises", True),  # "rises" is near "rose"
        (TEXTS[0], "acme quarterly profit buys", False),  # nothing is bought
        (TEXTS[0], "acme profit rises sales", False),  # the text has one of three
        (TEXTS[0], "acme in oslo said", False),  # nothing but names and usual words
        (TEXTS[0], "acme profit rose", False),  # too short
        ("acme in oslo", "acme quarterly profit rose", False),  # the text has nothing to support it
    ],
)
def test_what_else_a_summary_says_must_be_in_the_text_or_near_it(
    adapter: Adapter, text: str, summary: str, fits: bool
) -> None:
    assert (fit(adapter, text, summary) is not None) == fits


def test_a_summary_that_contradicts_a_direction_is_not_true(adapter: Adapter) -> None:
    text = adapter.read(ids(TEXTS[0]))
    assert adapter.is_true(text, ids("acme profit rises 8 percent").tolist())
    assert not adapter.is_true(text, ids("acme profit falls 8 percent").tolist())


def test_names_that_summaries_hardly_have_are_left_out() -> None:
    names = np.array([False, False, True, True, True])
    texts = Corpus.of([[2, 3], [2, 3], [2, 4], [1]])
    summaries = Corpus.of([[3], [3], [4], [1]])
    # mu_F of 2, 3, 4: 3/4, 1/2, 1/4; mu_S: 0, 1/2, 1/4. All names together: 1/2.
    assert left_out(names, texts, summaries).tolist() == [False, False, True, False, False]


def test_without_names_and_numbers_another_firm_is_as_near() -> None:
    model = make_near(["globex profit rises", "acme profit rises", "hooli 5", "lima"])
    text = Corpus.of([ids("acme profit rises")])
    first, second, numbers, other = nameless(model).score(text, np.array([[0, 1, 2, 3]]))[0]
    assert first == pytest.approx(second)
    assert first == pytest.approx(1.0, abs=0.03)  # not 1, for later words of the text weigh less
    assert numbers == other == 0
    assert nameless(model).search(text)[0].tolist()[:2] in ([0, 1], [1, 0])


def test_the_score_of_what_was_changed_and_of_what_was_not(adapter: Adapter) -> None:
    model = make_near(["globex quarterly profit rises 5 percent", "acme quarterly profit rose", "hooli buys lima"])
    texts = Corpus.of([ids(TEXTS[0])])
    fitted = fit_candidates(model, model.match(texts), texts, adapter, 0.01)
    said = {
        int(place): (summary.tolist(), score)
        for place, summary, score in zip(fitted.places, fitted.summaries, fitted.scores, strict=True)
    }
    assert set(said) == {0, 1}
    assert said[1] == (
        ids("acme quarterly profit rose").tolist(),
        pytest.approx(model.score(texts, np.array([[1]]))[0, 0]),
    )
    changed = ids("acme quarterly profit rises 8 percent")
    by_hand = [
        Near(Corpus.of([changed]), words, model.settings).score(texts, np.array([[0]]))[0, 0]
        for words in (model.words, nameless(model).words)
    ]
    assert said[0] == (changed.tolist(), pytest.approx(ADAPTED * math.sqrt(by_hand[0] * by_hand[1])))
    assert not len(fit_candidates(model, model.match(texts), texts, adapter, 1.0).texts)


def test_of_no_texts_nothing_fits(adapter: Adapter) -> None:
    model, none = make_near(), Corpus.of([])
    assert not len(fit_candidates(model, model.match(none), none, adapter, 0.01).texts)


def test_the_best_are_one_for_each_text_and_no_leads() -> None:
    texts = Corpus.of([[3, 4, 5, 6], [3, 4, 5, 6], [7, 8, 9]])
    summaries = Corpus.of([[5, 4], [3, 4], [6, 5], [9, 7]])
    fitted = Fitted(
        np.array([0, 0, 1, 2]), np.array([10, 11, 10, 10]), summaries, np.array([0.8, 0.9, 0.7, 0.6], dtype=np.float32)
    )
    every = fitted.best(texts, recipe.Near(max_uses=2))
    assert every.summaries[0].tolist() == [3, 4]  # the best one of text 0
    assert every.texts.tolist() == [0, 1, 2]
    # Without leads, text 0 has its second best, and the summary at place 10 is used up before text 2.
    best = fitted.best(texts, recipe.Near(max_uses=2, max_lead=0.8))
    assert (best.texts.tolist(), best.places.tolist()) == ([0, 1], [10, 10])
    assert [summary.tolist() for summary in best.summaries] == [[5, 4], [6, 5]]
