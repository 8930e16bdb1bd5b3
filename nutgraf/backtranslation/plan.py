"""The plan: which model is trained from which pairs, as named steps (Section 3, and Section 3.2 for All).

Names are the paper's. A chain x (pr-thr, dbae, mu1) goes x-0 (initializer), x-0.pairs, x-1 (expander), x-1.pairs,
x-2 (summarizer) and so on; all-2, all-4 ... are trained from the pairs of all chains together and are leaves. Beside
them stand `seq2seq`, trained on aligned pairs for comparison, and rows such as `all-2+10000`, the best unsupervised
summarizer fine-tuned on so many aligned pairs.

With `plan.warm` (not in the paper) fewer models start from nothing: one expander, all-1, is trained on the pairs of all
initializers, and each x-1 goes on from it; x-3 goes on from x-1, x-4 from x-2, and all-2 from the first chain's x-2.

This module names steps and what each needs; it runs nothing and reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nutgraf import recipe
from nutgraf.errors import RecipeError, RunError

# The chain with the best initializer goes first, so that a good summarizer is there early.
ORDER = ("mu1", "dbae", "pr-thr")
ALL = "all"
SUPERVISED = "seq2seq"
ALIGNED = "aligned"
TEXT = "text"
CASING = "casing"
FINE_TUNING_EPOCHS = 5  # at most, over few aligned pairs
JOINT, OF_TEXTS, OF_SUMMARIES = "embeddings", "embeddings-F", "embeddings-S"


class Kind(StrEnum):
    """What a step makes."""

    TEXT = "text"  # the lexicon and the two corpora of word ids
    CASING = "casing"  # how words are usually written
    EMBEDDINGS = "embeddings"
    ALIGNED = "aligned"  # aligned pairs as word ids: for the supervised rows only
    INITIALIZER = "initializer"
    PAIRS = "pairs"  # the artificial side of a training set
    EXPANDER = "expander"
    SUMMARIZER = "summarizer"


@dataclass(frozen=True)
class Step:
    """One piece of work: a folder that follows from its needs, its slice of the recipe and the seed."""

    name: str
    kind: Kind
    needs: tuple[str, ...] = ()
    chain: str = ""  # pr-thr, dbae, mu1, all or seq2seq
    iteration: int = 0
    start: str = ""  # the model that it goes on from; none: random weights
    aligned_limit: int = 0  # fine-tuned on so many aligned pairs

    @property
    def summarizes(self) -> bool:
        """Whether the step makes something that turns texts into summaries."""
        return self.kind in (Kind.INITIALIZER, Kind.SUMMARIZER)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The artificial pairs that the step's model is trained on."""
        return tuple(name for name in self.needs if name.endswith(".pairs"))


def make_plan(settings: recipe.Plan, aligned: bool = False, aligned_limits: Sequence[int] = ()) -> tuple[Step, ...]:
    """Return all steps, each after what it needs, so that one whole chain is usable early."""
    chains = [name for name in ORDER if name in settings.initializers]
    several = len(chains) > 1
    steps = [Step(TEXT, Kind.TEXT), Step(CASING, Kind.CASING), Step(JOINT, Kind.EMBEDDINGS, (TEXT,))]
    for chain in chains if settings.iterations == 0 else ():
        steps += _initial(chain)
    for iteration in range(2, settings.iterations + 1, 2):
        common = f"{ALL}-1" if settings.warm and several and iteration == 2 else ""
        for chain in chains:
            steps += _initial(chain) if iteration == 2 else []
            steps += [_pairs(chain, iteration - 2), *(() if common else _loop(chain, iteration, settings.warm))]
        if common:
            steps.append(_trained(common, Kind.EXPANDER, [f"{chain}-0.pairs" for chain in chains]))
            for chain in chains:
                steps += _loop(chain, iteration, settings.warm, common)
        if settings.together and several:
            pairs = [f"{chain}-{iteration - 1}.pairs" for chain in settings.initializers]
            start = "" if not settings.warm else f"{chains[0]}-2" if iteration == 2 else f"{ALL}-{iteration - 2}"
            steps.append(_trained(f"{ALL}-{iteration}", Kind.SUMMARIZER, pairs, start))
    return (*steps, *(_supervised(steps, aligned_limits) if aligned else ()))


def _initial(chain: str) -> list[Step]:
    name = f"{chain}-0"
    if chain == "pr-thr":
        apart = [Step(part, Kind.EMBEDDINGS, (TEXT,)) for part in (OF_TEXTS, OF_SUMMARIES)]
        return [*apart, Step(name, Kind.INITIALIZER, (TEXT, OF_TEXTS, OF_SUMMARIES), chain)]
    return [Step(name, Kind.INITIALIZER, (TEXT, JOINT), chain)]


def _pairs(chain: str, iteration: int) -> Step:
    name = f"{chain}-{iteration}"
    return Step(f"{name}.pairs", Kind.PAIRS, (TEXT, name), chain, iteration)


