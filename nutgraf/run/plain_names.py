"""What a summarizer is called where people read who have not read the paper: "Best", "Cuts only", "Found" ...

`present` decides it for the page, the API and the report. The paper's names stay next to these: commands expect them.
"""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.recipe import BASELINES, WITH_PAIRS
from nutgraf.run.names import AGREED, ALL, MIXED, NEAR, ModelName
from nutgraf.run.systems import SYSTEMS

BEST = "Best"
TOGETHER, OTHERS, COMPARISON = "Together", "Other systems", "With real pairs"  # families of models


@dataclass(frozen=True)
class _Chain:
    """What people read of the models of a chain; `systems` has what they read of the first one."""

    family: str
    learned: str  # what its summarizers learned from: their title
    how: str  # the same in more words


_WRITTEN = "learned from real summaries and texts that were written for them by a model that had seen"
_CHAINS = {
    "pr-thr": _Chain("Swapping words", "swaps", f"{_WRITTEN} swaps"),
    "dbae": _Chain("Rewriting", "loose words", f"{_WRITTEN} loose words"),
    "mu1": _Chain("Cutting", "cuts", f"{_WRITTEN} cuts"),
    NEAR: _Chain("Finding", "found pairs", "learned from texts and the real summaries that were found for them"),
    **{name: _Chain(OTHERS, f"{name}'s", f"{_WRITTEN} summaries of {name}-0") for name in (*BASELINES, *WITH_PAIRS)},
    MIXED: _Chain(TOGETHER, "the paper's chains", "learned from what the chains of the paper made"),
    ALL: _Chain(TOGETHER, "all chains", "learned from what the other models made and found"),
    AGREED: _Chain(TOGETHER, "", "takes the line that two models agree on and that tells most of the text"),
}


@dataclass(frozen=True)
class PlainName:
    """A summarizer as people meet it."""

    title: str  # "Cuts only"
    description: str  # one line
    family: str  # the models of a family belong side by side
    loop: int  # of back-translation; 0: an initializer


def present(name: str, best: str | None = None) -> PlainName:
    """Say what a summarizer is; `best` is the name of the best one that there is. Any other name is its own title."""
    model = ModelName.find(name)
    if model is None:
        return PlainName(name, "", name, 0)
    title = BEST if name == best else _title(model)
    family = _CHAINS[model.chain].family if model.unsupervised else COMPARISON
    return PlainName(title, _describe(model), family, model.iteration // 2)


def _title(model: ModelName) -> str:
    if model.supervised:
        return "Taught by real pairs"
    chain, loop = _CHAINS[model.chain], model.iteration // 2
    later = f", loop {loop}" if loop > 1 else ""
    if not model.unsupervised:
        pairs = "all" if model.every_pair else f"{model.aligned_limit:,}"
        return (
            f"{SYSTEMS[model.chain].title}, {pairs} real pairs" if loop == 0 else f"Tuned on {pairs} real pairs{later}"
        )
    if model.teacher:
        return f"Teacher {model.teacher.upper()}{later}"
    if model.chain == AGREED:
        return f"Agreed on by two{later}"
    if loop == 0 and model.chain in SYSTEMS:
        return SYSTEMS[model.chain].title
    return f"Learned from {chain.learned}{later}"


def _describe(model: ModelName) -> str:
    if model.supervised:
        return "learned from texts and their real summaries, for comparison"
    if model.initial and model.chain in SYSTEMS:
        return SYSTEMS[model.chain].does
    if model.teacher:
        return f"one of the models that {ModelName(model.chain, model.iteration)} learned from"
    how = SYSTEMS[model.chain].does if model.iteration == 0 else _CHAINS[model.chain].how
    pairs = "all" if model.every_pair else f"{model.aligned_limit:,}"
    return how if model.unsupervised else f"{how}, then from {pairs} texts with their real summaries"
