"""The demo's corpus: real newswire where a package registry answers, the project's own where none does.

As in Section 4, the two piles come from different stories: titles of one half, sentences of the other half, and
held-out pairs from stories that are in neither. It prepares the files only; training on them is the command's work.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nutgraf.demo.newswire import unaligned
from nutgraf.demo.reuters import NAME, TERMS, FetchError, Say, Story, fetch, read

SEED = 21578
HELD_OUT = 500
GENERATED = (20_000, 20_000)  # texts and summaries of the newswire that the project writes itself
# Words that say nothing of what a story is about: the two sides of a held-out pair must share another one.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from has have he in is it its of on or said says that the they this to was"
        " were will with would after up down not no more than new sees",
    )
)


@dataclass(frozen=True)
class DemoCorpus:
    """Where the demo's files are, what is in them and whose text it is."""

    texts: Path
    summaries: Path
    test: Path
    text_lines: int
    summary_lines: int
    test_pairs: int
    source: str
    terms: str


@dataclass(frozen=True)
class Piles:
    """Unaligned texts and summaries, and pairs of yet other stories."""

    texts: list[str]
    summaries: list[str]
    pairs: list[tuple[str, str]]


def prepare_demo(folder: Path, say: Say, offline: bool = False) -> DemoCorpus:
    """Write texts.txt, summaries.txt and test.tsv into the folder; the same on every machine for the same source."""
    folder.mkdir(parents=True, exist_ok=True)
    if not offline:
        try:
            archive = fetch(folder, say)
            say(f"{NAME}. {TERMS}")
            piles = divide(list(read(archive)), HELD_OUT, SEED)
            return _write(folder, piles, NAME, TERMS, say)
        except FetchError as error:
            say(f"No real newswire: {error}")
    say("Using a small newswire that nutgraf generates itself: invented names and events, simpler than real text.")
    piles = Piles(*unaligned(*GENERATED, HELD_OUT, SEED))
    return _write(folder, piles, "generated newswire", "Invented by nutgraf's own grammar: no restrictions.", say)


def _write(folder: Path, piles: Piles, source: str, terms: str, say: Say) -> DemoCorpus:
    corpus = DemoCorpus(
        texts=folder / "texts.txt",
        summaries=folder / "summaries.txt",
        test=folder / "test.tsv",
        text_lines=len(piles.texts),
        summary_lines=len(piles.summaries),
        test_pairs=len(piles.pairs),
        source=source,
        terms=terms,
    )
    _write_lines(corpus.texts, piles.texts)
    _write_lines(corpus.summaries, piles.summaries)
    _write_lines(corpus.test, (f"{text}\t{summary}" for text, summary in piles.pairs))
    say(
        f"{corpus.text_lines:,} texts, {corpus.summary_lines:,} summaries and {corpus.test_pairs:,} held-out pairs"
        f" in {folder}"
    )
    return corpus


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def divide(stories: Sequence[Story], held_out: int, seed: int) -> Piles:
    """Divide stories into unaligned piles.

    Re-runs of a story (the same title, or the same opening) stay on one side, so that no summary belongs to a text.
    Held-out pairs come from stories told once, and whatever resembles them is left out of the piles. The texts start
    with the lead sentences: whoever reads only a part gets the sentences most like those to be summarised.
    """
    rng = random.Random(seed)
    groups = same_story(stories)
    told = Counter(groups)
    candidates = [s for s, group in zip(stories, groups, strict=True) if told[group] == 1 and _is_pair(s)]
    pairs = [(s.sentences[0], s.title) for s in rng.sample(candidates, min(held_out, len(candidates)))]
    near_title = Near((title for _, title in pairs), _topic, 0.6)
    near_lead = Near((lead for lead, _ in pairs), _bigrams, 0.5)
    side = {group: rng.random() < 0.5 for group in dict.fromkeys(groups)}

    leads: list[str] = []
    others: list[str] = []
    titles: list[str] = []
    for story, group in zip(stories, groups, strict=True):
        if near_title(story.title) or any(map(near_lead, story.sentences[:1])):
            continue
        # An alert has no text: its title is all that it can give.
        if side[group] or not story.sentences:
            titles.append(story.title)
        else:
            leads += story.sentences[:1]
            others += [sentence for sentence in story.sentences[1:] if not near_lead(sentence)]
    return Piles(_shuffled(leads, rng) + _shuffled(others, rng), _shuffled(titles, rng), pairs)


def _shuffled(lines: list[str], rng: random.Random) -> list[str]:
    distinct = [line for line in dict.fromkeys(lines) if line]
    rng.shuffle(distinct)
    return distinct


def same_story(stories: Sequence[Story]) -> list[int]:
    """Number the stories so that those with the same title or the same opening words have one number."""
    parent = list(range(len(stories)))
    first: dict[tuple[str, ...], int] = {}

    def root(story: int) -> int:
        while parent[story] != story:
            parent[story] = parent[parent[story]]
            story = parent[story]
        return story

    for number, story in enumerate(stories):
        opening = story.sentences[0] if story.sentences else ""
        for key in (("title", *_words(story.title)), ("opening", *_words(opening)[:12])):
            if len(key) > 1:
                parent[root(number)] = root(first.setdefault(key, number))
    return [root(number) for number in range(len(stories))]


class Near:
    """Whether a line resembles one of many: shares at least this part of the smaller one's features with it."""

    def __init__(self, lines: Iterable[str], features: Callable[[str], frozenset[Hashable]], share: float):
        self._features = features
        self._share = share
        self._sizes: list[int] = []
        self._having: dict[Hashable, list[int]] = {}
        for number, line in enumerate(lines):
            found = features(line)
            self._sizes.append(len(found))
            for feature in found:
                self._having.setdefault(feature, []).append(number)

    def __call__(self, line: str) -> bool:
        """Tell whether the line resembles one of the lines."""
        found = self._features(line)
        shared = Counter(number for feature in found for number in self._having.get(feature, ()))
        return any(hits >= self._share * min(len(found), self._sizes[number]) for number, hits in shared.items())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _topic(title: str) -> frozenset[Hashable]:
    return frozenset(_words(title)) - STOP_WORDS


def _bigrams(sentence: str) -> frozenset[Hashable]:
    return frozenset(pairwise(_words(sentence)))


def _is_pair(story: Story) -> bool:
    return bool(story.title) and story.has_lead and bool(_topic(story.title) & set(_words(story.sentences[0])))
