"""Words that say in which direction something goes, and summaries that say the opposite of their text.

An axis has two sides, such as rise and fall. A summary contradicts its text where it says a word of one side, and the
text says words of the other side alone. Words that only hint at a side ("weaker", "record") never contradict; in a text
they are enough to allow the side. A negated word ("not rise", "pares gains") says nothing.

Only axes where this is reliable are here. Buying and selling, winning and losing are not: who buys from one that sells
contradicts nobody, and words alone do not tell who did it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.text.tokens import is_digit


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


@dataclass(frozen=True)
class Side:
    """One side of an axis: the words that say it, and words that hint at it."""

    says: frozenset[str]
    hints: frozenset[str] = frozenset()

    @classmethod
    def of(cls, says: str, hints: str = "") -> Side:
        """Make a side of words between blanks."""
        return cls(_words(says), _words(hints))


@dataclass(frozen=True)
class Axis:
    """Two sides that exclude each other, in texts that have one of the words `about`, or in any if there are none."""

    name: str
    one: Side
    other: Side
    about: frozenset[str] = frozenset()


_RAISE = "raise raises raised raising hike hikes hiked hiking lift lifts lifted lifting"
_CUT = """cut cuts cutting lowers lowered lowering reduce reduces reduced reducing slash slashes slashed slashing trim
    trims trimmed trimming"""

AXES = (
    Axis(
        "rise or fall",
        Side.of(
            """rise rises rose risen rising up higher gain gains gained gaining climb climbs climbed climbing jump
            jumps jumped jumping surge surges surged surging soar soars soared soaring rally rallies rallied rallying
            advance advances advanced advancing increase increases increased increasing grow grows grew grown growing
            rebound rebounds rebounded rebounding leap leaps leapt double doubles doubled triple triples tripled""",
            f"""high highs record records peak strong stronger firm firmer firmed strengthen strengthens strengthened
            improve improves improved improving improvement growth recover recovers recovered recovery recovering
            upward upside expand expands expanded expanding expansion positive better topped exceeded above add adds
            added widen widens widened outperform bullish boost boosts boosted boosting {_RAISE}""",
        ),
        Side.of(
            """fall falls fell fallen falling down lower drop drops dropped dropping slip slips slipped slipping
            decline declines declined declining slide slides slid sliding sink sinks sank sunk sinking tumble tumbles
            tumbled tumbling plunge plunges plunged plunging plummet plummets plummeted plummeting decrease decreases
            decreased decreasing shrink shrinks shrank shrunk shrinking dip dips dipped dipping retreat retreats
            retreated""",
            f"""low lows lost lose loses losing loss losses weak weaker weaken weakens weakened weakness slow slows
            slowed slowing slowdown slump slumps slumped ease eases eased easing soft softer worse worst less fewer
            negative downward downturn contract contracts contracted contraction halve halved narrow narrows narrowed
            below bearish hurt collapse collapses collapsed crash recession miss missed missing off {_CUT}""",
        ),
    ),
    Axis(
        "raise or cut",
        Side.of(
            _RAISE,
            """rise rises rose rising up higher upward add adds added expand expands expanded boost boosts boosted
            boosting increase increases increased increasing outlook""",
        ),
        Side.of(
            _CUT,
            """fall falls fell falling down drop drops lower decrease decreases decreased less fewer downward shrink
            cost costs reduction reductions eliminate eliminated layoffs job jobs selling""",
        ),
    ),
    Axis(
        "beat or miss",
        Side.of(
            "beat beats beating tops topped exceed exceeds exceeded exceeding above",
            "better stronger higher more surpass surpasses surpassed ahead over past outpaced up strong",
        ),
        Side.of(
            "miss misses missed below lag lags lagged lagging undershoot undershoots",
            "short worse weaker lower less disappoint disappoints disappointed disappointing behind under down shy",
        ),
        about=_words(
            "expectation expectations estimate estimates forecast forecasts expected target targets consensus"
        ),
    ),
    Axis(
        "profit or loss",
        Side.of("profit profits profitable", "earnings earned income earns gain gains"),
        Side.of("loss losses", "lost lose loses losing deficit negative red write-down charge job jobs cut cuts"),
    ),
    Axis(
        "upgrade or downgrade",
        Side.of("upgrade upgrades upgraded upgrading", "raise raises raised raising lift lifts lifted"),
        Side.of("downgrade downgrades downgraded downgrading", "cut cuts cutting lower lowers lowered lowering"),
    ),
    Axis(
        "accept or reject",
        Side.of(
            "accept accepts accepted accepting approve approves approved approving endorse endorses endorsed endorsing",
            "agree agrees agreed agreement approval acceptance back backs backed support supports supported vote voted",
        ),
        Side.of(
            "reject rejects rejected rejecting veto vetoes vetoed vetoing rebuff rebuffs rebuffed",
            "refuse refuses refused rejection deny denies denied block blocks blocked oppose opposes opposed against",
        ),
    ),
    Axis(
        "admit or deny",
        Side.of("admit admits admitted admitting confirm confirms confirmed confirming", "acknowledge acknowledged"),
        Side.of(
            "deny denies denied denying", "denial dismiss dismissed reject rejected refute refuted dispute disputed"
        ),
    ),
    Axis(
        "guilty or innocent",
        Side.of("convict convicts convicted guilty", "conviction sentenced jailed admitted"),
        Side.of("acquit acquits acquitted innocent", "acquittal cleared exonerated overturned freed appeal"),
    ),
    Axis(
        "hire or fire",
        Side.of("hire hires hired hiring", "recruit recruits recruited appoint appoints appointed names named"),
        Side.of("sack sacks sacked fired lay-offs layoffs", "dismiss dismisses dismissed lay laid axe axed cut cuts"),
    ),
    Axis(
        "open or close",
        Side.of("opens opened opening reopen reopens reopened", "open start starts started begin began launch"),
        Side.of("closes closed closing shuts shutting", "close shut closure end ends ended finish finished"),
    ),
)

_NEGATIONS = _words(
    """not n't no never without cannot neither nor nobody despite pare pares pared erase erases erased trim trims
    trimmed halt halts halted stop stops stopped prevent prevents prevented avoid avoids avoided limit limits limited
    curb curbs curbed unlikely fail fails failed"""
)
_REACH = 2  # words before a direction word where a negation still means it
# Verbs after which "up" and "down" are part of the verb.
_PHRASAL = _words(
    """set sets setting sign signs signed wrap wraps wrapped step steps stepped stepping shut shuts shutting break
    breaks broke broken breaking blow blows blew blown give gives gave giving call calls called line lines lined wake
    stand stands stood back backs backed make makes made making take takes took taken pick picks picked put puts
    putting follow follows hold holds held turn turns turned show shows clean cleans crack cracks cracked cracking lay
    gun gunned shoot shoots shot touch bow bows calm team teams teamed build builds built warm hang hangs hung catch
    caught round track tracked hunt knock knocks knocked shake shakes shook strike struck sit sits sat mix patch
    settle sum play plays played split splits hook burn burned tear tore face faces facing"""
)
_NOT_AN_AMOUNT = _words("house court courts education chamber saxony austria manhattan learning ground")
_DECLINES = _words("decline declines declined declining")


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
        return bool(_NOT_AN_AMOUNT.intersection(after[:1]))
    # "declined to comment" is no fall; "declined to 5.2" is.
    return word in _DECLINES and after[:1] == ["to"] and not any(map(is_digit, "".join(after[1:])))
