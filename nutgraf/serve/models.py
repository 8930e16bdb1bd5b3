"""Which summarizers are served, and the little that the server needs of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from nutgraf.run.names import ModelName, latest
from nutgraf.summarizing.summarizer import Summarizer, SummaryOptions, SummaryResult, language_of, locate

_CHAINS = {
    "pr-thr": "Pr-Thr: each word becomes the nearest word of summaries",
    "dbae": "DBAE: a sentence written from the bag of words",
    "mu1": "mu:1: keeps the words that a summary would have",
    "all": "All: learned from the three others together",
}


class Summarizing(Protocol):
    """What the server needs of a `nutgraf.Summarizer`."""

    def answer(self, texts: Sequence[str], options: SummaryOptions) -> list[SummaryResult]:
        """Summarize: one answer a text, in the same order."""


@dataclass(frozen=True)
class Models:
    """Summarizers by name, in the order of the paper's tables, and the one that is used where none is named."""

    default: str
    by_name: Mapping[str, Summarizing]

    @classmethod
    def load(cls, path: Path, names: Sequence[str], device: torch.device) -> Models:
        """Load the named summarizers of a run, or all; `run/mu1-2` is that one alone.

        All are loaded now: a damaged one is an error before the first request, not during one.
        """
        run, default = locate(path, None)
        wanted = names or (run.summarizers() if run.folder == path else [default])
        if default not in wanted:
            default = latest(wanted) or wanted[0]
        language = language_of(run)
        return cls(default, {name: Summarizer.of(run, name, device, language) for name in dict.fromkeys(wanted)})


def described(name: str) -> str:
    """Say in a few words what a summarizer is, for people who have not read the paper."""
    found = ModelName.find(name)
    if found is None or found.supervised:
        return "Trained on aligned pairs, for comparison" if found else ""
    loops = found.iteration // 2
    stage = f"after back-translation, loop {loops}" if loops else "before back-translation"
    tuned = f", fine-tuned on {found.aligned_limit:,} aligned pairs" if found.aligned_limit else ""
    return f"{_CHAINS[found.chain]}; {stage}{tuned}"
