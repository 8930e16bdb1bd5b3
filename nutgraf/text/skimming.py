"""What of a text a headline may say: the sentence without brackets, days, sources and asides (not in the paper).

    Acme Corp (ACM), the maker of kettles, said on Monday it would buy Zenith Ltd, according to a filing.
    Acme said it would buy Zenith.

Real headlines say next to nothing of what is left out, in any genre of news, while models keep some of it and stop
where the rest of it begins. So texts are skimmed before anything reads them. In this order, what goes is

- what stands in brackets or between dashes, and the places where it was written: "NEW YORK/LONDON Acme said";
- days: "on Monday", "late Tuesday", "today", "on May 3, 2020", but neither "by Monday" nor "Black Friday";
- sources: "..., police said", "..., according to a filing", "Officials said that ...". Acme of "Acme said it would buy"
  is no source, it acts;
- what comes before the subject: "In a letter to shareholders, ...";
- asides about a name: "..., the maker of kettles, ...", "..., who was 57, ...". What comes behind the name is a verb;
- forms of companies: "Corp", "Ltd". Newswire also ends asides with these, and leaves out the comma.

The rules are those of English, look at words in lower case, and know no vocabulary, so that they do the same to each
part of a corpus and to a text that is to be summarized. A sentence that would keep hardly anything stays as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from nutgraf.text.inflection import irregular_pasts, words_of

MOST_ASIDE = 20  # words of an aside
MOST_BRACKETS = 15
MOST_OPENING = 25
MOST_SOURCE = 14
LEAST_KEPT = 5  # words that a sentence must keep

_TWO_WORDS = words_of("abu buenos hong kuala los mexico new rio san sao são tel")  # cities begin with: "Hong Kong"
_DAYS = words_of("monday tuesday wednesday thursday friday saturday sunday")
_NOW = words_of("today tonight yesterday")
_MONTHS = words_of(
    """january february march april may june july august september october november december
    jan. feb. mar. apr. jun. jul. aug. sept. oct. nov. dec."""
)
_BEFORE_MONTH = words_of("by early from in last late mid next of on since this until")
_PARTS_OF_DAY = words_of("morning afternoon evening night")
_BEFORE_DAY = words_of("earlier early last late later next this")
_NAMES_A_DAY = words_of("a an ash black bloody cyber easter every good holy palm super the whit")  # "Black Friday"
_NAMED_BY_DAY = words_of("'s holiday prayers")  # "Friday prayers"
_DATES_A_FACT = words_of("after and before between by each for from of or since through till to until")  # "by Monday"
_SAID = words_of("said say says")
_SAY = _SAID | words_of("announced announces report reported reports told")
_SOURCES = words_of(
    """agency analysts authorities department experts lawyers media ministry newspaper office official officials police
    prosecutors report reports researchers scientists source sources spokesman spokesperson spokeswoman statement
    study"""
)
_GOES_ON = words_of("he her his i it its she that their they we will would")  # what was said is not over
_CLAUSES = words_of("after are as had has have is it that was were when which while who")  # it is no name
_NO_SUBJECT = words_of("and but he i it or she that they this we which who you")  # or none without what is before it
_QUANTITIES, _COUNTING = words_of("least many most much"), words_of("among over under")  # "At least 7 people"
_OPENINGS = words_of(
    """according after ahead although amid among as at because before by despite during earlier following for from in
    last meanwhile on over since speaking this though today under unlike when while with within without"""
)
_ASIDES = words_of("a an formerly her his including its one the their which who whose")
_RELATIVE = words_of("that which who whose")
_COMPANIES = words_of("ag co corp inc incorporated llc lp ltd nv plc sa se")
_ARTICLES = words_of("a an the")
_OBJECTS = _ARTICLES | words_of("he her his it its that their they to")  # a verb stands before these, or a plural
_AFTER_PARTICIPLE = words_of("as at by for from in on under with")  # "owned by"
_AFTER_NOUN = words_of(", 's a an and as at by for from in of on or with")  # "ships" of "cars, trains, ships and"
_NO_VERBS = words_of(
    """angeles arkansas athens brussels dallas emirates hundred illinois kansas massachusetts nations netherlands
    orleans paris philippines states texas united vegas wales"""
)
_STOPS, _QUOTES = words_of(". ? !"), words_of("`` ''")
_NOT_ENDED = words_of("'' , )")  # no sentence ends before these
_HELPERS = words_of("are can could did do does had has have is may might must should was were will would")

Words = Sequence[str]
Span = tuple[int, int]  # places from the first on, up to the second


def skim(words: Words) -> list[int]:
    """Return the places of the words of a text that a headline may say, in order."""
    return [start + place for start, end in _sentences(words) for place in _skim_sentence(words[start:end])]


def _sentences(words: Words) -> Iterator[Span]:
    """Yield where sentences begin and end; each has its full stop, and the quotation mark behind it.

    A stop that stands before a comma or a closing bracket, as in "Sen. Jo Hart (D-Md.)", ends an abbreviation.
    """
    start = 0
    for place, word in enumerate(words, 1):
        if word in _STOPS and _at(words, place) not in _NOT_ENDED:
            yield start, place
            start = place
    if start < len(words):
        yield start, len(words)


def _skim_sentence(words: Words) -> list[int]:
    kept = [*range(len(words))]
    for find in _RULES:
        while span := find([words[place] for place in kept]):
            kept = [*kept[: span[0]], *kept[span[1] :]]
    return kept if sum(words[place].isalnum() for place in kept) >= LEAST_KEPT else [*range(len(words))]


def _brackets(words: Words) -> Span | None:
    """Find the first brackets or dashes, with what is between them."""
    for opening, closing in (("(", ")"), ("[", "]"), ("--", "--"), ("—", "—"), ("–", "–")):
        for start in (place for place, word in enumerate(words) if word == opening):
            end = _find(words, closing, start + 1, start + 2 + MOST_BRACKETS)
            if end > 0 and _is_balanced(words[start:end]):
                return start, end + 1
    return None


def _dateline(words: Words) -> Span | None:
    """Find two cities at the beginning; one alone cannot be told from the subject."""
    slash = _find(words, "/", 1, 3)
    return (0, slash + 2 + (_at(words, slash + 1) in _TWO_WORDS)) if slash > 0 else None


def _days(words: Words) -> Span | None:
    """Find the first day that only says when the news was made."""
    for place, word in enumerate(words):
        named = _at(words, place + 1) in _NAMED_BY_DAY or _at(words, place - 1) in _NAMES_A_DAY
        if (word not in _DAYS and word not in _NOW) or named:
            continue
        start = place
        while _at(words, start - 1) in _BEFORE_DAY:
            start -= 1
        if _at(words, start - 1) not in _DATES_A_FACT:
            on = _at(words, start - 1) == "on"
            late = on and _at(words, start - 2) in ("early", "late")
            return start - on - late, place + 1 + (_at(words, place + 1) in _PARTS_OF_DAY)
    return None


def _dates(words: Words) -> Span | None:
    """Find the first "on May 3", with its year."""
    for place in range(len(words) - 2):
        if words[place] == "on" and words[place + 1] in _MONTHS and words[place + 2].isdigit():
            year = _at(words, place + 4) if _at(words, place + 3) == "," else ""
            return place, place + (5 if year.isdigit() and len(year) == 4 else 3)
    return None


def _last_source(words: Words) -> Span | None:
    """Find who said it, behind it or in the middle: "..., police said", "..., announced the mayor"."""
    end = _end(words)
    commas = [place for place in range(LEAST_KEPT, end) if words[place] == ","]
    for comma, next_comma in itertools.pairwise([*commas, end]):
        clause = words[comma + 1 : next_comma]
        says = next((place for place, word in enumerate(clause) if word in _SAY), MOST_SOURCE)
        longest = MOST_SOURCE if next_comma == end else 3
        is_short = 0 < says < MOST_SOURCE and len(clause) - says <= longest
        is_source = is_short and _CLAUSES.isdisjoint(clause[:says]) and _GOES_ON.isdisjoint(clause[says + 1 :])
        if is_source or clause[:2] == ["according", "to"]:
            return _with_name(words, comma), next_comma
        if says == 0 and "that" not in clause and _has_verb(words, comma):
            return comma, end
    return None


def _with_name(words: Words, comma: int) -> int:
    """Return where a source begins whose name stands before the comma: "..., Ann Lee, head of Acme, said"."""
    before = max((place for place in range(comma) if words[place] == ","), default=0)
    is_name = before >= LEAST_KEPT and comma - before <= 4 and words[before + 1] not in _ARTICLES
    return before if is_name and not _has_verb(words, comma, before + 1) else comma


def _according(words: Words) -> Span | None:
    """Find "according to ..." that no comma separates."""
    for place in range(LEAST_KEPT, len(words) - 1):
        if words[place] == "according" and words[place + 1] == "to":
            comma = _find(words, ",", place, len(words))
            return place, comma if comma > 0 else _end(words)
    return None


def _first_source(words: Words) -> Span | None:
    """Find "Officials said that" before what they said."""
    says = next((place for place, word in enumerate(words[:10]) if word in _SAY or word == ","), 0)
    if not says or words[says] == "," or words[says - 1] not in _SOURCES:
        return None
    that = _at(words, says + 1) == "that"
    end = says + 1 + that
    goes_on = _at(words, end) in _GOES_ON or _at(words, end) in _AFTER_PARTICIPLE
    is_clause = (that or words[says] in _SAID) and not goes_on
    return (0, end) if is_clause and len(words) - end > LEAST_KEPT else None


def _opening(words: Words) -> Span | None:
    """Find what comes before the subject, up to the comma behind which a clause begins."""
    if not _opens(words):
        return None
    for comma in (place for place, word in enumerate(words[:MOST_OPENING]) if word == ","):
        rest = words[comma + 1 :]
        if len(rest) <= LEAST_KEPT or rest[0] in _NO_SUBJECT or _is_strong(rest, 0):
            return None
        clause = rest[: _find(rest, ",", 0, len(rest))] if "," in rest else rest
        if any(_is_finite(clause, place) for place in range(1, len(clause))) and _is_balanced(words[:comma]):
            return 0, comma + 1
    return None


def _opens(words: Words) -> bool:
    """Whether a sentence begins with something else than its subject: not "At least 7 people ..."."""
    first, second = _at(words, 0), _at(words, 1)
    if first in _OPENINGS:
        return second not in _QUANTITIES and not (first in _COUNTING and second[:1].isdigit())
    comma = _find(words, ",", 3, MOST_OPENING)  # behind fewer words, "Boeing" is a name
    return first.endswith(("ing", "ed")) and comma > 0 and not _has_verb(words, comma)


def _aside(words: Words) -> Span | None:
    """Find the first aside about a name: from the comma, or the form of a company, up to the verb or the end."""
    if _opens(words):
        return None
    breaks = [place for place, word in enumerate(words) if (word == "," or word in _COMPANIES) and place]
    for start in breaks:
        first = _at(words, start + 1)
        is_age = first.isdigit() and _at(words, start + 2) == ","
        end = _end_of_aside(words, start, breaks) if first in _ASIDES or is_age else _closed_aside(words, start)
        if end > 0 and _is_balanced(words[start:end]):
            return start, end
    return None


def _closed_aside(words: Words, start: int) -> int:
    """Return where an aside in any words ends: at the comma between it and the sentence's first verb; 0: it is none."""
    end = _find(words, ",", start + 1, start + 2 + MOST_ASIDE)
    says = _at(words, start + 1) in _SAY
    if words[start] != "," or end < 0 or says or _has_verb(words, start) or _has_verb(words, end, start + 2):
        return 0
    verb = end + 1 + _at(words, end + 1).endswith("ly")
    follower = _at(words, verb + 1)
    goes_on = follower not in _AFTER_NOUN and follower not in _STOPS
    return end + 1 if _is_strong(words, verb) or (_is_in_s(_at(words, verb)) and goes_on) else 0


