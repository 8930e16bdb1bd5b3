"""The demo's corpus: real newswire if a package registry answers, else newswire that nutgraf generates.

As in Section 4, the two piles come from different stories: titles of one half, sentences of the other half, and
held-out pairs from stories that are in neither. It only prepares the files; the command trains on them.
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
GENERATED = (20_000, 20_000)  # texts and summaries of the generated newswire
# Words that say nothing about a story's topic: the two sides of a held-out pair must share another one.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by for from has have he in is it its of on or said says that the they this to was"
        " were will with would after up down not no more than new sees",
    )
)


@dataclass(frozen=True)
class DemoCorpus:
    """Where the demo's files are, what they contain and whose text it is."""

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
    """Unaligned texts and summaries, and pairs from other stories."""

    texts: list[str]
    summaries: list[str]
    pairs: list[tuple[str, str]]

    def write(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write texts.txt, summaries.txt and test.tsv into the folder; return their paths in this order."""
        paths = (folder / "texts.txt", folder / "summaries.txt", folder / "test.tsv")
        pairs = [f"{text}\t{summary}" for text, summary in self.pairs]
        for path, lines in zip(paths, (self.texts, self.summaries, pairs), strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return paths


def prepare_demo(folder: Path, say: Say, offline: bool = False) -> DemoCorpus:
    """Write texts.txt, summaries.txt and test.tsv into the folder; the same source gives the same files everywhere."""
    folder.mkdir(parents=True, exist_ok=True)
    piles = None if offline else _fetch_piles(folder, say)
    source, terms = NAME, TERMS
    if piles is None:
        say("Using a small newswire that nutgraf generates itself: invented names and events, simpler than real text.")
        piles = Piles(*unaligned(*GENERATED, HELD_OUT, SEED))
        source, terms = "generated newswire", "Invented by nutgraf's own grammar: no restrictions."
    sizes = (len(piles.texts), len(piles.summaries), len(piles.pairs))
    corpus = DemoCorpus(*piles.write(folder), *sizes, source, terms)
    say("{:,} texts, {:,} summaries and {:,} held-out pairs in {}".format(*sizes, folder))
    return corpus


def _fetch_piles(folder: Path, say: Say) -> Piles | None:
    try:
        archive = fetch(folder, say)
        say(f"{NAME}. {TERMS}")
        return divide(list(read(archive)), HELD_OUT, SEED)
    except FetchError as error:
        say(f"No real newswire: {error}")
        return None


def divide(stories: Sequence[Story], held_out: int, seed: int) -> Piles:
    """Divide stories into unaligned piles.

    Re-runs of a story (the same title, or the same opening) stay on one side, so that no summary belongs to a text.
    Held-out pairs come from stories that ran once, and lines that resemble them are left out of the piles. Texts start
    with the lead sentences, so that the first lines are those most like the sentences to be summarised.
    """
    rng = random.Random(seed)
    groups = same_story(stories)
    runs = Counter(groups)
    candidates = [s for s, group in zip(stories, groups, strict=True) if runs[group] == 1 and _is_pair(s)]
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
        # An alert has no text, only a title.
        if side[group] or not story.sentences:
            titles.append(story.title)
        else:
            leads += story.sentences[:1]
            others += [sentence for sentence in story.sentences[1:] if not near_lead(sentence)]
    return Piles(_shuffle(leads, rng) + _shuffle(others, rng), _shuffle(titles, rng), pairs)


def _shuffle(lines: list[str], rng: random.Random) -> list[str]:
    distinct = [line for line in dict.fromkeys(lines) if line]
    rng.shuffle(distinct)
    return distinct


def same_story(stories: Sequence[Story]) -> list[int]:
    """Return a number for each story, equal for stories with the same title or the same opening words."""
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
    """Tells whether a line shares at least `share` of its features with one of the lines, or that line with it."""

    def __init__(self, lines: Iterable[str], features: Callable[[str], frozenset[Hashable]], share: float):
        self._features = features
        self._share = share
        self._sizes: list[int] = []
        self._lines_with: dict[Hashable, list[int]] = {}
        for number, line in enumerate(lines):
            found = features(line)
            self._sizes.append(len(found))
            for feature in found:
                self._lines_with.setdefault(feature, []).append(number)

    def __call__(self, line: str) -> bool:
        """Whether the line resembles one of the lines."""
        found = self._features(line)
        shared = Counter(number for feature in found for number in self._lines_with.get(feature, ()))
        return any(hits >= self._share * min(len(found), self._sizes[number]) for number, hits in shared.items())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _topic(title: str) -> frozenset[Hashable]:
    return frozenset(_words(title)) - STOP_WORDS


def _bigrams(sentence: str) -> frozenset[Hashable]:
    return frozenset(pairwise(_words(sentence)))


def _is_pair(story: Story) -> bool:
    return bool(story.title) and story.has_lead and bool(_topic(story.title) & set(_words(story.sentences[0])))
