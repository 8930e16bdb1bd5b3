"""The paper's Tables 2 and 3 (Section 4) with our rows. The paper's own figures are of another corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import rich.box
import rich.table

from nutgraf.evaluation.scores import RESAMPLES, Comparison
from nutgraf.run.evaluations import Estimate, Row
from nutgraf.run.names import ModelName, is_baseline, lead_words
from nutgraf.run.systems import SYSTEMS

WIDTH = 100  # characters of a terminal that a table needs
NARROW = 80  # characters that it needs without these
_SPARED = ("copied", "rep.")  # and intervals


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
        """What the scores were measured on."""
        return self._describe(wide=True)

    def _describe(self, wide: bool) -> str:
        spared = (
            f"In brackets: 95 % bootstrap intervals, {RESAMPLES:,} resamples; copied: words that are in the input;"
            " rep.: bigrams that repeat"
            if wide
            else "Intervals: in a wider window, in the report, or with --markdown"
        )
        return (
            f"{self.rows[0].pairs:,} pairs. {self.rows[0].signature}. {spared}; bold: best unsupervised score; words:"
            " mean length; bits: bits per word under a language model of real summaries, as a multiple of the"
            " references' (1.00: as fluent as they are); unsup.: summaries with a name or number that is not in the"
            " input; contr.: summaries that contradict a direction (rise, fall) in the input, or lose a negation."
        )

    @property
    def columns(self) -> list[str]:
        """The heads of the columns."""
        return [
            "",
            *(["Sup."] if self.sup else []),
            "R-1",
            "R-2",
            "R-L",
            "words",
            "copied",
            "rep.",
            "bits",
            "unsup.",
            "contr.",
        ]

    def cells(self, row: Row, bold: Callable[[str], str], intervals: bool = True) -> list[str]:
        """Return a row's cells as text; a mean goes through `bold` where it is the best."""
        scores = []
        for measure in ("r1", "r2", "rl"):
            estimate: Estimate = getattr(row, measure)
            mean = f"{estimate.mean:.2f}"
            best = row.aligned == 0 and mean == self._best(measure)
            interval = f" ({estimate.low:.1f}–{estimate.high:.1f})" if intervals else ""
            scores.append((bold(mean) if best else mean) + interval)
        sup = [_count(row.aligned)] if self.sup else []
        shares = [f"{row.words:.1f}", f"{row.copied:.0%}", f"{row.repeated:.1%}"]
        reading = [_known(row.bits, ".2f"), _known(row.unsupported, ".1%"), _known(row.contradicted, ".1%")]
        return [row.name, *sup, *scores, *shares, *reading]

    def _best(self, measure: str) -> str:
        means = [getattr(row, measure).mean for row in self.rows if row.aligned == 0]
        return f"{max(means):.2f}" if means else ""

    def markdown(self) -> str:
        """Return the table as Markdown, with its title and note."""
        lines = [_line(self.columns), _line(["---", *["---:"] * (len(self.columns) - 1)])]
        lines += [_line(self.cells(row, lambda mean: f"**{mean}**")) for row in self.rows]
        return "\n".join([f"{self.title}", "", *lines, "", self.note, ""])

    def rich(self, width: int = WIDTH) -> rich.table.Table:
        """Return the table for a terminal of some width; where not all has room, it has no intervals."""
        wide = width >= WIDTH
        table = rich.table.Table(
            title=self.title, caption=self._describe(wide), caption_justify="left", box=rich.box.SIMPLE_HEAD
        )
        table.pad_edge, table.show_edge, table.collapse_padding = False, False, True
        shown = [wide or column not in _SPARED for column in self.columns]
        for column in compress(self.columns, shown):
            # An interval may go below its mean, and nothing else.
            score = wide and column.startswith("R-")
            table.add_column(
                column, justify="right" if column else "left", no_wrap=not score, min_width=11 if score else None
            )
        for group in self.groups:
            for row in group:
                table.add_row(*compress(self.cells(row, lambda mean: f"[bold]{mean}[/bold]", intervals=wide), shown))
            table.add_section()
        return table


@dataclass(frozen=True)
class ComparisonTable:
    """By how much one system scores above another on the same pairs."""

    names: tuple[str, str]
    comparison: Comparison

    @property
    def title(self) -> str:
        """The two systems."""
        return f"{self.names[0]} against {self.names[1]}"

    @property
    def note(self) -> str:
        """What the differences were measured on."""
        return (
            f"{self.comparison.pairs:,} pairs. {self.comparison.signature}. Paired bootstrap, {RESAMPLES:,} resamples;"
            f" p: of {self.names[0]} being no better than {self.names[1]}."
        )

    @property
    def lines(self) -> list[list[str]]:
        """The heads of the columns, then a line per measure."""
        found = [["", "difference", "95 % interval", "p"]]
        for head, difference in zip(
            ("R-1", "R-2", "R-L"), (self.comparison.r1, self.comparison.r2, self.comparison.rl), strict=True
        ):
            by = difference.by
            found.append([head, f"{by.mean:+.2f}", f"{by.low:+.2f} to {by.high:+.2f}", f"{difference.p:.3f}"])
        return found

    def markdown(self) -> str:
        """Return the table as Markdown, with its title and note."""
        head, *lines = self.lines
        rows = [_line(head), _line(["---", *["---:"] * 3]), *map(_line, lines)]
        return "\n".join([self.title, "", *rows, "", self.note, ""])

    def rich(self, width: int = WIDTH) -> rich.table.Table:
        """Return the table for a terminal of any width."""
        table = rich.table.Table(
            title=self.title, title_justify="left", caption=self.note, caption_justify="left", box=rich.box.SIMPLE_HEAD
        )
        head, *lines = self.lines
        for column in head:
            table.add_column(column, justify="right" if column else "left", no_wrap=True)
        for line in lines:
            table.add_row(*line)
        return table


def tables(rows: Sequence[Row]) -> list[Table]:
    """Arrange rows as the paper's Table 2 (baselines, initializers) and Table 3 (full systems); none without rows.

    Rows that were not scored alike do not belong into one table.
    """
    if len({(row.pairs, row.signature) for row in rows}) > 1:
        raise ValueError("rows of one table must be scored on the same pairs by the same scorer")
    names = {row.name: ModelName.find(row.name) for row in rows}
    others = {name for name in names if is_baseline(name)}
    full_systems = {name for name in others if (model := names[name]) and SYSTEMS[model.chain].full}
    baselines = [row for row in rows if lead_words(row.name) or row.name in others - full_systems]
    initial = [row for row in rows if (name := names[row.name]) and name.initial and row.name not in others]
    full = [row for row in rows if row not in baselines and row not in initial]
    unsupervised = sorted((row for row in full if row.aligned == 0), key=lambda row: row.name in full_systems)
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


def _known(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