def _end_of_aside(words: Words, start: int, breaks: Sequence[int]) -> int:
    """Return where an aside ends that begins behind a break, or 0 if it is none."""
    if not _has_verb(words, start):
        return _before_verb(words, start, breaks)
    if words[start + 1] in _RELATIVE and start >= LEAST_KEPT:  # "..., which it bought in April"
        end = next((place for place in breaks if place > start and words[place] == ","), _end(words))
        return end if _end(words) - end > LEAST_KEPT else _end(words)
    return 0


def _before_verb(words: Words, start: int, breaks: Sequence[int]) -> int:
    """Return where the verb of the sentence is, behind an aside about its subject; 0: none is near."""
    no_comma = True  # so far: "the maker of kettles said", "which makes a kettle said"
    opened = words[start + 1] in _RELATIVE
    for place in range(start + 2, min(start + 2 + MOST_ASIDE, len(words) - 1)):
        adverb = place + 1 + _at(words, place + 1).endswith("ly")
        if place in breaks and _is_finite(words, adverb):
            return place + 1
        helped = opened and (words[place - 1] in _HELPERS or words[place - 1] == "been")  # "who had been named"
        own = helped or words[place - 1] in _RELATIVE or words[place - 2] in ("whose", "most")  # "most closely watched"
        if no_comma and _is_strong(words, place) and not own:
            return place
        no_comma = no_comma and words[place] != ","
    return 0


