"""Ends are compared with all that a summary may have, and the figures of a small case are computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutgraf.models.ending import CUT, GOES_ON, Ending
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Ids, Lexicon
from nutgraf.text.trigrams import END, Trigrams, classes_of

HEADLINES = ["acme profit falls", "zenith profit falls", "acme falls on wall street", "shares on wall street fall"] * 2
TEXT = "acme said its profit falls after it sells a unit on wall street"


def learned(headlines: list[str]) -> tuple[Trigrams, Lexicon]:
    lexicon = Lexicon(SPECIALS).extended([*(line.split() for line in headlines * 2), TEXT.split()])
    return Trigrams.train(Corpus.of([lexicon.encode(line.split()) for line in headlines * 2]), lexicon), lexicon


def cut(line: str, most: int = 4, least: int = 1, text: str = TEXT) -> str:
    trigrams, lexicon = learned(HEADLINES)
    [kept] = Ending(trigrams, most)(lexicon.encode(text.split()), [lexicon.encode(line.split())], least)
    return " ".join(lexicon.words[word] for word in kept)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("acme profit falls on wall", "acme profit falls"),
        ("acme profit falls on", "acme profit falls"),
        ("zenith profit falls on wall street shares on", "zenith profit falls on wall street"),
        ("acme profit falls", "acme profit falls"),
        ("acme falls on wall street", "acme falls on wall street"),
        ("acme", "acme"),
        ("", ""),
    ],
)
def test_a_summary_ends_where_others_do(line: str, wanted: str) -> None:
    assert cut(line) == wanted


def test_no_more_is_cut_than_asked_for_and_the_least_stays() -> None:
    line = "acme profit falls on wall"
    assert cut(line, most=2) == "acme profit falls"
    assert cut(line, most=1) == "acme profit falls on"
    assert cut(line, most=0) == line
    assert cut(line, least=3) == "acme profit falls"
    assert cut(line, least=4) == "acme profit falls on"
    assert cut(line, least=9) == line


def test_the_worth_of_an_end_by_hand() -> None:
    """After "on wall" training always saw "street": 8 times of 8, one kind; below are bigrams, unigrams, and 1/size."""
    trigrams, lexicon = learned(HEADLINES)
    on, wall, street = lexicon.encode(["on", "wall", "street"]).tolist()
    total = sum(len(line.split()) + 1 for line in HEADLINES * 2)
    kinds = len({word for line in HEADLINES for word in line.split()}) + 1  # the end is one, too

    def backed_off(count: int, ends: int) -> float:
        """The probability after "on wall", of a word that followed it `count` times and is `ends` of all words."""
        one = (ends + kinds / trigrams.size) / (total + kinds)
        two = (count + one) / (8 + 1)
        return (count + two) / (8 + 1)

    end, follower = backed_off(0, 16), backed_off(8, 8)
    ending = Ending(trigrams, 4)
    text = lexicon.encode(TEXT.split())
    [value] = ending._values(text, np.array([[on, wall]], dtype=np.int32))
    assert value == pytest.approx(math.log(end) + GOES_ON * math.log(end / (end + follower)))
    [alone] = ending._values(text[:3], np.array([[on, wall]], dtype=np.int32))  # this text has no "wall"
    assert alone == pytest.approx(math.log(end))
    assert street == text[-1]


def slow(trigrams: Trigrams, text: Ids, summary: Ids, most: int, least: int) -> list[int]:
    """All ends, one by one; the follower is that of the last two words or, if the text lacks those, of the last one."""
    words, tokens = summary.tolist(), text.tolist()
    best: tuple[float, list[int]] = (-math.inf, words)
    for stay in range(len(words), 0, -1):
        if stay < len(words) and (len(words) - stay > most or stay < least):
            continue
        probable = trigrams.next_words(np.array(words[:stay], dtype=np.int32))
        pairs = [place for place in range(1, len(tokens)) if tokens[place - 1 : place + 1] == words[stay - 2 : stay]]
        alone = [place for place, token in enumerate(tokens) if token == words[stay - 1]]
        place = pairs[-1] if stay > 1 and pairs else alone[0] if alone else None
        follows = (
            probable[classes_of(text, trigrams.classes)[place + 1]]
            if place is not None and place + 1 < len(tokens)
            else 0.0
        )
        end = probable[END]
        value = math.log(end) + GOES_ON * math.log(end / (end + follows)) - CUT * (len(words) - stay)
        if value > best[0]:
            best = (value, words[:stay])
    return best[1]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_as_all_ends_tried_one_by_one(seed: int) -> None:
    trigrams, lexicon = learned(HEADLINES)
    random = np.random.default_rng(seed)
    known = np.arange(len(SPECIALS), len(lexicon) + 2, dtype=np.int32)  # two that the lexicon lacks
    text, summaries = random.choice(known, 20), [random.choice(known, size) for size in range(12)]
    for most, least in ((0, 1), (3, 1), (4, 6), (20, 2)):
        found = Ending(trigrams, most)(text, summaries, least)
        for summary, kept in zip(summaries, found, strict=True):
            assert kept.tolist() == slow(trigrams, text, summary, most, least)
