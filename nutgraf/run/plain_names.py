"""What a summarizer is called where people read who have not read the paper: "Best", "Cuts only", "Found" ...

`present` decides it for the page, the API and the report. The paper's names stay next to these: commands expect them.
"""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.run.names import AGREED, ALL, MIXED, NEAR, ModelName

BEST = "Best"
TOGETHER, COMPARISON = "Together", "With real pairs"  # families of models


@dataclass(frozen=True)
class _Chain:
    """What people read of the models of a chain."""

    family: str
    initial: str  # the title of its initializer
    does: str  # what the initializer does
    learned: str  # what its summarizers learned from: their title
    how: str  # the same in more words


_WRITTEN = "learned from real summaries and texts that were written for them by a model that had seen"
_CHAINS = {
    "pr-thr": _Chain(
        "Swapping words", "Swaps words", "replaces each word by the nearest word of summaries", "swaps",
        f"{_WRITTEN} swaps",
    ),
    "dbae": _Chain(
        "Rewriting", "Loose words", "writes a sentence from the text's words, whatever their order", "loose words",
        f"{_WRITTEN} loose words",
    ),
    "mu1": _Chain(
        "Cutting", "Cuts only", "keeps the words that a summary would have, and cuts the others", "cuts",
        f"{_WRITTEN} cuts",
    ),
    NEAR: _Chain(
        "Finding", "Found", "finds the nearest real summary", "found pairs",
        "learned from texts and the real summaries that were found for them",
    ),
    MIXED: _Chain(TOGETHER, "", "", "the paper's chains", "learned from what the chains of the paper made"),
    ALL: _Chain(TOGETHER, "", "", "all chains", "learned from what the other models made and found"),
    AGREED: _Chain(TOGETHER, "", "", "", "takes the line that two models agree on and that tells most of the text"),
}  # fmt: skip


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
    if model.aligned_limit:
        return f"Tuned on {model.aligned_limit:,} real pairs{later}"
    if model.teacher:
        return f"Teacher {model.teacher.upper()}{later}"
    if model.chain == AGREED:
        return f"Agreed on by two{later}"
    return f"Learned from {chain.learned}{later}" if loop else chain.initial


def _describe(model: ModelName) -> str:
    if model.supervised:
        return "learned from texts and their real summaries, for comparison"
    if model.initial:
        return _CHAINS[model.chain].does
    if model.teacher:
        return f"one of the models that {ModelName(model.chain, model.iteration)} learned from"
    tuned = f", then from {model.aligned_limit:,} texts with their real summaries" if model.aligned_limit else ""
    return f"{_CHAINS[model.chain].how}{tuned}"
