"""A committee of tiny models chooses what the agreement puts first among the proposals of all teachers."""

from __future__ import annotations

import numpy as np
import pytest

from nutgraf import recipe
from nutgraf.backtranslation.committee import Committee
from nutgraf.learning.beam import Beam
from nutgraf.learning.search import beam
from nutgraf.models.agreement import Agreement
from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.mending import Mender
from nutgraf.models.scoring import Estimate
from nutgraf.models.wording import Wording
from nutgraf.text.corpus import Corpus
from nutgraf.text.grammar import Grammar
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.trigrams import Trigrams
from tests.toys import LEXICON, toy_model

WORDS = Lexicon([*SPECIALS, *(f"w{i}" for i in range(LEXICON - len(SPECIALS)))])
SUMMARIES = Corpus.of(np.array(words, np.int32) for words in ([3, 4, 5], [4, 5, 6], [3, 4, 6, 7], [5, 6]))
SENTENCES = [np.array(words, np.int32) for words in ([3, 4, 5, 6, 7], [8, 3, 4], [5, 5, 6, 9])]


def test_the_first_of_all_proposals_is_chosen() -> None:
    decoding = recipe.Decoding(min_words=2, max_words=4)
    teachers = [toy_model(copy=True, seed=seed) for seed in (0, 1)]
    agreement = Agreement(toy_model(copy=True, seed=9), Trigrams.train(SUMMARIES, WORDS), recipe.Agreement())
    committee = Committee(teachers, agreement, recipe.Teaching(beam=3), decoding, 0, "key")
    found = [beam(ConvDecoder(one), SENTENCES, Beam.of(decoding, 3, unk=False)) for one in teachers]
    proposed = [[hypothesis.words for hypothesis in [*a, *b]] for a, b in zip(*found, strict=True)]
    best = [ranked[0].words.tolist() for ranked in agreement.rank(SENTENCES, proposed, Estimate())]
    chosen = [words.tolist() for words in committee(SENTENCES, 0)]
    assert chosen == best
    of_first = [words in [h.words.tolist() for h in own] for own, words in zip(found[0], chosen, strict=True)]
    assert len(set(of_first)) == 2  # both teachers were chosen from
    assert committee([], 0) == []


def test_proposals_are_put_into_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutgraf.models.wording.CHANGED", -10.0)
    decoding, fluency = recipe.Decoding(min_words=2, max_words=4), Trigrams.train(SUMMARIES, WORDS)
    wording = Wording(fluency, Grammar({word: [4] for word in range(7, LEXICON)}))
    teacher = toy_model(copy=True, seed=0)
    agreement = Agreement(toy_model(copy=True, seed=9), fluency, recipe.Agreement(), wording)
    committee = Committee([teacher], agreement, recipe.Teaching(beam=3), decoding, 0, "key")
    found = beam(ConvDecoder(teacher), SENTENCES, Beam.of(decoding, 3, unk=False))
    proposed = [[hypothesis.words for hypothesis in own] for own in found]
    reworded = [wording(group) for group in proposed]
    assert [[one.tolist() for one in group] for group in reworded] != [[one.tolist() for one in g] for g in proposed]
    best = [ranked[0].words.tolist() for ranked in agreement.rank(SENTENCES, reworded, Estimate())]
    assert [words.tolist() for words in committee(SENTENCES, 0)] == best


def test_proposals_are_made_whole_within_the_word_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mender, "__call__", lambda _, text, summary, least, most: np.append(summary, text[-1:])[:most])
    fluency, teacher, expander = Trigrams.train(SUMMARIES, WORDS), *(toy_model(copy=True, seed=seed) for seed in (0, 9))
    for most in (2, 3):
        decoding = recipe.Decoding(min_words=2, max_words=most)
        agreement = Agreement(expander, fluency, recipe.Agreement(), mender=Mender.of(WORDS.words))
        found = beam(ConvDecoder(teacher), SENTENCES, Beam.of(decoding, 3, unk=False))
        longer = [
            [np.append(one.words, text[-1:])[:most] for one in own] for text, own in zip(SENTENCES, found, strict=True)
        ]
        best = [ranked[0].words.tolist() for ranked in agreement.rank(SENTENCES, longer, Estimate())]
        committee = Committee([teacher], agreement, recipe.Teaching(beam=3), decoding, 0, "key")
        assert [words.tolist() for words in committee(SENTENCES, 0)] == best
    assert {len(words) for words in best} == {3}
