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

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.text.inflection import inflect, words_of
from nutgraf.text.tokens import is_number


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


_RISE = inflect("climb jump surge soar gain increase rebound skyrocket") | words_of(
    "up higher rise rises rose risen rising grow grows grew grown growing leap leaps leaped leapt leaping"
)
_FALL = inflect("drop slip decline tumble plunge plummet decrease slump dip") | words_of(
    """down lower fall falls fell fallen falling slide slides slid sliding sink sinks sank sunk sinking shrink shrinks
    shrank shrunk shrinking"""
)
_RAISE = inflect("raise hike")
_CUT = inflect("reduce slash trim") | words_of("cut cuts cutting lowers lowered lowering")

AXES = (
    Axis(
        "rise or fall",
        Side(
            _RISE,
            _RAISE
            | inflect(
                """accelerate add advance boost bounce double exceed expand firm improve lift outperform quadruple rally
                recover spike strengthen swell top triple widen"""
            )
            | words_of(
                """above best better bullish expansion growth high highest highs improvement peak
                positive record records recovery strength strong stronger strongest upside upturn upward upwards"""
            ),
        ),
        Side(
            _FALL,
            _CUT
            | inflect(
                """collapse contract crash decelerate deteriorate dive dwindle ease erode fade halve lag miss narrow
                retreat slow soften underperform weaken worsen"""
            )
            | words_of(
                """bearish below contraction downside downturn downward downwards lose loses losing loss
                losses lost low lowest lows negative off recession reduction shed sheds shedding slowdown soft softer
                trough weak weaker weakest weakness worse worst"""
            ),
        ),
    ),
    Axis(
        "raise or cut",
        Side(_RAISE, _RISE | inflect("add boost expand lift") | words_of("upward upwards")),
        Side(_CUT, _FALL | inflect("eliminate scrap") | words_of("downward downwards reduction reductions")),
        about=words_of(
            """budget dividend dividends estimate estimates fee fees forecast forecasts guidance outlook output pay
            price prices production rate rates spending target targets tariff tariffs tax taxes wage wages"""
        ),
    ),
    Axis(
        "beat or miss",
        Side(
            inflect("top exceed surpass") | words_of("beat beats beaten beating"),
            words_of("above ahead better higher more over stronger up") | inflect("outpace outstrip"),
        ),
        Side(
            inflect("miss trail") | words_of("undershoot undershoots undershot undershooting"),
            words_of("behind below down less lower short shy under weaker worse") | inflect("disappoint lag"),
        ),
        about=words_of("consensus estimate estimates expectation expectations forecast forecasts"),
    ),
    Axis(
        "profit or loss",
        Side(
            words_of("profit profits profitable profitability"),
            inflect("earn gain") | words_of("earnings income surplus"),
        ),
        Side(
            words_of("loss losses loss-making unprofitable"),
            words_of("deficit lose loses losing lost negative red write-down write-downs writedown writedowns"),
        ),
    ),
    Axis(
        "upgrade or downgrade",
        Side(inflect("upgrade"), _RAISE | inflect("lift")),
        Side(inflect("downgrade"), _CUT | words_of("lower")),
    ),
    Axis(
        "accept or reject",
        Side(
            inflect("accept approve endorse ratify"),
            inflect("adopt agree allow back clear pass support vote") | words_of("acceptance agreement approval"),
        ),
        Side(
            inflect("reject veto rebuff spurn"),
            inflect("block decline dismiss oppose refuse vote")
            | words_of("against denied denies deny denying down opposition rejection refusal"),
        ),
    ),
    Axis(
        "convict or acquit",
        Side(inflect("convict") | words_of("guilty"), inflect("jail sentence") | words_of("conviction convictions")),
        Side(
            words_of("acquit acquits acquitted acquitting acquittal"),
            inflect("clear exonerate free overturn quash") | words_of("innocent innocence"),
        ),
    ),
)

_NEGATIONS = inflect("avoid avert cap curb erase fail halt limit pare prevent reverse stop trim") | words_of(
    "not n't no never neither nor none nobody without cannot hardly unlikely instead rather"
)
_REACH = 2  # words before a direction word where a negation still means it
# Verbs after which "up" and "down" are part of the verb.
_PHRASAL = inflect(
    """back bow burn call calm clean clear cover crack end fill follow gun hand heat hunt join knock line link look mix
    nail open pick pin play pull round settle show sign step sum team touch track turn use warm wash wrap"""
) | words_of(
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
_COMPOUNDS = words_of("chamber chambers court courts education ground house houses learning")
_DECLINES = inflect("decline")


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
