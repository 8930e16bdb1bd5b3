"""Each rule by example: a text, lines that a model might write, and those that may be right."""

from __future__ import annotations

import pytest

from nutgraf.models.soundness import Soundness
from nutgraf.text.lexicon import SPECIALS, Lexicon
from nutgraf.text.phrases import Phrases

FORMS = """buy buys bought buying close closes closed closing jail jails jailed jailing try tries tried trying
    open opens opened opening worsen worsens worsened worsening suggest suggests suggested suggesting
    rise rises rose risen rising agree agrees agreed agreeing say says said saying to will would"""


def choose(text: str, lines: list[str]) -> list[str]:
    lexicon = Lexicon(SPECIALS).extended([text.split(), FORMS.split(), *(line.split() for line in lines)])
    sound = Soundness(Phrases.of(lexicon.words))
    found = sound.choose(lexicon.encode(text.split()), [lexicon.encode(line.split()) for line in lines])
    return [" ".join(lexicon.words[word] for word in line) for line in found]


@pytest.mark.parametrize(
    ("text", "sound", "others"),
    [
        (
            "acme agreed to buy zenith profit rose to a record",
            ["acme to buy zenith", "acme profit rises to record"],
            ["acme to zenith"],
        ),
        (
            "the chief of 40 firms of zenith at acme closed 3 of 40 mills .",
            ["chief closed 3 of 40 mills"],
            ["chief of at acme", "chief of 40 of zenith"],
        ),
        (
            "the govt suggested curbs on oil that could worsen it .",
            ["govt suggests curbs on oil", "govt curbs on oil"],
            ["govt to worsen curbs on oil", "govt worsened curbs on oil"],
        ),
        (
            "police jailed a man who tried to open a safe .",
            ["police jail man", "police jailed man to open safe", "man tried to open safe", "man to open safe"],
            ["police to open safe"],
        ),
        (
            "acme closed a loss of 3 firms .",
            ["acme closed loss of 3 firms", "acme loss rises"],
            ["acme opens loss of 3 firms"],
        ),
        ("acme said it agreed to buy zenith .", ["acme to buy zenith", "acme agrees to buy zenith"], []),
        (
            "acme said it will buy zenith after it closed mills .",
            ["acme to buy zenith"],
            ["acme closed zenith after buying"],
        ),
        ("acme said men who buy oil agree .", ["acme says men who buy oil"], ["acme says who buy oil"]),
        (
            "acme said that its chief will close mills .",
            ["acme says chief to close mills", "chief to close mills", "acme chief closes mills"],
            ["acme to close mills", "acme says to close mills"],
        ),
    ],
)
def test_lines_that_cannot_be_right_go(text: str, sound: list[str], others: list[str]) -> None:
    assert choose(text, [*others, *sound]) == sound


def test_where_none_is_sound_the_better_ones_stay() -> None:
    text = "police jailed a man who tried to open a safe ."
    assert choose(text, ["police to man", "police to open safe"]) == ["police to open safe"]
    assert choose(text, ["police to man"]) == ["police to man"]
    assert choose(text, []) == []


@pytest.mark.parametrize(
    ("text", "whole", "others"),
    [
        ("acme closed a plant in rome .", ["acme closes plant"], ["acme closes in rome"]),
        ("acme tried to close in rome .", ["acme tries to close in rome"], []),
        ("acme opened its mill after it closed a plant .", ["acme opens mill"], []),
        ("acme suggested that zenith will buy oil .", ["acme suggests that zenith to buy oil"], ["acme suggests oil"]),
        ("acme said that zenith closed oslo .", ["acme says zenith closes oslo"], []),
    ],
)
def test_verbs_of_whole_lines_have_their_objects(text: str, whole: list[str], others: list[str]) -> None:
    lexicon = Lexicon(SPECIALS).extended([text.split(), FORMS.split()])
    lines = [lexicon.encode(line.split()) for line in (*others, *whole)]
    found = Soundness(Phrases.of(lexicon.words)).choose_whole(lexicon.encode(text.split()), lines)
    assert [" ".join(lexicon.decode(line.tolist())) for line in found] == whole


@pytest.mark.parametrize(
    ("text", "line", "breaks"),
    [
        ("acme has named a chief on monday in oslo .", "acme named chief in oslo", 0),  # what is left out is small
        ("acme named jo doe of zenith chief in oslo .", "acme named jo in oslo", 1),  # a name is cut in two
        ("acme named a chief for rome in oslo .", "acme named chief in oslo", 0),  # a phrase ends, another one begins
        ("acme closed a mill near the town of rome .", "acme closed mill of rome", 1),  # "of" is the town's
        ("acme fell after zenith closed a mill .", "acme fell closed mill", 1),  # "closed" has lost its subject
        ("acme named a chief .", "acme opens chief", 2),  # a word that the text lacks, and one that is skipped for it
        ("acme cut jobs as it saw a fall in oslo .", "acme cut jobs in oslo", 1),  # "in" is of another clause
        ("acme wants a law that will open mills .", "acme wants law to open mills", 0),
        ("acme named a chief .", "", 0),
    ],
)
def test_a_line_breaks_where_it_joins_what_is_apart(text: str, line: str, breaks: int) -> None:
    lexicon = Lexicon(SPECIALS).extended([text.split(), line.split(), FORMS.split()])
    phrases = Phrases.of(lexicon.words)
    assert Soundness(phrases).count_breaks(lexicon.encode(text.split()), lexicon.encode(line.split())) == breaks
