"""Which summarizers are served, which of them by default, and what the server needs of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from nutgraf.run.folder import Choice, Run
from nutgraf.run.names import ModelName, latest
from nutgraf.summarizing.export import Export
from nutgraf.summarizing.summarizer import Summarizer, SummaryOptions, SummaryResult, language_of, locate

_CHAINS = {
    "pr-thr": "Pr-Thr: replaces each word by the nearest word of summaries",
    "dbae": "DBAE: writes a sentence from the bag of words",
    "mu1": "mu:1: keeps the words that a summary would have",
    "near": "near: finds the nearest real summary",
    "mixed": "Mixed: learned from the paper's chains together, without near",
    "all": "All: learned from all the other chains together",
}


class ServedModel(Protocol):
    """What the server needs of a `nutgraf.Summarizer`."""

    def answer(self, texts: Sequence[str], options: SummaryOptions) -> list[SummaryResult]:
        """Summarize: one result for each text, in the same order."""


@dataclass(frozen=True)
class Models:
    """Summarizers by name, in the order of the paper's tables; `default` is for requests that name none."""

    default: Choice
    by_name: Mapping[str, ServedModel]

    @classmethod
    def load(cls, path: Path, names: Sequence[str], device: torch.device) -> Models:
        """Load the named summarizers of a run or export, or all of them; `run/mu1-2` is that one alone.

        All are loaded now: a damaged one is an error before the first request, not during one.
        """
        run, found = locate(path, None)
        named = found.name if run.folder != path else None
        wanted = list(dict.fromkeys(names)) or ([named] if named else run.summarizers())
        language = language_of(run)
        by_name = {name: Summarizer.of(run, name, device, language) for name in wanted}
        return cls(_choose_default(run, named, wanted), by_name)


def _choose_default(run: Run | Export, named: str | None, wanted: Sequence[str]) -> Choice:
    if len(wanted) == 1:
        return Choice(wanted[0], "the only model served")
    best = Choice(named, "the model that --model names") if named else run.best()
    if best and best.name in wanted:
        return best
    return Choice(latest(wanted) or wanted[0], "the run's best model is not served")


def describe_model(name: str) -> str:
    """Say in a few words what a summarizer is, for people who have not read the paper."""
    parsed = ModelName.find(name)
    if parsed is None or parsed.supervised:
        return "Trained on aligned pairs, for comparison" if parsed else ""
    loops = parsed.iteration // 2
    stage = f"after back-translation, loop {loops}" if loops else "before back-translation"
    finetuned = f", fine-tuned on {parsed.aligned_limit:,} aligned pairs" if parsed.aligned_limit else ""
    return f"{_CHAINS[parsed.chain]}; {stage}{finetuned}"
