"""From lines of text to what every later step reads: one lexicon and two memory-mapped corpora of word ids.

A third corpus may hold some of the summaries, which no model sees: evaluation judges by them how fluent summaries are.

Words are numbered as they come, part by part (see numbering), and renumbered by their frequency in both corpora at the
end, so each corpus is tokenised once. The vocabularies of each side, V^F and V^S (Section 4 and the appendix), and the
joint one of the models that copy, follow from the counts. It reads no text, and holds no corpus in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nutgraf import recipe
from nutgraf.errors import InputError
from nutgraf.text.corpus import Corpus, CorpusWriter
from nutgraf.text.lexicon import SPECIALS, Lexicon, Vocab
from nutgraf.text.numbering import SUMMARIES, Parts, merge_words, open_part

_MIN_WORDS = 10  # distinct words, below which nothing can be learned
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


def prepare(parts: Parts, settings: recipe.Text, folder: Path) -> None:
    """Write `lexicon.txt` and the corpora `texts` and `summaries` to the folder, and `judge` if its share is not 0."""
    words, tables, counts = merge_words(parts)
    for side, paths in parts.items():
        _check_words(side, sum(len(open_part(path)) for path in paths), int(np.count_nonzero(counts[side])))
    folder.mkdir(parents=True, exist_ok=True)
    Lexicon([*SPECIALS, *words]).save(folder / "lexicon.txt")
    for side, paths in parts.items():
        blocks: Iterator[Corpus] = (
            Corpus(tables[path][block.tokens], block.offsets) for path in paths for block in open_part(path).blocks()
        )
        share = settings.judge_share if side == SUMMARIES else 0.0
        with CorpusWriter(folder, side) as writer:
            if share:
                blocks = _set_aside(blocks, share, folder)
            for block in blocks:
                writer.add(block)


def _set_aside(blocks: Iterator[Corpus], share: float, folder: Path) -> Iterator[Corpus]:
    """Yield the sentences to learn from, and write the others, evenly spaced: every 20th for a share of 0.05."""
    done = 0
    with CorpusWriter(folder, JUDGE) as judge:
        for block in blocks:
            number = np.arange(done + 1, done + 1 + len(block))
            aside = np.floor(number * share) > np.floor((number - 1) * share)
            judge.add(block.take(np.flatnonzero(aside)))
            done += len(block)
            yield block.take(np.flatnonzero(~aside))


def _check_words(side: str, lines: int, distinct: int) -> None:
    if distinct < _MIN_WORDS:
        raise InputError(
            f"{side}: {lines} lines with {distinct} distinct words; "
            f"expected many lines, with at least {_MIN_WORDS} distinct words, to learn from"
        )


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


def _relative_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Relative frequencies times 2 ** 50, rounded so that they can be compared exactly."""
    shares: NDArray[np.float64] = counts / counts.sum()
    return np.round(shares * 2.0**50).astype(np.int64)


def usual_length(decoding: recipe.Decoding, summaries: Corpus) -> recipe.Decoding:
    """Put the summaries' mean length in the place of a minimum of 0: beam search alone ends too soon."""
    if decoding.min_words or not len(summaries):
        return replace(decoding, min_words=max(1, decoding.min_words))
    return replace(decoding, min_words=min(decoding.max_words, max(1, round(float(summaries.lengths.mean())))))