def _trained(name: str, kind: Kind, pairs: Sequence[str], start: str = "") -> Step:
    """Return the training of a seq2seq model on artificial pairs."""
    chain, _, iteration = name.rpartition("-")
    return Step(name, kind, (TEXT, JOINT, *pairs, *([start] if start else [])), chain, int(iteration), start)


def _loop(chain: str, iteration: int, warm: bool, common: str = "") -> list[Step]:
    """Return one loop of back-translation: x-(i-2).pairs -> x-(i-1) -> its pairs -> x-i."""
    last, expander, summarizer = (f"{chain}-{i}" for i in (iteration - 2, iteration - 1, iteration))
    again = warm and iteration > 2
    return [
        _trained(expander, Kind.EXPANDER, [f"{last}.pairs"], f"{chain}-{iteration - 3}" if again else common),
        _pairs(chain, iteration - 1),
        _trained(summarizer, Kind.SUMMARIZER, [f"{expander}.pairs"], last if again else ""),
    ]


def _supervised(steps: Sequence[Step], limits: Sequence[int]) -> list[Step]:
    rows = [
        Step(ALIGNED, Kind.ALIGNED, (TEXT,)),
        Step(SUPERVISED, Kind.SUMMARIZER, (TEXT, JOINT, ALIGNED), SUPERVISED),
    ]
    if limits:
        start = best([step.name for step in steps if step.kind is Kind.SUMMARIZER])
        if start is None:
            raise RecipeError("--aligned-limit: nothing to fine-tune; plan.iterations must be 2 or more")
        base = next(step for step in steps if step.name == start)
        for limit in limits:
            needs = (TEXT, start, ALIGNED)
            rows.append(Step(f"{start}+{limit}", Kind.SUMMARIZER, needs, base.chain, base.iteration, start, limit))
    return rows


SUMMARIZER = re.compile(r"(pr-thr|dbae|mu1|all)-(\d+)(?:\+(\d+))?")


def rank(name: str) -> tuple[int, int, int] | None:
    """Return where a summarizer stands in the paper's tables; None for any other step.

    Rows go by iteration, within one by chain in the paper's order, All last; rows with aligned pairs come at the end.
    """
    if name == SUPERVISED:
        return (3, 0, 0)
    found = SUMMARIZER.fullmatch(name)
    if not found or int(found[2]) % 2:
        return None
    chain = (*recipe.INITIALIZERS, ALL).index(found[1])
    return (2, int(found[3]), chain) if found[3] else (0, int(found[2]), chain)


def in_order(names: Iterable[str]) -> list[str]:
    """Return the summarizers among the names, in the order of the paper's tables."""
    ranked = [(place, name) for name in names if (place := rank(name)) is not None]
    return [name for _, name in sorted(ranked)]


def best(names: Iterable[str]) -> str | None:
    """Return the summarizer to use where none was named: the last all-N, else the last of mu1, dbae, pr-thr."""
    unsupervised = [(name, SUMMARIZER.fullmatch(name)) for name in in_order(names) if "+" not in name]
    found = [(name, match[1], int(match[2])) for name, match in unsupervised if match]
    together = [name for name, chain, _ in found if chain == ALL]
    if together:
        return together[-1]
    preference = {chain: -i for i, chain in enumerate(ORDER)}
    return max(found, key=lambda item: (item[2], preference[item[1]]))[0] if found else None


def trained_as(step: Step, settings: recipe.Training, examples: int) -> recipe.Training:
    """Return the settings with the steps and the learning rate of a step's seq2seq model, for so many examples."""
    steps = training_steps(step, settings)
    if step.aligned_limit:
        steps = min(steps, FINE_TUNING_EPOCHS * examples // settings.batch + 1)
    return replace(settings, steps=steps, learning_rate=settings.tuning_rate if step.start else settings.learning_rate)


def training_steps(step: Step, settings: recipe.Training) -> int:
    """Return how many steps a seq2seq model is trained for."""
    if step.chain in (ALL, SUPERVISED) and step.kind is Kind.SUMMARIZER and not step.aligned_limit:
        return settings.all_steps
    if step.start and not step.aligned_limit:
        return settings.tuning_steps
    return settings.expander_steps if step.kind is Kind.EXPANDER else settings.steps


def needed(steps: Sequence[Step], names: Sequence[str]) -> tuple[Step, ...]:
    """Return the named steps and all that they need, in the plan's order; a summarizer needs the casing, too."""
    known = {step.name: step for step in steps}
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in known:
            raise RunError(f"step {name}: not in this plan. Its steps: {', '.join(known)}")
        wanted.add(name)
        waiting += known[name].needs
    if any(known[name].kind in (Kind.INITIALIZER, Kind.SUMMARIZER) for name in names):
        wanted.add(CASING)
    return tuple(step for step in steps if step.name in wanted)
