"""From lines of text to what every later step reads: one lexicon and two memory-mapped corpora of word ids.

A third corpus may hold some of the summaries, which no model sees: evaluation judges by them how fluent summaries are.

Words are numbered as they come and renumbered by their frequency in both corpora at the end, so each corpus is read
once. The vocabularies of each side, V^F and V^S (Section 4 and the appendix), and the joint one of the models that
copy, follow from the counts. It does not read files (see reading) and stores no text.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.progress import Progress, Report
from nutgraf.text.corpus import Corpus
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.tokens import Tokenizer

_MIN_WORDS = 10  # distinct words, below which nothing can be learned
_REPORT_EVERY = 5_000  # lines
JUDGE = "judge"


@dataclass(frozen=True)
class Prepared:
    """Both corpora in the ids of one lexicon, and the summaries that were set aside, which only evaluation reads."""

    lexicon: Lexicon
    texts: Corpus
    summaries: Corpus
    judge: Corpus

    @classmethod
    def open(cls, folder: Path) -> Prepared:
        """Open the files that `prepare` wrote."""
        judge = Corpus.open(folder, JUDGE) if Corpus.exists(folder, JUDGE) else Corpus.of([])
        texts, summaries = (Corpus.open(folder, name) for name in ("texts", "summaries"))
        lexicon = Lexicon.load(folder / "lexicon.txt")
        for corpus in (texts, summaries, judge):
            corpus.check(folder, len(lexicon))
        return cls(lexicon, texts, summaries, judge)

    def vocab_F(self, settings: recipe.Text) -> Vocab:  # noqa: N802
        """V^F: the most frequent words of the texts."""
        return Vocab.most_frequent(self.texts.counts(len(self.lexicon)), settings.texts_vocabulary)

    def vocab_S(self, settings: recipe.Text) -> Vocab:  # noqa: N802
        """V^S: the most frequent words of the summaries."""
        return Vocab.most_frequent(self.summaries.counts(len(self.lexicon)), settings.summaries_vocabulary)

    def joint(self, settings: recipe.Text) -> Vocab:
        """One list for both sides, by the sum of relative frequencies, so that the corpora's sizes do not matter."""
        shares = sum(_relative_counts(corpus.counts(len(self.lexicon))) for corpus in (self.texts, self.summaries))
        return Vocab.most_frequent(np.asarray(shares), settings.joint_vocabulary)


def prepare(
    texts: Iterable[str], summaries: Iterable[str], settings: recipe.Text, folder: Path, report: Report
) -> None:
    """Write `lexicon.txt` and the corpora `texts` and `summaries` to the folder, and `judge` if its share is not 0.

    Progress has total 0, since the number of lines is not known in advance.
    """
    numbers = _Numbers()
    tokens, offsets = {}, {}
    limits = {"texts": settings.max_text_words, "summaries": settings.max_summary_words}
    for name, lines in (("texts", texts), ("summaries", summaries)):
        sentences = map(Tokenizer(settings.digits).words, lines)
        tokens[name], offsets[name] = _number_words(sentences, numbers, limits[name], name, report)
    words, places = _sort_by_frequency(numbers, list(tokens.values()))
    folder.mkdir(parents=True, exist_ok=True)
    Lexicon(words).save(folder / "lexicon.txt")
    corpora = {name: Corpus(places[tokens[name]], offsets[name]) for name in limits}
    if settings.judge_share:
        corpora["summaries"], corpora[JUDGE] = _set_aside(corpora["summaries"], settings.judge_share)
    for name, corpus in corpora.items():
        corpus.save(folder, name)


def _set_aside(corpus: Corpus, share: float) -> tuple[Corpus, Corpus]:
    """Return the sentences to learn from and the others, evenly spaced: every 20th for a share of 0.05."""
    number = np.arange(1, len(corpus) + 1)
    aside = np.floor(number * share) > np.floor((number - 1) * share)
    return corpus.take(np.flatnonzero(~aside)), corpus.take(np.flatnonzero(aside))


def check_vocabularies(prepared: Prepared, settings: recipe.Text) -> list[str]:
    """Return a warning for each vocabulary that is larger in the recipe than the corpus has words for."""
    sizes = {
        "texts_vocabulary": len(prepared.vocab_F(settings)),
        "summaries_vocabulary": len(prepared.vocab_S(settings)),
        "joint_vocabulary": len(prepared.joint(settings)),
    }
    return [
        f"text.{name} is {getattr(settings, name):,}, but there are only {size:,} distinct words: all of them are used"
        for name, size in sizes.items()
        if size < getattr(settings, name)
    ]


class _Numbers(dict[str, int]):
    """Numbers words as they come."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def _number_words(
    sentences: Iterable[list[str]], numbers: _Numbers, limit: int, name: str, report: Report
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return all word numbers end to end, and where each sentence starts; sentences without words are left out."""
    tokens, ends = array("i"), array("q", [0])
    report(Progress(0, 0, "lines", name))
    for done, sentence in enumerate(sentences, 1):
        tokens.extend(map(numbers.__getitem__, sentence[:limit]))
        if len(tokens) > ends[-1]:
            ends.append(len(tokens))
        if done % _REPORT_EVERY == 0:
            report(Progress(done, 0, "lines", name))
    found = np.frombuffer(tokens, dtype=np.int32)
    distinct = len(np.unique(found))
    if distinct < _MIN_WORDS:
        raise InputError(
            f"{name}: {len(ends) - 1} lines with {distinct} distinct words; "
            f"expected many lines, with at least {_MIN_WORDS} distinct words, to learn from"
        )
    return found, np.frombuffer(ends, dtype=np.int64)


def _sort_by_frequency(numbers: _Numbers, tokens: list[NDArray[np.int32]]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the words, most frequent first (ties: first seen first), and the new place of each number."""
    counts = sum(np.bincount(part, minlength=len(numbers)) for part in tokens)
    order = np.argsort(-np.asarray(counts), kind="stable")
    places = np.empty(len(numbers), dtype=np.int32)
    places[order] = np.arange(len(SPECIALS), len(SPECIALS) + len(order), dtype=np.int32)
    words = list(numbers)
    return [*SPECIALS, *(words[number] for number in order)], places


def _relative_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Relative frequencies times 2 ** 50, rounded so that they can be compared exactly."""
    shares: NDArray[np.float64] = counts / counts.sum()
    return np.round(shares * 2.0**50).astype(np.int64)


def usual_length(decoding: recipe.Decoding, summaries: Corpus) -> recipe.Decoding:
    """Put the summaries' mean length in the place of a minimum of 0: beam search alone ends too soon."""
    if decoding.min_words or not len(summaries):
        return replace(decoding, min_words=max(1, decoding.min_words))
    return replace(decoding, min_words=min(decoding.max_words, max(1, round(float(summaries.lengths.mean())))))
