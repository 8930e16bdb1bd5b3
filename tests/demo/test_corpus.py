from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nutgraf.demo import corpus as demo
from nutgraf.demo import reuters
from nutgraf.demo.corpus import Near, divide, prepare_demo, same_story
from nutgraf.demo.newswire import newswire
from nutgraf.demo.reuters import TERMS, FetchError, Say, Story
from nutgraf.files import sha256
from tests.demo.test_reuters import pack


def _stories(count: int, seed: int = 1) -> list[Story]:
    """Stories of three sentences each, no two alike; all from the project's own newswire."""
    told = newswire(3 * count, seed)
    return [
        Story(own[0][1].lower(), tuple(lead for lead, _ in own), True)
        for own in (told[3 * i : 3 * i + 3] for i in range(count))
    ]


def _no_answer(folder: Path, say: Say) -> Path:
    raise FetchError("npm pack ...: no answer within 180 seconds")


def test_sides_come_from_different_stories() -> None:
    stories = _stories(400)
    piles = divide(stories, held_out=50, seed=1)
    of_title = {story.title: story for story in stories}
    assert len(piles.pairs) == 50
    assert len(piles.summaries) > 50
    assert len(piles.texts) > 150
    texts = set(piles.texts)
    for title in piles.summaries:
        assert not texts & set(of_title[title].sentences)
    for lead, title in piles.pairs:
        assert of_title[title].sentences[0] == lead
        assert title not in piles.summaries
        assert not texts & set(of_title[title].sentences)


def test_the_division_is_the_same_every_time() -> None:
    stories = _stories(100)
    assert divide(stories, 10, seed=1) == divide(stories, 10, seed=1)
    assert divide(stories, 10, seed=1) != divide(stories, 10, seed=2)


def test_leads_come_first() -> None:
    stories = _stories(200)
    leads = {story.sentences[0] for story in stories}
    flags = [text in leads for text in divide(stories, 20, seed=1).texts]
    assert flags == sorted(flags, reverse=True)
    assert 0 < sum(flags) < len(flags)


def test_reruns_are_one_story() -> None:
    a, b, c = _stories(3)
    rerun = Story("another title for it all", (a.sentences[0], *b.sentences[1:]), True)
    same_title = Story(b.title.upper() + "!", c.sentences[1:], True)
    numbers = same_story([a, b, c, rerun, same_title, Story("", (), False), Story("", (), False)])
    assert numbers[0] == numbers[3]
    assert numbers[1] == numbers[4]
    assert len(set(numbers)) == 5


def test_reruns_stay_on_one_side_and_out_of_the_held_out_pairs() -> None:
    stories = _stories(150)
    reruns = [Story(f"rerun of story number {i}", s.sentences[:1], True) for i, s in enumerate(stories[:75])]
    piles = divide(stories + reruns, held_out=20, seed=3)
    texts, titles = set(piles.texts), set(piles.summaries)
    for i, story in enumerate(stories[:75]):
        assert not (story.sentences[0] in texts and {story.title, f"rerun of story number {i}"} & titles)
        assert story.title not in [title for _, title in piles.pairs]


def test_what_resembles_a_held_out_pair_is_in_no_pile() -> None:
    stories = _stories(120)
    held_out = divide(stories, 100, seed=1).pairs
    # Each story again under other words: the same sentence with a new end, the same title with a new start.
    again = [
        Story(f"update {title}", (f"{' '.join(lead.split()[:-2])} by mistake.",), False) for lead, title in held_out
    ]
    piles = divide([*stories, *again], 100, seed=1)
    near_title = Near((title for _, title in piles.pairs), demo._topic, 0.6)
    near_lead = Near((lead for lead, _ in piles.pairs), demo._bigrams, 0.5)
    assert not any(map(near_title, piles.summaries))
    assert not any(map(near_lead, piles.texts))


def test_near_by_hand() -> None:
    near = Near(["a b c d", "x y"], lambda line: frozenset(line.split()), 0.5)
    assert near("a b q r")  # two of four
    assert not near("a q r s")
    assert near("x q r s t")  # one of two: the smaller one counts
    assert not near("")


def test_alerts_give_their_titles_and_untitled_stories_their_sentences() -> None:
    stories = _stories(60)
    alerts = [Story(f"{title.lower()} alert", (), False) for _, title in newswire(20, seed=9)]
    untitled = [Story("", (lead,), True) for lead, _ in newswire(20, seed=10)]
    piles = divide([*stories, *alerts, *untitled], held_out=1, seed=1)
    assert sum(alert.title in piles.summaries for alert in alerts) >= 15
    assert sum(story.sentences[0] in piles.texts for story in untitled) >= 3
    assert "" not in piles.summaries


def test_from_archive_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        {"title": story.title.upper(), "body": "\n    ".join(story.sentences) + "\n Reuter\n\x03"}
        for story in _stories(300, seed=4)
    ]
    archive = pack(tmp_path, records)
    monkeypatch.setattr(reuters, "SHA256", sha256(archive))
    monkeypatch.setattr(demo, "HELD_OUT", 40)
    said: list[str] = []
    corpus = prepare_demo(tmp_path, said.append)
    assert archive.is_file()
    assert corpus.source.startswith("Reuters-21578")
    assert any(TERMS in line for line in said)
    assert "research purposes only" in corpus.terms
    texts, summaries, pairs = (
        path.read_text("utf-8").splitlines() for path in (corpus.texts, corpus.summaries, corpus.test)
    )
    assert (len(texts), len(summaries), len(pairs)) == (corpus.text_lines, corpus.summary_lines, 40)
    assert all(len(pair.split("\t")) == 2 for pair in pairs)
    assert not any("\t" in line or line != line.strip() for line in itertools.chain(texts, summaries))


def test_where_no_source_answers_it_says_so_and_writes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "fetch", _no_answer)
    monkeypatch.setattr(demo, "GENERATED", (60, 50))
    monkeypatch.setattr(demo, "HELD_OUT", 10)
    said: list[str] = []
    corpus = prepare_demo(tmp_path / "demo", said.append)
    assert "no answer within 180 seconds" in said[0]
    assert "generates itself" in said[1]
    assert corpus.source == "generated newswire"
    assert (corpus.text_lines, corpus.summary_lines, corpus.test_pairs) == (60, 50, 10)
    assert len(corpus.test.read_text("utf-8").splitlines()) == 10


def test_offline_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "fetch", lambda *_: pytest.fail("asked a registry"))
    monkeypatch.setattr(demo, "GENERATED", (60, 50))
    assert prepare_demo(tmp_path, lambda _: None, offline=True).source == "generated newswire"
