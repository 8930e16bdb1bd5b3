"""Evaluation: what a system's summaries score, and the paper's Tables 2 and 3 (Section 4) of such rows.

A row holds ROUGE with bootstrap intervals, and what is needed to read a ROUGE score: mean length, share of words copied
from the input, repeated bigrams, the number of pairs and the scorer's signature. It runs no model, and it does not put
the paper's own figures beside ours: they are from another corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import rich.box
import rich.table
from numpy.typing import NDArray

from nutgraf.errors import InputError
from nutgraf.rouge import Scores, rouge

RESAMPLES = 1000
COVERED = (2.5, 97.5)  # percentiles: the middle 95 %


@dataclass(frozen=True)
class Estimate:
    """A mean over all pairs and its 95 % bootstrap percentile interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """What one system scores. ROUGE is F1 x 100; shares are from 0 to 1."""

    name: str  # the paper's: Lead-8, pr-thr-0, dbae-2, mu1-2, all-2
    aligned: int  # how many aligned pairs the system was trained on: the paper's "Sup."
    r1: Estimate
    r2: Estimate
    rl: Estimate
    words: float  # mean length of an output
    copied: float  # share of the outputs' words that are in their inputs
    repeated: float  # share of the outputs' bigrams that occurred earlier in the same output
    pairs: int
    signature: str


def evaluate(
    name: str,
    predictions: Sequence[str],
    sources: Sequence[str],
    references: Sequence[str],
    seed: int,
    aligned: int = 0,
) -> Row:
    """Score a system's outputs. Texts are tokenised, words apart by blanks; case does not matter."""
    if not predictions:
        raise InputError(f"{name}: no pairs to evaluate on; expected at least one line of text <tab> summary")
    scores = rouge(predictions, references)
    r1, r2, rl = bootstrap(100 * _matrix(scores), seed)
    outputs = [line.lower().split() for line in predictions]
    inputs = [line.lower().split() for line in sources]
    return Row(
        name=name,
        aligned=aligned,
        r1=r1,
        r2=r2,
        rl=rl,
        words=sum(map(len, outputs)) / len(outputs),
        copied=copied_share(outputs, inputs),
        repeated=repeated_share(outputs),
        pairs=len(outputs),
        signature=scores.signature,
    )


def copied_share(outputs: Sequence[Sequence[str]], inputs: Sequence[Sequence[str]]) -> float:
    """Return the share of all output words that are also in the input of their output."""
    copied = sum(
        word in known
        for words, known in zip(outputs, map(frozenset, inputs), strict=True)
        for word in words  # each occurrence counts
    )
    return copied / max(sum(map(len, outputs)), 1)


def repeated_share(outputs: Sequence[Sequence[str]]) -> float:
    """Return the share of all bigrams that occurred earlier in the same output."""
    bigrams = [list(pairwise(words)) for words in outputs]
    total = sum(map(len, bigrams))
    return (total - sum(len(set(found)) for found in bigrams)) / max(total, 1)


def bootstrap(scores: NDArray[np.float64], seed: int) -> list[Estimate]:
    """Estimate the mean of each column of (pairs, measures); the same seed draws the same pairs for every system."""
    means = _resampled_means(scores, seed)
    low, high = np.percentile(means, COVERED, axis=0)
    return [Estimate(*map(float, triple)) for triple in zip(scores.mean(axis=0), low, high, strict=True)]


