"""Which summarizers are served, which of them by default, and what the server needs of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nutgraf.errors import RunError
from nutgraf.progress import ShouldStop
from nutgraf.run.folder import Choice, Run
from nutgraf.run.names import latest
from nutgraf.summarizing.export import Export
from nutgraf.summarizing.loading import language_of, locate
from nutgraf.summarizing.results import SummaryOptions, SummaryResult
from nutgraf.summarizing.summarizer import Summarizer

if TYPE_CHECKING:
    import torch


class ServedModel(Protocol):
    """What the server needs of a `nutgraf.Summarizer`."""

    def answer(self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop) -> list[SummaryResult]:
        """Summarize: one result for each text, in the same order; raise Stopped soon after `should_stop` is true."""

    def count_work(self, texts: int, options: SummaryOptions) -> int:
        """Return how much work an answer may be; options that the model cannot follow are an InputError."""


@dataclass(frozen=True)
class Models:
    """Summarizers by name, in the order of the paper's tables; `default` is for requests that name none."""

    default: Choice
    by_name: Mapping[str, ServedModel]
    best: str | None = None  # of the whole run, served or not

    @classmethod
    def load(cls, path: Path, names: Sequence[str], device: str | torch.device = "cpu") -> Models:
        """Load the named summarizers of a run or export, or all of them; `run/mu1-2` is that one alone.

        All are loaded now: a damaged one is an error before the first request, not during one.
        """
        run, found = locate(path, None)
        named = found.name if run.folder != path else None
        wanted = list(dict.fromkeys(names)) or ([named] if named else run.summarizers())
        language = language_of(run)
        by_name = {name: Summarizer.of(run, name, device, language) for name in wanted}
        best = _find_best(run, named)
        return cls(_choose_default(best, named, wanted), by_name, best.name if best else None)


def _find_best(run: Run | Export, named: str | None) -> Choice | None:
    """Return the best of the whole run; where one is named, it does no harm that the best is gone."""
    try:
        return run.best()
    except RunError:
        if named:
            return None
        raise


def _choose_default(best: Choice | None, named: str | None, wanted: Sequence[str]) -> Choice:
    if len(wanted) == 1:
        return Choice(wanted[0], "the only model served")
    default = Choice(named, "the model that --model names") if named else best
    if default and default.name in wanted:
        return default
    return Choice(latest(wanted) or wanted[0], "the run's best model is not served")
