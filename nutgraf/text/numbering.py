"""Words as numbers, part by part: the parts of a large corpus are tokenised apart, in any order and on any machine.

Each part numbers its words as they come. Its folder has its sentences in these numbers, and the list of its words.
Going through the lists in the order of the parts numbers all words as they would come in the whole corpus, so that the
result is the same for any number of parts. Neither a part's text nor its sentences are held in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.files import read_words
from nutgraf.progress import Progress, Report
from nutgraf.text.beginning import find_read
from nutgraf.text.corpus import Corpus, CorpusWriter
from nutgraf.text.lexicon import SPECIALS, Ids
from nutgraf.text.tokens import Tokenizer

TEXTS, SUMMARIES = "texts", "summaries"  # the two sides
_SENTENCES, _WORDS = "sentences", "words.txt"  # in the folder of a part
_WRITTEN_EVERY = 5_000  # lines

Parts = Mapping[str, Sequence[Path]]  # the folders of each side's parts, in their order


class Numbers(dict[str, int]):
    """Numbers words as they come."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def number_words(lines: Iterable[str], side: str, settings: recipe.Text, folder: Path, report: Report) -> None:
    """Write a part of a side to an empty folder; sentences without words are left out.

    Progress counts the lines since the last report, of which the first is 0; how many there will be is not known.
    """
    numbers, tokenizer = Numbers(), Tokenizer(settings.digits)
    tokens, ends, most = array("i"), array("q", [0]), settings.max_summary_words
    report(Progress(0, 0, "lines", side))
    with CorpusWriter(folder, _SENTENCES) as writer:
        for done, line in enumerate(lines, 1):
            words = tokenizer.words(line)
            read = [words[place] for place in find_read(words, settings)] if side == TEXTS else words[:most]
            tokens.extend(map(numbers.__getitem__, read))
            if len(tokens) > ends[-1]:
                ends.append(len(tokens))
            if done % _WRITTEN_EVERY == 0:
                writer.add(_as_corpus(tokens, ends))
                tokens, ends = array("i"), array("q", [0])
                report(Progress(_WRITTEN_EVERY, 0, "lines", side))
        writer.add(_as_corpus(tokens, ends))
    (folder / _WORDS).write_text("".join(f"{word}\n" for word in numbers), encoding="utf-8", newline="\n")


def _as_corpus(tokens: array[int], ends: array[int]) -> Corpus:
    return Corpus(np.frombuffer(tokens, dtype=np.int32), np.frombuffer(ends, dtype=np.int64))


def open_part(folder: Path) -> Corpus:
    """Map the sentences of a part, in its own numbers."""
    return Corpus.open(folder, _SENTENCES)


def merge_words(parts: Parts) -> tuple[list[str], dict[Path, Ids], dict[str, NDArray[np.int64]]]:
    """Return all words, most frequent first (ties: first seen first), and what follows from this order:

    for each part, the id of each of its own numbers in a lexicon; for each side, how often each of the words occurs.
    """
    numbers = Numbers()
    tables = {path: _look_up(path, numbers) for paths in parts.values() for path in paths}
    counts = {side: np.zeros(len(numbers), dtype=np.int64) for side in parts}
    for side, paths in parts.items():
        for path in paths:
            counts[side][tables[path]] += open_part(path).counts(len(tables[path]))
    order = np.argsort(-np.sum([*counts.values()], axis=0), kind="stable")
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(SPECIALS), len(SPECIALS) + len(order), dtype=np.int32)
    words = [*numbers]
    tables = {path: places[table] for path, table in tables.items()}
    return [words[number] for number in order], tables, {side: count[order] for side, count in counts.items()}


def _look_up(folder: Path, numbers: Numbers) -> Ids:
    """Return the number, among all words, of each word of a part."""
    own = read_words(folder / _WORDS).split("\n")[:-1]
    return np.fromiter(map(numbers.__getitem__, own), dtype=np.int32, count=len(own))