def _company(words: Words) -> Span | None:
    """Find the first form of a company: "Corp" behind its name, with "&" or "and" before it."""
    for place, word in enumerate(words):
        if word in _COMPANIES and place and words[place - 1] not in _ARTICLES:
            return place - (words[place - 1] in ("&", "and")), place + 1
    return None


def _spare_comma(words: Words) -> Span | None:
    """Find a comma that what went has left behind: at the beginning, before the end, or beside another mark."""
    for place, word in enumerate(words):
        follower = _at(words, place + 1)
        if word == "," and (_at(words, place - 1) in ("", ",", "'s") or follower == "" or follower in _STOPS):
            return place, place + 1
    return None


_RULES: tuple[Callable[[Words], Span | None], ...] = (
    _brackets,
    _dateline,
    _days,
    _dates,
    _spare_comma,
    _last_source,
    _according,
    _first_source,
    _opening,
    _aside,
    _company,
    _spare_comma,
)


def _at(words: Words, place: int) -> str:
    """Return the word at a place; nothing, if that is outside."""
    return words[place] if 0 <= place < len(words) else ""


def _find(words: Words, word: str, start: int, end: int) -> int:
    """Return where a word is, from one place up to another; -1: nowhere."""
    return next((place for place in range(start, min(end, len(words))) if words[place] == word), -1)


