"""Small words of English, by what they do in a sentence: what joins phrases and what ends them. In ids of a lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from string import ascii_lowercase

from nutgraf.text.inflection import words_of
from nutgraf.text.tokens import is_number

Words = frozenset[int]

_PARTICLES = words_of("about around behind down in near off on out over through up")
_JOINTS = words_of("and or")
_LINKS = (
    _PARTICLES
    | _JOINTS
    | words_of(
        """across after against amid among as at because before between but by despite during following for from if
        including into n't no not of per since than to toward towards under until via when where while with within
        without"""
    )
)
_PRONOUNS = words_of("he i it nobody she that these they this those we which who whom you")
_FUTURE = words_of("will would")
_BE = words_of("am are be been being is was were")
_HAVE = words_of("had has have")
_ARTICLES = words_of("a an her his its our some the their")
_SEVERAL = words_of(
    """both dozens eight five four hundreds many nine people police scores seven several six ten thousands three two"""
)
_COUNTS = words_of("two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty")
_SMALL = _LINKS | _FUTURE | _BE | _HAVE | _ARTICLES | words_of("also did do does")
_NOT_NEEDED = words_of(
    """ag co corp corporation inc incorporated llc ltd mr mrs ms nv plc sa se spa
    monday tuesday wednesday thursday friday saturday sunday"""
)
_TITLES = words_of(
    """ambassador chairman chairwoman chancellor congressman congresswoman gov. governor mayor minister premier
    president rep rep. representative reps. secretary sen. senator senators sens."""
)
_WANT_MORE = words_of("according almost compared due how just nearly only related said say says such whether why")
_LISTS = {
    "particles": _PARTICLES,
    "joints": _JOINTS,
    "links": _LINKS,
    "negations": words_of("n't not"),
    "clitic": words_of("n't"),
    "expletives": words_of("it there"),
    "pronouns": _PRONOUNS,
    "relative": words_of("that which who"),
    "genitive": words_of("of"),
    "lacking": words_of("no without"),
    "results": words_of("down to up"),
    "owner": words_of("of 's"),
    "mark_of_owner": words_of("'s"),
    "by": words_of("by"),
    "goes_on": words_of("than &"),
    "describing": words_of("aimed based called focused linked tied worth"),
    "that": words_of("that"),
    "whose": words_of("whose"),
    "future": _FUTURE,
    "be": _BE,
    "have": _HAVE,
    "be_or_have": _BE | _HAVE,
    "helping": _FUTURE | _BE | _HAVE,
    "articles": _ARTICLES,
    "the": words_of("a an the"),
    "several": _SEVERAL,
    "amounts": words_of("about almost least most nearly than"),
    "small": _SMALL,
    "marks": words_of(""", . ; : - -- ( ) [ ] " `` '' ` ? ! & $"""),
    "comma": words_of(","),
    "stops": words_of(". ;"),
    "opening_quotes": words_of("``"),
    "closing_quotes": words_of("''"),
    "brackets": words_of("( ) [ ]"),
    "not_needed": _NOT_NEEDED,
    "reports": words_of("announced announces confirmed confirms revealed reveals said says"),
    "persons": words_of("he it she they we"),
    "spans": words_of("day days hour hours minutes moments month months week weeks year years"),
    "apart": words_of("after ago ahead before earlier later"),
    "each": words_of("barrel day hour kilometre litre mile minute month ounce person row share tonne unit week year"),
    "titles": _TITLES,
    "clause": words_of("after as because but if says say that when while which who"),
    "also_links": words_of("after as before since until"),
    "subordinating": words_of("after as because before but says since that until when while which who"),
    "want_more": _WANT_MORE,
    "after_phrase": _SMALL | _PRONOUNS | _NOT_NEEDED | _WANT_MORE,
}


@dataclass(frozen=True)
class SmallWords:
    """The lists, as far as a lexicon has their words."""

    particles: Words  # prepositions that may belong to a verb: "breaks out"
    joints: Words  # "and": what comes before and behind is one phrase
    links: Words  # prepositions, conjunctions and negations: sentences fall apart without them
    negations: Words
    clitic: Words  # "n't", which belongs to the word before it
    expletives: Words  # "there" of "there is"
    pronouns: Words
    relative: Words  # pronouns that a clause begins with
    genitive: Words  # "of", which belongs to the noun before it
    lacking: Words  # what is not there comes behind these, and matters: "homes without power", "expects no rain"
    results: Words  # what becomes of a noun begins with these: "sending shares down", "forcing Acme to close"
    owner: Words  # what belongs to the word before it, or whom that belongs to, comes behind these
    mark_of_owner: Words
    by: Words
    goes_on: Words  # what they bind together is on both sides: "more than 50", "food & drug"
    describing: Words  # what comes behind a noun and says more of it: "fund focused on"
    that: Words  # a clause begins behind "said that"
    whose: Words
    future: Words  # "will", in a headline "to"
    be: Words
    have: Words
    be_or_have: Words
    helping: Words  # "will", "is", "has"
    articles: Words  # also "its"
    the: Words
    amounts: Words  # "least" of "at least seven"
    several: Words  # a subject that begins with one of these is more than one
    small: Words  # links, articles and helping verbs
    marks: Words
    comma: Words
    stops: Words
    opening_quotes: Words
    closing_quotes: Words
    brackets: Words
    not_needed: Words  # "Inc", "Monday": headlines do without
    reports: Words  # "announced" of "Acme announced that it will buy"
    persons: Words  # pronouns that may stand for a subject: "it" of "Acme said it"
    spans: Words  # of time, which go on with the next ones: "a day after"
    apart: Words
    each: Words  # "hour" of "140 km an hour"
    titles: Words  # "senator", behind which a headline has no first name
    clause: Words  # "after": a new subject comes behind these
    also_links: Words  # "after": behind these a clause begins, or a noun alone
    subordinating: Words  # "because": a clause begins behind these; not "if", without which a line is false
    want_more: Words  # "due": no line ends in these
    after_phrase: Words  # a phrase is over before these
    numbers: Words
    counts: Words  # numbers, also in words: a unit comes behind them
    initials: Words  # "j."

    @classmethod
    def of(cls, words: Sequence[str]) -> SmallWords:
        """Look the lists up in a lexicon of words."""
        ids = {word: place for place, word in enumerate(words)}
        found = {name: frozenset(ids[word] for word in listed if word in ids) for name, listed in _LISTS.items()}
        found["numbers"] = frozenset(place for place, word in enumerate(words) if is_number(word))
        found["counts"] = found["numbers"] | frozenset(ids[word] for word in _COUNTS if word in ids)
        found["initials"] = frozenset(ids[f"{letter}."] for letter in ascii_lowercase if f"{letter}." in ids)
        return cls(*(found[field.name] for field in fields(cls)))
