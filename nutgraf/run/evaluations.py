"""What `nutgraf evaluate` keeps in a run: RUN/evaluation/<pairs>.json, the rows, and <pairs>/, the outputs.

An evaluation of some models, or of the first pairs alone, never takes the place of a fuller one: rows of other models
stay, as long as those models are the same, and a limit or another file of the same name has a name of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nutgraf.errors import NutgrafError, RunError
from nutgraf.files import naming, read_json, read_text, write_atomically
from nutgraf.run.inputs import Source, read_pairs_source

FOLDER = "evaluation"
_MOST_OUTPUT = 1 << 30  # bytes of one system's summaries


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
    # How it reads; None where it was not measured: by an earlier version, or for want of held-out summaries.
    bits: float | None = None  # per word under a language model of real summaries, as a multiple of the references'
    unsupported: float | None = None  # share of outputs with a name or a number that is not in their input
    contradicted: float | None = None  # share of outputs that say the opposite of a direction in their input

    @property
    def mean_rouge(self) -> float:
        """The mean of the three scores; R-2, which sees the order of words, tells systems apart that R-L does not."""
        return (self.r1.mean + self.r2.mean + self.rl.mean) / 3

    @classmethod
    def from_table(cls, table: Any) -> Row:
        """Read what `asdict` made; anything else is a ValueError, TypeError or KeyError."""
        estimates = {key: Estimate(**table[key]) for key in ("r1", "r2", "rl")}
        row = cls(**{**table, **estimates})
        scores = [score for estimate in estimates.values() for score in (estimate.mean, estimate.low, estimate.high)]
        optional = [value for value in (row.bits, row.unsupported, row.contradicted) if value is not None]
        figures = [*scores, row.words, row.copied, row.repeated, row.aligned, row.pairs, *optional]
        if not all(type(figure) in (int, float) and math.isfinite(figure) for figure in figures):
            raise ValueError("a row with something other than figures")
        if not all(type(text) is str and text.isprintable() for text in (row.name, row.signature)):
            raise ValueError("a row without a name")
        return row


@dataclass(frozen=True)
class Evaluation:
    """The rows of one file of pairs."""

    path: Path  # of the rows; the outputs are in a folder beside it
    source: Source
    rows: tuple[Row, ...]
    models: Mapping[str, str]  # the digest of each model that was evaluated, and of how it was decoded

    @property
    def name(self) -> str:
        """What it is called: test for test.tsv."""
        return self.path.stem

    @classmethod
    def load(cls, path: Path) -> Evaluation:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(path):
            table = read_json(path)
            rows = tuple(Row.from_table(row) for row in table["rows"])
            models = {str(name): str(digest) for name, digest in table["models"].items()}
            return cls(path, Source.from_table(table["pairs"]), rows, models)

    @classmethod
    def find(cls, path: Path) -> Evaluation | None:
        """Read what `save` wrote; None where there is nothing, or nothing that can be read."""
        with suppress(OSError, RunError):
            return cls.load(path)
        return None

    @classmethod
    def place(cls, run: Path, source: Source) -> Path:
        """Return where the evaluation of a file of pairs, or of its first pairs, is or would be."""
        name = _stem(source.path) + (f"-first-{source.limit}" if source.limit else "")
        path = run / FOLDER / f"{name}.json"
        earlier = cls.find(path)
        if earlier and earlier.source.digest != source.digest:
            return path.with_name(f"{name}-{source.digest[:8]}.json")
        return path

    def save(self) -> None:
        """Write the rows."""
        table = {"pairs": asdict(self.source), "models": dict(self.models), "rows": [asdict(row) for row in self.rows]}
        write_atomically(self.path, json.dumps(table, indent=1).encode())

    def merged(self, earlier: Evaluation, order: Sequence[str], digests: Mapping[str, str]) -> Evaluation:
        """Add the rows of an earlier evaluation of the same pairs, where their models are still the same."""
        new = {row.name: row for row in self.rows}
        kept = {
            row.name: row
            for row in earlier.rows
            if row.name not in new and earlier.models.get(row.name) == digests.get(row.name)
        }
        rows = new | kept
        models = {name: digests[name] for name in rows if name in digests}
        return Evaluation(self.path, self.source, tuple(rows[name] for name in order if name in rows), models)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs that were evaluated; none where the file is no longer there or is another one now."""
        try:
            if not Path(self.source.path).is_file():  # a stranger may have written the name of a pipe
                return []
            source, pairs = read_pairs_source(self.source.path, self.source.limit)
            return pairs if source.digest == self.source.digest else []
        except (NutgrafError, OSError):
            return []

    def outputs_path(self, name: str) -> Path:
        """Return where a system's summaries are, one a line."""
        return self.path.with_suffix("") / f"{name}.txt"

    def outputs(self, name: str) -> list[str]:
        """Return a system's summaries."""
        return read_text(self.outputs_path(name), _MOST_OUTPUT).split("\n")[:-1]


def evaluations(run: Path) -> list[Evaluation]:
    """Return all evaluations of a run, by their names; a damaged one is a RunError."""
    return [Evaluation.load(path) for path in sorted((run / FOLDER).glob("*.json"))]


def _stem(path: str) -> str:
    """Return the name of a file without its endings: test for data/test.tsv.xz."""
    name = Path(path).name
    for ending in (".gz", ".xz", ".tsv", ".txt"):
        name = name.removesuffix(ending)
    return name or "pairs"