def _end(words: Words) -> int:
    """Return where the marks begin that end a sentence."""
    end = len(words)
    while end and (words[end - 1] in _STOPS or words[end - 1] in _QUOTES):
        end -= 1
    return end


def _is_balanced(words: Words) -> bool:
    """Whether quotation marks that open in these words close in them."""
    return words.count("``") == words.count("''")


_PASTS = irregular_pasts() | words_of("died fled used")  # the shortest in -ed are others: "need"


def _has_verb(words: Words, end: int, start: int = 1) -> bool:
    """Whether there is a verb with a tense, from one place up to another."""
    return any(_is_strong(words, place) for place in range(start, end))


def _is_strong(words: Words, place: int) -> bool:
    """Whether a word is a verb with a tense, and surely no noun or participle."""
    word, following = _at(words, place), _at(words, place + 1)
    if word in _HELPERS or word in _SAY:
        return word != "may" or _at(words, place - 1) not in _BEFORE_MONTH
    past = word in _PASTS or _is_in_ed(word)
    return (past and following not in _AFTER_PARTICIPLE) or (_is_in_s(word) and following in _OBJECTS)


def _is_finite(words: Words, place: int) -> bool:
    """Whether a word may be a verb with a tense."""
    word = _at(words, place)
    known = word in _HELPERS or word in _PASTS or word in _SAY or word == "to"
    return known or _is_in_s(word) or _is_in_ed(word)


def _is_in_ed(word: str) -> bool:
    """Whether a word may be a verb in -ed."""
    return word.endswith("ed") and len(word) > 4 and "-" not in word and word not in _NO_VERBS


def _is_in_s(word: str) -> bool:
    """Whether a word may be a verb in -s."""
    return word.endswith("s") and not word.endswith(("ss", "us", "'s")) and len(word) > 3 and word not in _NO_VERBS
