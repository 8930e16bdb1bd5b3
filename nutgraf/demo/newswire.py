"""A generated newswire: pairs of a lead sentence and the headline that compresses it.

A seeded grammar over an invented world (companies, countries, towns and people made of syllables) gives tests and the
offline demo text of the right kind that nobody owns. Headlines drop clauses, use the present tense and abbreviate
("said" -> "says", "percent" -> "pct", "million" -> "mln"), which is what a summarizer has to learn. It replaces the
corpora of Section 4; no figure of the paper depends on it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

LEAD_WORDS = (16, 40)  # shortest, longest
HEADLINE_WORDS = (6, 11)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "March", "April", "June", "July", "September", "October", "December")
QUARTERS = (("first", "Q1"), ("second", "Q2"), ("third", "Q3"), ("fourth", "Q4"))
SUFFIXES = ("Corp", "Inc", "Ltd", "Holdings Plc", "Group", "Industries Inc", "Bank AG", "Partners", "SA", "Co Ltd")
FIRST_NAMES = ("Anna", "Boris", "Carla", "David", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Karim", "Lucia")
KINDS = ("steel maker", "lender", "retailer", "drugmaker", "airline", "carmaker", "chipmaker", "insurer", "brewer")
GOODS = ("steel", "copper", "wheat", "coffee", "oil", "gas", "cotton", "sugar", "rubber", "tin", "cocoa", "timber")
MEASURES = ("profit", "revenue", "operating profit", "sales", "net income")
INDICATORS = (
    ("industrial output", "industrial output"),
    ("consumer prices", "CPI"),
    ("gross domestic product", "GDP"),
    ("retail sales", "retail sales"),
    ("the trade deficit", "trade deficit"),
    ("unemployment", "jobless rate"),
)
MINISTRIES = (
    ("the finance ministry", "finmin"),
    ("the central bank", "cbank"),
    ("the statistics office", "stats office"),
    ("the energy ministry", "energy ministry"),
    ("the foreign ministry", "foreign ministry"),
    ("the government", "govt"),
)
OFFICES = (
    ("Prime Minister", "PM"),
    ("President", "President"),
    ("Finance Minister", "FinMin"),
    ("Foreign Minister", "FM"),
    ("central bank governor", "cbanker"),
)
POSTS = (
    ("chief executive", "CEO"),
    ("chief financial officer", "CFO"),
    ("chairman", "chairman"),
    ("president", "head"),
)
UP = (("rose", "rises"), ("climbed", "climbs"), ("jumped", "jumps"), ("increased", "up"), ("grew", "grows"))
DOWN = (("fell", "falls"), ("dropped", "drops"), ("slid", "slides"), ("declined", "down"), ("sank", "sinks"))
REASONS_UP = ("strong demand for {good}", "higher {good} prices", "lower costs", "record exports of {good}")
REASONS_DOWN = ("weak demand for {good}", "lower {good} prices", "rising costs", "a strike at its {town} plant")
FACILITIES = ("plant", "refinery", "mine", "factory", "shipyard", "mill", "terminal")
DISASTERS = (("an explosion", "blast"), ("a fire", "fire"), ("an earthquake", "quake"), ("a flood", "flood"))
WORKERS = ("miners", "teachers", "pilots", "dockers", "nurses", "drivers", "steelworkers")
GAMES = ("football", "tennis", "hockey", "chess", "rugby", "handball")
SOURCES = ("a company spokesman", "two people familiar with the matter", "local media", "analysts", "officials")
ASIDES = (
    "which employs about {count2} people in {country}",
    "whose shares have {fell} {percent2} percent this year",
    "the country's {nth} biggest {kind}",
    "founded in {town2} in {year}",
)
TAILS = (
    "after months of talks in {town2}",
    "despite concern over {good} prices",
    "in the latest sign of trouble for the {nationality} economy",
    "as {nationality} officials prepare for elections in {month}",
    "in a move that surprised investors in {town2}",
    "two days after {country2} took a similar step",
)

# Lead and headline of a story, filled from the same facts.
TEMPLATES = (
    (
        "{company_aside} said on {day} that its {quarter}-quarter {measure} {rose} {percent} percent"
        " on {reason_up}{tail}.",
        "{name} {q} {measure} {rises} {percent} pct on {reason_up}",
    ),
    (
        "{Nationality} {kind} {company} reported on {day} that {measure} {fell} {percent} percent"
        " in the {quarter} quarter, hurt by {reason_down}{tail}.",
        "{name} {q} {measure} {falls} {percent} pct, hit by {reason_down}",
    ),
    (
        "{company_aside} has agreed to buy {nationality} {kind} {company2} for ${money} million in cash and shares,"
        " the companies said in a statement on {day}{tail}.",
        "{name} to buy {country} {kind} {name2} for ${money} mln",
    ),
    (
        "{company_aside} will cut {count} jobs and close its {facility} in {town} by {month} to reduce costs,"
        " {source} said on {day}{tail}.",
        "{name} to cut {count} jobs, close {town} {facility}",
    ),
    (
        "{Ministry_of} said on {day} that {indicator} {rose} {percent} percent in {month} from a year earlier,"
        " against a forecast of {percent2} percent{tail}.",
        "{country} {month} {indicator_short} {rises} {percent} pct y/y",
    ),
    (
        "{Nationality} {indicator_bare} {fell} by {percent} percent in {month} compared with the previous month,"
        " {ministry} said on {day}{tail}.",
        "{country} {indicator_short} {falls} {percent} pct in {month} - {ministry_short}",
    ),
    (
        "{Nationality} {office} {person} said on {day} the country would not raise taxes on {good}"
        " before {month}{tail}.",
        "{country} {office_short} {surname} says no new {good} tax before {month}",
    ),
    (
        "{Nationality} {office} {person} met a counterpart from {country2} in {town} on {day} to discuss trade"
        " in {good}{tail}.",
        "{country} {office_short} meets {country2} counterpart on {good} trade",
    ),
    (
        "{Disaster} at {a_facility} owned by {company} in the town of {town} in {country} killed at least {few} people"
        " and injured {some} more on {day}, {source} said.",
        "{disaster_short} at {name} {facility} in {country} kills {few}",
    ),
    (
        "Thousands of {nationality} {workers} went on strike on {day} to demand a pay rise of {percent} percent,"
        " halting deliveries of {good} from {town}{tail}.",
        "{country} {workers} strike over pay, halt {town} {good} deliveries",
    ),
    (
        "{company_aside} named {person} as its new {post} on {day}, replacing {person2}, who will step down in {month}"
        " after {few} years{tail}.",
        "{name} names {surname} {post_short} as {surname2} steps down",
    ),
    (
        "Shares in {company_aside} {rose} as much as {percent} percent in {town} on {day} after {source} said"
        " it was in talks to sell its {good} business to {company2}.",
        "{name} stock {rises} on talks to sell {good} unit to {name2}",
    ),
    (
        "The central bank of {country} kept its main interest rate unchanged at {percent} percent on {day},"
        " as expected, and said that growth would slow to {percent2} percent next year{tail}.",
        "{country} keeps key rate at {percent} pct, sees slower growth",
    ),
    (
        "The price of {good} {fell} {percent} percent to ${money} a tonne on {day}, its lowest level since {month},"
        " because of {plain_reason_down}, traders in {town} said.",
        "{Good} {falls} to lowest since {month} on {plain_reason_down}",
    ),
    (
        "{company} and {company2} said on {day} they would jointly build {a_facility} in {town} in {country}"
        " at a cost of ${money} million{tail}.",
        "{name}, {name2} to build ${money} mln {facility} in {country}",
    ),
    (
        "A court in {town} on {day} ordered {company_aside} to pay ${money} million in damages to {company2}"
        " in a long dispute over {good} patents.",
        "Court orders {name} to pay {name2} ${money} mln over patents",
    ),
    (
        "{person} of {country} beat {person2} of {country2} in the final of the {town} {game} tournament on {day}"
        " to win a {nth} title this year.",
        "{surname} beats {surname2} to win {town} {game} title",
    ),
    (
        "{Ministry_of} has banned all imports of {good} from {country2} until {month} for reasons of public health,"
        " {source} said on {day}{tail}.",
        "{country} bans {good} imports from {country2} until {month}",
    ),
    (
        "{company_aside} raised its forecast for full-year {measure} to between ${money} million and ${more_money}"
        " million on {day}, citing {reason_up}{tail}.",
        "{name} raises full-year {measure} forecast, cites {reason_up}",
    ),
    (
        "{Nationality} rebels and the army fought near the town of {town} on {day}, leaving {few} dead and forcing"
        " about {count} people to flee to {country2}{tail}.",
        "{few} dead as {country} army, rebels fight near {town}",
    ),
)

ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "h", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
VOWELS = ("a", "e", "i", "o", "u", "ar", "el", "in", "or", "un", "al", "er")

Facts = dict[str, str]


def _make_names(rng: random.Random, count: int, endings: Sequence[str]) -> list[str]:
    """Make distinct names of two or three syllables, such as Tarvolin."""
    names: dict[str, None] = {}
    while len(names) < count:
        syllables = "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.choice((1, 2, 2))))
        names[(syllables + rng.choice(ONSETS) + rng.choice(endings)).capitalize()] = None
    return list(names)


class _World:
    """The names that all seeds share, some of them far more frequent than others."""

    def __init__(self) -> None:
        rng = random.Random("the invented world of nutgraf")
        self.companies = [
            (name, rng.choice(SUFFIXES)) for name in _make_names(rng, 1500, ("ex", "on", "ica", "um", "and"))
        ]
        self.countries = _make_names(rng, 80, ("ovia", "ania", "istia", "oria"))
        towns = _make_names(rng, 500, ("aburg", "ano", "esk", "ola", "ave"))
        self.towns = [rng.choice(("", "", "Port ", "New ")) + name for name in towns]
        self.surnames = _make_names(rng, 1200, ("ov", "etti", "esen", "ard", "ez", "ako", "ias", "emann"))


T = TypeVar("T")
_WORLD = _World()
# Zipf's law: the n-th name is drawn with weight 1 / (n + 10).
_WEIGHTS = list(accumulate(1 / (rank + 10) for rank in range(1500)))


def _draw_two(rng: random.Random, pool: Sequence[T]) -> tuple[T, T]:
    first, second = rng.choices(pool, cum_weights=_WEIGHTS[: len(pool)], k=2)
    while first == second:
        second = rng.choices(pool, cum_weights=_WEIGHTS[: len(pool)])[0]
    return first, second


def _draw_figures(rng: random.Random) -> Facts:
    money = rng.randrange(20, 900)
    percent, percent2 = (f"{rng.randrange(1, 30)}.{rng.randrange(10)}" for _ in range(2))
    return {
        "percent": rng.choice((percent, percent.split(".")[0])),
        "percent2": percent2,
        "money": str(money),
        "more_money": str(money + rng.randrange(5, 100)),
        "count": f"{rng.randrange(1, 40)},{rng.randrange(10)}00",
        "count2": f"{rng.randrange(40, 90)},{rng.randrange(10)}00",
        "few": str(rng.randrange(2, 40)),
        "some": str(rng.randrange(40, 200)),
        "nth": rng.choice(("second", "third", "fourth", "fifth", "sixth")),
        "year": str(rng.randrange(1890, 2010)),
        "day": rng.choice(DAYS),
        "month": rng.choice(MONTHS),
    }


def _draw_names(rng: random.Random) -> Facts:
    (name, suffix), (name2, suffix2) = _draw_two(rng, _WORLD.companies)
    country, country2 = _draw_two(rng, _WORLD.countries)
    town, town2 = _draw_two(rng, _WORLD.towns)
    surname, surname2 = _draw_two(rng, _WORLD.surnames)
    return {
        "name": name,
        "name2": name2,
        "company": f"{name} {suffix}",
        "company2": f"{name2} {suffix2}",
        "country": country,
        "country2": country2,
        "nationality": f"{country}n",
        "town": town,
        "town2": town2,
        "surname": surname,
        "surname2": surname2,
        "person": f"{rng.choice(FIRST_NAMES)} {surname}",
        "person2": f"{rng.choice(FIRST_NAMES)} {surname2}",
    }


def _draw_choices(rng: random.Random) -> Facts:
    facts: Facts = {}
    pairs = {
        ("quarter", "q"): QUARTERS,
        ("indicator", "indicator_short"): INDICATORS,
        ("ministry", "ministry_short"): MINISTRIES,
        ("office", "office_short"): OFFICES,
        ("post", "post_short"): POSTS,
        ("rose", "rises"): UP,
        ("fell", "falls"): DOWN,
        ("disaster", "disaster_short"): DISASTERS,
    }
    for (in_lead, in_headline), options in pairs.items():
        facts[in_lead], facts[in_headline] = rng.choice(options)
    singles = {
        "kind": KINDS,
        "good": GOODS,
        "measure": MEASURES,
        "facility": FACILITIES,
        "workers": WORKERS,
        "game": GAMES,
        "source": SOURCES,
    }
    return facts | {slot: rng.choice(options) for slot, options in singles.items()}


def _draw_facts(rng: random.Random) -> Facts:
    """Draw everything a story may mention."""
    facts = _draw_figures(rng) | _draw_names(rng) | _draw_choices(rng)
    facts["reason_up"] = rng.choice(REASONS_UP).format_map(facts)
    facts["reason_down"] = rng.choice(REASONS_DOWN).format_map(facts)
    facts["plain_reason_down"] = rng.choice(("weak demand", "high stocks", "mild weather", "a strong dollar"))
    aside = rng.choice(ASIDES).format_map(facts)
    facts["company_aside"] = facts["company"] + rng.choice(("", f", {aside},"))
    facts["tail"] = rng.choice(("", ", " + rng.choice(TAILS).format_map(facts)))
    facts["a_facility"] = f"a {facts['facility']}"
    facts["indicator_bare"] = facts["indicator"].removeprefix("the ")
    facts["ministry_of"] = f"{facts['ministry']} of {facts['country']}"
    for slot in ("nationality", "ministry_of", "disaster", "good"):
        facts[slot.capitalize()] = facts[slot][0].upper() + facts[slot][1:]
    return facts


def _write_story(rng: random.Random) -> tuple[str, str]:
    """Draw stories until one has the right lengths; return its lead and its headline."""
    while True:
        facts = _draw_facts(rng)
        lead, headline = (
            side.format_map(facts).replace(",,", ",").replace(",.", ".") for side in rng.choice(TEMPLATES)
        )
        headline = headline[0].upper() + headline[1:]
        if _fits(lead, LEAD_WORDS) and _fits(headline, HEADLINE_WORDS):
            return lead, headline


def _fits(text: str, limits: tuple[int, int]) -> bool:
    return limits[0] <= len(text.split()) <= limits[1]


def newswire(pairs: int, seed: int) -> list[tuple[str, str]]:
    """Return this many stories, each a lead sentence and its headline, with no lead or headline twice."""
    rng = random.Random(f"newswire {seed}")
    leads: dict[str, str] = {}
    headlines: set[str] = set()
    while len(leads) < pairs:
        lead, headline = _write_story(rng)
        if lead not in leads and headline not in headlines:
            leads[lead] = headline
            headlines.add(headline)
    return list(leads.items())


def unaligned(
    texts: int, summaries: int, held_out: int, seed: int
) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Return texts and summaries of different stories, and pairs of other stories to test on."""
    stories = newswire(texts + summaries + held_out, seed)
    return (
        [lead for lead, _ in stories[:texts]],
        [headline for _, headline in stories[texts : texts + summaries]],
        stories[texts + summaries :],
    )
