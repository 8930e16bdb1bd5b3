from __future__ import annotations

import string

import pytest

from nutgraf.demo.newswire import HEADLINE_WORDS, LEAD_WORDS, TEMPLATES, newswire, unaligned


@pytest.fixture(scope="module")
def stories() -> list[tuple[str, str]]:
    return newswire(3000, seed=1)


def test_the_same_seed_writes_the_same_news() -> None:
    assert newswire(50, seed=3) == newswire(50, seed=3)
    assert newswire(50, seed=3) == newswire(80, seed=3)[:50]
    assert not set(newswire(50, seed=3)) & set(newswire(50, seed=4))


def test_lengths_are_those_of_newswire(stories: list[tuple[str, str]]) -> None:
    for lead, headline in stories:
        assert LEAD_WORDS[0] <= len(lead.split()) <= LEAD_WORDS[1], lead
        assert HEADLINE_WORDS[0] <= len(headline.split()) <= HEADLINE_WORDS[1], headline


def test_sentences_are_whole(stories: list[tuple[str, str]]) -> None:
    for lead, headline in stories:
        assert lead.endswith(".")
        assert lead[0] in string.ascii_uppercase + string.digits
        for line in (lead, headline):
            assert not set("{}\t\n") & set(line), line
            assert "  " not in line
            assert ",," not in line


def test_every_template_is_told_and_names_are_many(stories: list[tuple[str, str]]) -> None:
    assert len(TEMPLATES) >= 15
    slots = {name for template in TEMPLATES for side in template for _, name, _, _ in string.Formatter().parse(side)}
    assert {"company", "country", "town", "day", "person"} <= slots
    # A template that never fits the lengths would leave its fixed words out of the news.
    text = " ".join(lead + " " + headline for lead, headline in stories)
    for template in TEMPLATES:
        for side in template:
            fixed = max((literal for literal, *_ in string.Formatter().parse(side)), key=len)
            assert fixed.strip() in text, fixed
    assert len({word for lead, headline in stories for word in f"{lead} {headline}".split()}) > 3000


def test_a_headline_compresses_and_shifts_the_vocabulary(stories: list[tuple[str, str]]) -> None:
    shifted = sum(bool(set(headline.lower().split()) - set(lead.lower().split())) for lead, headline in stories)
    kept = sum(len(set(headline.split()) & set(lead.split())) for lead, headline in stories)
    assert shifted > 0.8 * len(stories)
    assert kept > 2 * len(stories)
    assert not any(" percent" in headline or " said" in headline for _, headline in stories)


def test_unaligned_sides_share_no_story() -> None:
    texts, summaries, pairs = unaligned(200, 300, 40, seed=7)
    assert (len(texts), len(summaries), len(pairs)) == (200, 300, 40)
    told = newswire(540, seed=7)
    own = dict(told)
    assert not {own[text] for text in texts} & set(summaries)
    assert not {headline for _, headline in pairs} & set(summaries)
    assert not {lead for lead, _ in pairs} & set(texts)
    assert set(pairs) <= set(told)
