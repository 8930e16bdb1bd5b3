"""The search is compared with all ways to word a summary, and the figures of a small case are computed by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from nutgraf.demo.newswire import newswire
from nutgraf.models import wording
from nutgraf.models.wording import CHANGED, LEFT_OUT, Wording
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.tokens import Tokenizer
from nutgraf.text.trigrams import Trigrams

HEADLINES = ["acme names new chief", "zenith names chief", "acme to name chief of unit", "zenith to cut costs"]
TEXT_WORDS = ["close", "has", "named", "naming", "will", "the", "of", "on", "costs", "cuts", "cutting"]


def learned(headlines: list[str], more: list[str] = TEXT_WORDS) -> tuple[Wording, Lexicon]:
    lexicon = Lexicon(SPECIALS).extended([*(line.split() for line in headlines * 2), more])
    return taught(lexicon, [line.split() for line in headlines * 2]), lexicon


def taught(lexicon: Lexicon, summaries: list[list[str]], leaves_out: bool = True) -> Wording:
    corpus = Corpus.of([lexicon.encode(words) for words in summaries])
    return Wording.of(Trigrams.train(corpus, lexicon), lexicon.words, leaves_out)


def reworded(line: str) -> str:
    words, lexicon = learned(HEADLINES)
    return " ".join(lexicon.words[word] for word in words([lexicon.encode(line.split())])[0])


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("acme named new chief", "acme names new chief"),
        ("zenith will name chief", "zenith to name chief"),
        ("acme names on new chief", "acme names new chief"),
        ("acme names new chief", "acme names new chief"),
        ("acme chief", "acme chief"),
        ("acme to named new chief", "acme names new chief"),
        ("chief close to named unit", "chief close to name unit"),
        ("zenith to cut costs", "zenith to cut costs"),
        ("acme has named new chief", "acme names new chief"),
        ("costs named chief", "costs names chief"),
    ],
)
def test_verbs_and_small_words_become_those_of_summaries(line: str, wanted: str) -> None:
    assert reworded(line) == wanted


def test_the_order_and_number_of_summaries_stay_and_empty_ones_stay_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "TOGETHER", 2)
    words, lexicon = learned(HEADLINES)
    lines = ["zenith will cut costs", "", "acme named new chief", "acme", "acme names on new chief"]
    found = words([lexicon.encode(line.split()) for line in lines])
    assert [" ".join(lexicon.words[word] for word in line) for line in found] == [
        "zenith to cut costs",
        "",
        "acme names new chief",
        "acme",
        "acme names new chief",
    ]
    assert words([]) == []


def test_small_words_stay_where_they_are_not_to_be_left_out() -> None:
    _, lexicon = learned(HEADLINES)
    words = taught(lexicon, [line.split() for line in HEADLINES * 2], leaves_out=False)
    found = words([lexicon.encode(["acme", "named", "on", "new", "chief"])])[0]
    assert "on" in [lexicon.words[word] for word in found]
    assert len(found) == 5


def test_a_verb_keeps_its_form_after_has() -> None:
    _, lexicon = learned(HEADLINES)
    words = taught(lexicon, [line.split() for line in HEADLINES * 2], leaves_out=False)
    kept, changed = (lexicon.encode(line.split()) for line in ("acme has named new chief", "acme named new chief"))
    assert np.array_equal(words([kept])[0], kept)
    assert not np.array_equal(words([changed])[0], changed)


def test_a_form_that_summaries_hardly_use_is_none() -> None:
    headlines = [*["acme rivals zenith"] * 40, "zenith rival"]
    words, lexicon = learned(headlines, ["rivaled", "rivaling"])
    ids = {word: place for place, word in enumerate(lexicon.words)}
    assert words.grammar.forms[ids["rivaled"]] == [ids["rivals"]]


def test_a_change_must_gain_what_it_costs() -> None:
    words, lexicon = learned(HEADLINES)
    old, new = (lexicon.encode(line.split()) for line in ("acme named new chief", "acme names new chief"))
    gain = math.log(2) * (words.trigrams.bits([old]) - words.trigrams.bits([new]))[0]
    assert gain > CHANGED
    assert np.array_equal(words([old])[0], new)


def agrees(words: Wording, before: int, form: int) -> bool:
    """Whether a form fits the word before it, rule by rule."""
    if form in words.grammar.bare:
        return before in words.grammar.infinitive or before in words.grammar.plural
    return not (form in words.grammar.third and before in words.grammar.infinitive)


def ways(words: Wording, summary: Ids) -> list[tuple[float, tuple[int, ...]]]:
    """Return every wording and its score, the obvious way."""
    choices: list[list[tuple[tuple[int, ...], float]]] = []
    for word in map(int, summary):
        own: list[tuple[tuple[int, ...], float]] = [
            ((word,), 0.0),
            *(((form,), CHANGED) for form in words.grammar.forms.get(word, ())),
        ]
        choices.append([*own, ((), LEFT_OUT)] if word in words.small else own)
    result = []
    for way in itertools.product(*choices):
        said = [(part[0], cost) for part, cost in way if part]
        if any(
            cost == CHANGED and (one in words.grammar.helpers or not agrees(words, one, form))
            for (one, _), (form, cost) in itertools.pairwise([(-1, 0.0), *said])
        ):
            continue
        ids = tuple(word for part, _ in way for word in part)
        bits = words.trigrams.bits([np.array(ids, dtype=np.int32)])[0]
        result.append((-math.log(2) * float(bits) - sum(cost for _, cost in way), ids))
    return result


def test_the_search_finds_the_best_of_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording, "KEPT", 1000)
    pairs = [[Tokenizer().words(line) for line in pair] for pair in newswire(300, seed=5)]
    lexicon = Lexicon(SPECIALS).extended(side for pair in pairs for side in pair)
    words = taught(lexicon, [summary for _, summary in pairs])
    texts = [lexicon.encode(text[:9]) for text, _ in pairs[:20]]
    changed = 0
    for text, found in zip(texts, words(texts), strict=True):
        best = max(score for score, _ in ways(words, text))
        mine = max(score for score, way in ways(words, text) if way == tuple(found.tolist()))
        assert mine == pytest.approx(best, abs=1e-9)
        changed += not np.array_equal(text, found)
    assert changed > 5