def _resampled_means(scores: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return (RESAMPLES, measures): the means of as many pairs drawn with replacement."""
    generator = np.random.default_rng(seed)
    pairs = len(scores)
    return np.stack([scores[generator.integers(pairs, size=pairs)].mean(axis=0) for _ in range(RESAMPLES)])


def _matrix(scores: Scores) -> NDArray[np.float64]:
    return np.stack([scores.r1, scores.r2, scores.rl], axis=1)  # (pairs, 3)


@dataclass(frozen=True)
class Difference:
    """By how much A scores above B, and the probability that this is an accident of the pairs drawn."""

    by: Estimate
    p: float  # of A being no better than B: the share of resamples in which it was not


@dataclass(frozen=True)
class Comparison:
    """A paired bootstrap test of two systems on the same pairs, in each measure."""

    r1: Difference
    r2: Difference
    rl: Difference
    pairs: int
    signature: str


def compare(a: Sequence[str], b: Sequence[str], references: Sequence[str], seed: int) -> Comparison:
    """Test whether system A is better than system B (paired bootstrap, Koehn 2004)."""
    if not references:
        raise InputError("no pairs to compare systems on; expected at least one line of text <tab> summary")
    scores = rouge(a, references)
    gains = 100 * (_matrix(scores) - _matrix(rouge(b, references)))
    no_better = (_resampled_means(gains, seed) <= 0).sum(axis=0)
    # One is added, so that a finite number of resamples never claims certainty.
    p = (no_better + 1) / (RESAMPLES + 1)
    r1, r2, rl = (Difference(by, float(p_value)) for by, p_value in zip(bootstrap(gains, seed), p, strict=True))
    return Comparison(r1, r2, rl, len(references), scores.signature)


@dataclass(frozen=True)
class Table:
    """One of the paper's tables with our rows, in groups that a line divides."""

    title: str
    groups: tuple[tuple[Row, ...], ...]
    sup: bool  # whether it has the "Sup." column

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, from the top."""
        return tuple(row for group in self.groups for row in group)

    @property
    def note(self) -> str:
        """What the scores are of: without it, they say nothing."""
        return (
            f"{self.rows[0].pairs:,} pairs. {self.rows[0].signature}. In brackets: 95 % bootstrap intervals,"
            f" {RESAMPLES:,} resamples; bold: best unsupervised score; words: mean length; copied: words that are in"
            " the input; rep.: bigrams that repeat."
        )

    @property
    def columns(self) -> list[str]:
        """The heads of the columns."""
        return ["", *(["Sup."] if self.sup else []), "R-1", "R-2", "R-L", "words", "copied", "rep."]

    def cells(self, row: Row, bold: Callable[[str], str]) -> list[str]:
        """Return a row's cells as text; a mean goes through `bold` where it is the best."""
        scores = []
        for measure in ("r1", "r2", "rl"):
            estimate: Estimate = getattr(row, measure)
            mean = f"{estimate.mean:.2f}"
            best = row.aligned == 0 and mean == self._best(measure)
            scores.append(f"{bold(mean) if best else mean} ({estimate.low:.1f}–{estimate.high:.1f})")
        sup = [_count(row.aligned)] if self.sup else []
        return [row.name, *sup, *scores, f"{row.words:.1f}", f"{row.copied:.0%}", f"{row.repeated:.1%}"]

    def _best(self, measure: str) -> str:
        means = [getattr(row, measure).mean for row in self.rows if row.aligned == 0]
        return f"{max(means):.2f}" if means else ""

    def markdown(self) -> str:
        """Return the table as Markdown, with its title and note."""
        lines = [_line(self.columns), _line(["---", *["---:"] * (len(self.columns) - 1)])]
        lines += [_line(self.cells(row, lambda mean: f"**{mean}**")) for row in self.rows]
        return "\n".join([f"{self.title}", "", *lines, "", self.note, ""])

    def rich(self) -> rich.table.Table:
        """Return the table for a terminal."""
        table = rich.table.Table(title=self.title, caption=self.note, caption_justify="left", box=rich.box.SIMPLE_HEAD)
        table.pad_edge, table.show_edge, table.collapse_padding = (
            False,
            False,
            True,
        )  # eight columns go into a terminal of 80
        for column in self.columns:
            # In a narrow terminal an interval may go below its mean, and nothing else.
            score = column.startswith("R-")
            table.add_column(
                column, justify="right" if column else "left", no_wrap=not score, min_width=11 if score else None
            )
        for group in self.groups:
            for row in group:
                table.add_row(*self.cells(row, lambda mean: f"[bold]{mean}[/bold]"))
            table.add_section()
        return table


def tables(rows: Sequence[Row]) -> list[Table]:
    """Arrange rows as the paper's Table 2 (baselines, initializers) and Table 3 (full systems); none without rows.

    Rows that were not scored alike do not belong into one table.
    """
    if len({(row.pairs, row.signature) for row in rows}) > 1:
        raise ValueError("rows of one table must be scored on the same pairs by the same scorer")
    baselines = [row for row in rows if re.match(r"(?i)(lead-\d+|pbsmt|pre-dae)$", row.name)]
    initial = [row for row in rows if row.name.endswith("-0") and row.aligned == 0 and row not in baselines]
    full = [row for row in rows if row not in baselines and row not in initial]
    unsupervised = [row for row in full if row.aligned == 0]
    supervised = sorted((row for row in full if row.aligned > 0), key=lambda row: row.aligned)
    made = [
        _table("Table 2: baselines and initializers", [baselines, initial], sup=False),
        _table("Table 3: full systems", [unsupervised, supervised], sup=True),
    ]
    return [table for table in made if table.groups]


def _table(title: str, groups: Sequence[Sequence[Row]], sup: bool) -> Table:
    return Table(title, tuple(tuple(group) for group in groups if group), sup)


def _count(pairs: int) -> str:
    """Write a number of aligned pairs as the paper does: 0, 500, 10K, 3.8M."""
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if pairs >= size:
            return f"{pairs / size:.1f}".removesuffix(".0") + letter
    return str(pairs)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
