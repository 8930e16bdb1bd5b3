"""What is stored of agreed-N: the names of its models, how they are weighed, and trigrams. Read without torch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nutgraf import recipe
from nutgraf.errors import RunError
from nutgraf.files import naming, read_json
from nutgraf.run.names import AGREED, ALL, CUTTER, NEAR, ModelName
from nutgraf.text.lexicon import Ids
from nutgraf.text.trigrams import Trigrams

MEMBERS, FLUENCY = "agreed.json", "trigrams.npz"


@dataclass(frozen=True)
class Members:
    """Whose proposals agreed-N chooses from, and how. Its models are in their own folders."""

    summarizers: tuple[str, ...]  # the first one explains
    expander: str | None  # none: nothing is weighed by it
    weights: recipe.Agreement
    fluency: Trigrams
    made_from: dict[str, str]  # the digest of each model's files: other models make another agreed-N
    cutter: str | None = None  # mu1-0, if it proposes lines, too

    @property
    def names(self) -> tuple[str, ...]:
        """All seq2seq models."""
        return (*self.summarizers, *([self.expander] if self.expander else []))

    @property
    def beams(self) -> list[int]:
        """How many summaries each summarizer proposes: fewer, if it learned to write initial ones."""
        own = [ModelName.parse(name).chain in (ALL, NEAR) for name in self.summarizers]
        return [self.weights.beam if usual else self.weights.initial_beam for usual in own]

    def only(self, ids: Ids) -> Members:
        """Return the same for a lexicon of these words."""
        return replace(self, fluency=self.fluency.only(ids))

    def save(self, folder: Path) -> None:
        """Write two files."""
        table = {
            "summarizers": self.summarizers,
            "expander": self.expander,
            "cutter": self.cutter,
            "weights": asdict(self.weights),
            "made_from": self.made_from,
        }
        (folder / MEMBERS).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        self.fluency.save(folder / FLUENCY)

    @classmethod
    def load(cls, folder: Path, lexicon: int | None = None) -> Members:
        """Read what `save` wrote; `lexicon` is the number of words that it must be for. A RunError names the file.

        The files may be a stranger's: its members are names of models, and no other places.
        """
        with naming(folder / MEMBERS):
            table = read_json(folder / MEMBERS)
            if "weights" not in table or "cutter" not in table:
                raise RunError(
                    f"{folder / MEMBERS}: an earlier version of nutgraf made it. The `nutgraf train` command of its "
                    "run redoes this step in seconds; then export once more, if this is an export"
                )
            summarizers, expander, cutter = tuple(table["summarizers"]), table["expander"], table["cutter"]
            parsed = [ModelName.parse(name) for name in (*summarizers, *([] if expander is None else [expander]))]
            if not summarizers or any(name.chain == AGREED or name.initial for name in parsed):
                raise ValueError("members that are no trained models")
            if cutter not in (None, str(CUTTER)):
                raise ValueError(f"a cutter that is not {CUTTER}")
            weights, made_from = recipe.Agreement(**table["weights"]), dict(table["made_from"])
        with naming(folder / FLUENCY):
            fluency = Trigrams.load(folder / FLUENCY)
            if lexicon is not None and len(fluency.classes) != lexicon:
                raise ValueError(f"made for a lexicon of {len(fluency.classes):,} words, and this one has {lexicon:,}")
        return cls(summarizers, expander, weights, fluency, made_from, cutter)
