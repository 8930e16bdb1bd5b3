"""Words that say in which direction something goes, and summaries that say the opposite of their text.

An axis has two sides, such as rise and fall. A summary contradicts its text where it says a word of one side, and the
text says words of the other side alone. Words that only hint at a side ("weaker", "record"), or often mean something
else ("rally", "retreat"), never contradict; in a text they are enough to allow the side. A negated word ("not rise",
"pares gains") says nothing.

Only axes where this is reliable are here. Where two parties do opposite things at once, words alone do not tell who did
what: buying and selling, winning and losing, admitting and denying, hiring and firing are not here. Nor are opening and
closing, which markets do every day.

The lists are general English. Nothing in them is there for the sake of a pair of a corpus.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.text.tokens import is_number


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


def _inflect(line: str) -> frozenset[str]:
    """Return all forms of regular verbs."""
    return frozenset(form for verb in line.split() for form in _forms(verb))


def _forms(verb: str) -> tuple[str, str, str, str]:
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", (verb if verb.endswith("ee") else verb[:-1]) + "ing"
    if re.search("[^aeiou]y$", verb):
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    # A short verb doubles its last letter: drop, dropped.
    stem = verb + verb[-1] if re.fullmatch("[^aeiou]*[aeiou][^aeiouwxy]", verb) else verb
    return verb, verb + ("es" if re.search("(s|sh|ch|x|o)$", verb) else "s"), stem + "ed", stem + "ing"


@dataclass(frozen=True)
class Side:
    """One side of an axis: the words that say it, and words that hint at it."""

    says: frozenset[str]
    hints: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Axis:
    """Two sides that exclude each other, in texts that have one of the words `about`, or in any if there are none."""

    name: str
    one: Side
    other: Side
    about: frozenset[str] = frozenset()


_RISE = _inflect("climb jump surge soar gain increase rebound skyrocket") | _words(
    "up higher rise rises rose risen rising grow grows grew grown growing leap leaps leaped leapt leaping"
)
_FALL = _inflect("drop slip decline tumble plunge plummet decrease slump dip") | _words(
    """down lower fall falls fell fallen falling slide slides slid sliding sink sinks sank sunk sinking shrink shrinks
    shrank shrunk shrinking"""
)
_RAISE = _inflect("raise hike")
_CUT = _inflect("reduce slash trim") | _words("cut cuts cutting lowers lowered lowering")

AXES = (
    Axis(
        "rise or fall",
        Side(
            _RISE,
            _RAISE
            | _inflect(
                """accelerate add advance boost bounce double exceed expand firm improve lift outperform quadruple rally
                recover spike strengthen swell top triple widen"""
            )
            | _words(
                """above best better bullish expansion growth high highest highs improvement peak
                positive record records recovery strength strong stronger strongest upside upturn upward upwards"""
            ),
        ),
        Side(
            _FALL,
            _CUT
            | _inflect(
                """collapse contract crash decelerate deteriorate dive dwindle ease erode fade halve lag miss narrow
                retreat slow soften underperform weaken worsen"""
            )
            | _words(
                """bearish below contraction downside downturn downward downwards lose loses losing loss
                losses lost low lowest lows negative off recession reduction shed sheds shedding slowdown soft softer
                trough weak weaker weakest weakness worse worst"""
            ),
        ),
    ),
    Axis(
        "raise or cut",
        Side(_RAISE, _RISE | _inflect("add boost expand lift") | _words("upward upwards")),
        Side(_CUT, _FALL | _inflect("eliminate scrap") | _words("downward downwards reduction reductions")),
        about=_words(
            """budget dividend dividends estimate estimates fee fees forecast forecasts guidance outlook output pay
            price prices production rate rates spending target targets tariff tariffs tax taxes wage wages"""
        ),
    ),
    Axis(
        "beat or miss",
        Side(
            _inflect("top exceed surpass") | _words("beat beats beaten beating"),
            _words("above ahead better higher more over stronger up") | _inflect("outpace outstrip"),
        ),
        Side(
            _inflect("miss trail") | _words("undershoot undershoots undershot undershooting"),
            _words("behind below down less lower short shy under weaker worse") | _inflect("disappoint lag"),
        ),
        about=_words("consensus estimate estimates expectation expectations forecast forecasts"),
    ),
    Axis(
        "profit or loss",
        Side(
            _words("profit profits profitable profitability"),
            _inflect("earn gain") | _words("earnings income surplus"),
        ),
        Side(
            _words("loss losses loss-making unprofitable"),
            _words("deficit lose loses losing lost negative red write-down write-downs writedown writedowns"),
        ),
    ),
    Axis(
        "upgrade or downgrade",
        Side(_inflect("upgrade"), _RAISE | _inflect("lift")),
        Side(_inflect("downgrade"), _CUT | _words("lower")),
    ),
    Axis(
        "accept or reject",
        Side(
            _inflect("accept approve endorse ratify"),
            _inflect("adopt agree allow back clear pass support vote") | _words("acceptance agreement approval"),
        ),
        Side(
            _inflect("reject veto rebuff spurn"),
            _inflect("block decline dismiss oppose refuse vote")
            | _words("against denied denies deny denying down opposition rejection refusal"),
        ),
    ),
    Axis(
        "convict or acquit",
        Side(_inflect("convict") | _words("guilty"), _inflect("jail sentence") | _words("conviction convictions")),
        Side(
            _words("acquit acquits acquitted acquitting acquittal"),
            _inflect("clear exonerate free overturn quash") | _words("innocent innocence"),
        ),
    ),
)

_NEGATIONS = _inflect("avoid avert cap curb erase fail halt limit pare prevent reverse stop trim") | _words(
    "not n't no never neither nor none nobody without cannot hardly unlikely instead rather"
)
_REACH = 2  # words before a direction word where a negation still means it
# Verbs after which "up" and "down" are part of the verb.
_PHRASAL = _inflect(
    """back bow burn call calm clean clear cover crack end fill follow gun hand heat hunt join knock line link look mix
    nail open pick pin play pull round settle show sign step sum team touch track turn use warm wash wrap"""
) | _words(
    """blow blows blew blown blowing break breaks broke broken breaking build builds built building catch catches
    caught catching come comes coming came cut cuts cutting eat eats ate eaten eating get gets got getting give gives
    gave given giving hang hangs hung hanging hold holds held holding keep keeps kept keeping lay lays laid laying lie
    lies lain lying let lets letting make makes made making put puts putting run runs ran running set sets setting
    shake shakes shook shaken shaking shoot shoots shot shooting shown shut shuts shutting sit sits sat sitting speak
    speaks spoke spoken speaking split splits splitting stand stands stood standing strike strikes struck striking take
    takes took taken taking tear tears tore torn tearing throw throws threw thrown throwing tie ties tied tying wake
    wakes woke woken waking wind winds wound winding write writes wrote written writing"""
)
# "The lower house" and "higher education" say nothing of an amount.
_COMPOUNDS = _words("chamber chambers court courts education ground house houses learning")
_DECLINES = _inflect("decline")


def find_directions(words: Sequence[str]) -> list[bool]:
    """Return which words of a sentence, in lower case, say a direction; a negated one does not."""
    return [word in _WORDS and not _is_idle(words, place) for place, word in enumerate(words)]


def forbidden_words(text: Sequence[str]) -> frozenset[str]:
    """Return the words that would contradict a text: of each axis the side that it lacks, if it says the other."""
    said = {word for word, says in zip(text, find_directions(text), strict=True) if says}
    present = frozenset(text).union(*(word.split("-") for word in text if "-" in word))  # higher-than-expected
    found: set[str] = set()
    for axis in AXES:
        for side, opposite in ((axis.one, axis.other), (axis.other, axis.one)):
            # A word of this side allows it, whether it is negated or not: better to miss than to accuse.
            allowed = present & (side.says | side.hints) or (axis.about and not axis.about & present)
            if said & opposite.says and not allowed:
                found |= side.says
    return frozenset(found)


def find_contradictions(summary: Sequence[str], text: Sequence[str]) -> list[bool]:
    """Return which words of a summary contradict its text; both are in lower case.

    A summary that says both sides of an axis, such as "profit falls as claims rise", speaks of more than one thing: it
    may say more than the first words of its text, and is not accused.
    """
    says = find_directions(summary)
    said = {word for word, one in zip(summary, says, strict=True) if one}
    forbidden = forbidden_words(text)
    for axis in AXES:
        if said & axis.one.says and said & axis.other.says:
            forbidden -= axis.one.says | axis.other.says
    return [one and word in forbidden for word, one in zip(summary, says, strict=True)]


_WORDS = frozenset[str]().union(*(side.says for axis in AXES for side in (axis.one, axis.other)))


def _is_idle(words: Sequence[str], place: int) -> bool:
    """Whether a direction word says no direction where it stands: negated, or part of another expression."""
    word, after = words[place], words[place + 1 : place + 3]
    if _NEGATIONS.intersection(words[max(0, place - _REACH) : place]):
        return True
    if word in ("up", "down"):
        return words[max(0, place - 1)] in _PHRASAL or (word == "up" and after[:1] == ["to"])
    if word in ("higher", "lower"):
        return bool(_COMPOUNDS.intersection(after[:1]))
    # "declined to comment" is no fall; "declined to 5.2" is.
    return word in _DECLINES and after[:1] == ["to"] and not is_number("".join(after[1:]))
