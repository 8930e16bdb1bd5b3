"""The plan: which model is trained from which pairs, as named steps (Section 3, and Section 3.2 for All).

A chain x (pr-thr, dbae, mu1) goes x-0 (initializer), x-0.pairs, x-1 (expander), x-1.pairs, x-2 (summarizer) and so on;
all-2, all-4 ... are trained from the pairs of all chains together and are leaves. Beside them stand `seq2seq`, trained
on aligned pairs for comparison, and rows such as `all-2+10000`, the last summarizer fine-tuned on 10,000 of them.

The chain `near` (not in the paper) starts from pairs that the two corpora hold: near-0.pairs has two real sides. Its
summarizers learn from found pairs and from artificial ones together. near-2.pairs are found again, with the help of
near-1 and near-2; near-3, near-4 and all-2 learn from them, and so on. (Without `plan.find_again`, all-N learns from
near-0.pairs.) `plan.all_chains` says whose artificial pairs all-2 takes. Where near is one of several chains, mixed-2,
mixed-4 ... are the paper's All, without it: of two other chains or more.

With `plan.teachers` (not in the paper) all-2a is trained on the pairs in all-2's place. all-2a.pairs are what it and
near-2 (without near, the first chain's x-2) agree on for real texts; all-2b learns from these, and so on. all-2 learns
from the pairs of all its teachers, each of which was better than the one before.

With `plan.learn_initial` (not in the paper) x-2 of a chain also learns from x-0.pairs the other way round: to write the
initial summaries of real texts.

With `plan.agreed` (not in the paper) agreed-2 is what all-2, near-2, the summarizers of `plan.learn_initial` and mu1-0
agree on when they summarize, weighed by the expander that weighs what teachers agree on. Nothing is trained for it.
Where one chain is alone, it is the best line of that one's beam and of mu1-0, weighed in the same way.

With `plan.warm_start` (not in the paper) fewer models start from random weights: one expander, all-1, is trained on the
artificial pairs of all initializers, and each x-1 starts from it; x-3 starts from x-1, x-4 from x-2, all-2 from the
first chain's x-2. Where `near` is a chain, that is mixed-2; all-2 starts from random weights. Beside one other chain,
near-1 starts from its x-1: found pairs are few.

The systems in `plan.baselines`, other than the paper's, stand beside the chains: x-0 alone, to compare with. One that
is in `plan.initializers` starts a chain as any initializer does. Some learn from aligned pairs, where there are any:
mass-0+10000 from 10,000 of them, mass-0+all from all.

This module names steps and what each needs; it runs nothing and reads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nutgraf import recipe
from nutgraf.errors import RecipeError, RunError
from nutgraf.run.names import (
    AGREED,
    ALL,
    CUTTER,
    FOUND,
    MIXED,
    NEAR,
    PREFERRED,
    SUPERVISED,
    TEACHERS,
    ModelName,
    is_pairs,
    latest,
)
from nutgraf.run.systems import CASING, JOINT, OF_SUMMARIES, OF_TEXTS, SYSTEMS, TEXT

ALIGNED = "aligned"
FINE_TUNING_EPOCHS = 5  # at most, over few aligned pairs
PAIRED = tuple(name for name, system in SYSTEMS.items() if system.pairs)  # baselines that learn from aligned pairs, too
OWN_WAY = ("adversarial", "fsc")  # of these, those that do more with the pairs than learn from them
STARTS = {"adversarial": "pre-dae-0", "mass": "mass-0"}  # what these start from


class Kind(StrEnum):
    """What a step makes."""

    TEXT = "text"  # the lexicon and the two corpora of word ids
    CASING = "casing"  # how words are usually written
    EMBEDDINGS = "embeddings"
    ALIGNED = "aligned"  # aligned pairs as word ids: for the supervised rows only
    INITIALIZER = "initializer"
    PAIRS = "pairs"  # the artificial, or found, side of a training set
    EXPANDER = "expander"
    SUMMARIZER = "summarizer"
    AGREED = "agreed"  # a summarizer made of others, which are not trained further


@dataclass(frozen=True)
class Step:
    """One piece of work: a folder that follows from its needs, its part of the recipe and the seed."""

    name: str
    kind: Kind
    needs: tuple[str, ...] = ()
    model: ModelName | None = None  # what is trained, or whose pairs are made
    start: str = ""  # the model whose weights it starts from; none: random weights

    @property
    def chain(self) -> str:
        """pr-thr, dbae, mu1, near, a baseline, mixed, all, agreed or seq2seq; empty for what comes before models."""
        return self.model.chain if self.model else ""

    @property
    def iteration(self) -> int:
        """The iteration of the step's model."""
        return self.model.iteration if self.model else 0

    @property
    def expands(self) -> bool:
        """Whether the step's model turns summaries into texts."""
        return self.model is not None and self.model.expands

    @property
    def aligned_limit(self) -> int:
        """How many aligned pairs the step's model is fine-tuned on."""
        return self.model.aligned_limit if self.model else 0

    @property
    def pairs(self) -> tuple[str, ...]:
        """The artificial or found pairs that the step's model is trained on."""
        return tuple(filter(is_pairs, self.needs)) if self.kind is not Kind.PAIRS else ()


def make_plan(settings: recipe.Plan, aligned: bool = False, aligned_limits: Sequence[int] = ()) -> tuple[Step, ...]:
    """Return all steps, each after what it needs, so that one whole chain is usable early."""
    chains = [name for name in PREFERRED if name in settings.initializers]
    of_paper, warm = [name for name in chains if name != NEAR], settings.warm_start
    steps = [Step(TEXT, Kind.TEXT), Step(CASING, Kind.CASING), Step(JOINT, Kind.EMBEDDINGS, (TEXT,))]
    for chain in chains if settings.iterations == 0 else ():
        steps += _initializer(chain, steps)
    for iteration in range(2, settings.iterations + 1, 2):
        common = ModelName(ALL, 1) if warm and len(of_paper) > 1 and iteration == 2 else None
        for chain in chains:
            steps += _initializer(chain, steps) if iteration == 2 else []
            last = ModelName(chain, iteration - 2)
            steps += [] if last.pairs in {step.name for step in steps} else [_pairs(last)]
            only = ModelName(of_paper[0], 1) if chain == NEAR and warm and len(of_paper) == 1 else None
            steps += [] if common else _loop(chain, iteration, settings, only)
        if common:
            steps.append(_trained(common, [ModelName(chain) for chain in of_paper]))
            for chain in chains:
                steps += _loop(chain, iteration, settings, common)
        if settings.train_all and len(chains) > 1:
            steps += _together(settings, iteration)
        elif settings.agreed:
            steps += _agreed(settings, iteration, [], [ModelName(chain, iteration - 1) for chain in of_paper])
    for name in PREFERRED:
        steps += _initializer(name, steps) if name in settings.baselines and name not in chains else []
    if aligned:
        steps += _supervised(steps, aligned_limits)
        for name in PAIRED:
            steps += _paired(name, steps, aligned_limits) if name in settings.baselines else []
    return tuple(steps)


def _together(settings: recipe.Plan, iteration: int) -> list[Step]:
    """Return All of an iteration, and, where `near` is one of the chains, the paper's All without it."""
    makers = [ModelName(chain, iteration - 1) for chain in settings.initializers]
    of_paper = [maker for maker in makers if maker.chain != NEAR]
    near = ModelName(NEAR, iteration)
    finds = near.chain in settings.initializers
    name = ModelName(MIXED if finds else ALL, iteration)
    first = next(chain for chain in PREFERRED if chain in settings.initializers)
    start = ModelName(first, 2) if iteration == 2 else name.at(iteration - 2)
    warm = start if settings.warm_start else None
    if not finds:
        return _all(iteration, of_paper, settings.teachers, warm)
    chosen = [maker for maker in makers if maker.chain in settings.all_chains] or makers
    steps = [_pairs(near)] if settings.find_again else []
    steps += _all(iteration, [*chosen, near if settings.find_again else FOUND], settings.teachers)
    steps += _agreed(settings, iteration, [ModelName(ALL, iteration), near], of_paper, chosen)
    return [*steps, _trained(name, of_paper, warm)] if len(of_paper) > 1 else steps


def _agreed(
    settings: recipe.Plan,
    iteration: int,
    first: Sequence[ModelName],
    of_paper: Sequence[ModelName],
    chosen: Sequence[ModelName] = (),
) -> list[Step]:
    """Return agreed-N of the first members and of the summarizers that learned initial summaries, if it has any.

    Where mu1-2 did, mu1-0 proposes lines, too.
    """
    makers = [maker for maker in of_paper if maker.chain in settings.learn_initial]
    members = [*first, *(ModelName(maker.chain, iteration) for maker in makers)]
    if not settings.agreed or not members:
        return []
    agreed, expander = ModelName(AGREED, iteration), _best_expander(chosen or makers)
    cutters = [CUTTER for maker in makers if maker.chain == CUTTER.chain]
    return [Step(str(agreed), Kind.AGREED, (TEXT, *map(str, [*members, expander, *cutters])), agreed)]


def _all(iteration: int, makers: Sequence[ModelName], teachers: int, start: ModelName | None = None) -> list[Step]:
    """Return all-N, trained on the makers' pairs; with teachers, the first of them is, and the others learn from it."""
    found, steps = [maker for maker in makers if maker.finds], []
    expander = _best_expander(makers)
    other = ModelName(NEAR if found else expander.chain, iteration)
    for letter in TEACHERS[:teachers]:
        teacher = ModelName(ALL, iteration, teacher=letter)
        agreed = Step(teacher.pairs, Kind.PAIRS, (TEXT, *map(str, [teacher, other, expander])), teacher)
        steps += [_trained(teacher, makers, start), agreed]
        makers, start = [*(maker for maker in makers if maker.teacher), teacher, *found], None
    return [*steps, _trained(ModelName(ALL, iteration), makers, start)]


def _best_expander(makers: Sequence[ModelName]) -> ModelName:
    """Return the expander that weighs what summarizers agree on: the first chain's."""
    return min((maker for maker in makers if maker.expands), key=lambda maker: PREFERRED.index(maker.chain))


def _initializer(chain: str, before: Sequence[Step]) -> list[Step]:
    """Return an initializer or a baseline, after vectors and models that it needs and that no other step made."""
    name, needs = ModelName(chain), SYSTEMS[chain].needs
    return [*_missing(needs, before), Step(str(name), Kind.INITIALIZER, needs, name)]


def _missing(needs: Sequence[str], before: Sequence[Step]) -> list[Step]:
    """Return the vectors and the baselines among the needs that are not there yet."""
    there, found = {step.name for step in before}, []
    for need in needs:
        model = ModelName.find(need)
        if need in there or (need not in (OF_TEXTS, OF_SUMMARIES) and model is None):
            continue
        found += _initializer(model.chain, before) if model else [Step(need, Kind.EMBEDDINGS, (TEXT,))]
    return found


def _paired(chain: str, before: Sequence[Step], limits: Sequence[int]) -> list[Step]:
    """Return a baseline's rows with aligned pairs, the few that are asked for and all, after what they start from."""
    start = STARTS.get(chain, "")
    needs = (TEXT, JOINT, ALIGNED, *([start] if start else []))
    names = [*(ModelName(chain, aligned_limit=limit) for limit in limits), ModelName(chain, every_pair=True)]
    return [*_missing(needs, before), *(Step(str(name), Kind.SUMMARIZER, needs, name, start) for name in names)]


def _pairs(name: ModelName) -> Step:
    if name.finds and not name.initial:
        return Step(name.pairs, Kind.PAIRS, (TEXT, FOUND.pairs, str(name.at(name.iteration - 1)), str(name)), name)
    return Step(name.pairs, Kind.PAIRS, (TEXT, str(name)), name)


def _trained(name: ModelName, makers: Sequence[ModelName], start: ModelName | None = None) -> Step:
    """Return the training of a seq2seq model on the pairs of others."""
    kind = Kind.EXPANDER if name.expands else Kind.SUMMARIZER
    needs = (TEXT, JOINT, *(maker.pairs for maker in makers), *([str(start)] if start else []))
    return Step(str(name), kind, needs, name, str(start or ""))


def learns_initial(maker: ModelName) -> bool:
    """Whether what a summarizer learns from a maker's pairs is to write an initial summary of a real text."""
    return maker.initial and not maker.finds


def _loop(chain: str, iteration: int, settings: recipe.Plan, common: ModelName | None = None) -> list[Step]:
    """Return one loop of back-translation: x-(i-2).pairs -> x-(i-1) -> its pairs -> x-i."""
    last, expander, summarizer = (ModelName(chain, i) for i in (iteration - 2, iteration - 1, iteration))
    resumes = settings.warm_start and iteration > 2
    found = [last] if chain == NEAR else [ModelName(chain)] if chain in settings.learn_initial else []
    return [
        _trained(expander, [last], expander.at(iteration - 3) if resumes else common),
        _pairs(expander),
        _trained(summarizer, [expander, *found], last if resumes else None),
    ]


def _supervised(steps: Sequence[Step], limits: Sequence[int]) -> list[Step]:
    rows = [
        Step(ALIGNED, Kind.ALIGNED, (TEXT,)),
        Step(SUPERVISED, Kind.SUMMARIZER, (TEXT, JOINT, ALIGNED), ModelName(SUPERVISED)),
    ]
    if limits:
        start = latest(step.name for step in steps if step.kind is Kind.SUMMARIZER)
        if start is None:
            raise RecipeError("--aligned-limit: nothing to fine-tune; plan.iterations must be 2 or more")
        base = ModelName.parse(start)
        for limit in limits:
            name = ModelName(base.chain, base.iteration, limit)
            rows.append(Step(str(name), Kind.SUMMARIZER, (TEXT, start, ALIGNED), name, start))
    return rows


def training_steps(step: Step, settings: recipe.Training, examples: int) -> int:
    """Return how many steps a seq2seq model is trained for; few aligned pairs are not repeated too often."""
    if step.aligned_limit:
        return min(settings.summarizer_steps, FINE_TUNING_EPOCHS * examples // settings.batch + 1)
    if step.model and step.model.every_pair:
        return settings.all_steps
    if step.kind is Kind.SUMMARIZER and step.chain in (ALL, MIXED, SUPERVISED):
        return settings.all_steps
    if step.start:
        return settings.finetune_steps
    return settings.expander_steps if step.kind is Kind.EXPANDER else settings.summarizer_steps


def learning_rate(step: Step, settings: recipe.Training) -> float:
    """Return the learning rate of a seq2seq model: lower where it starts from another summarizer or expander."""
    return settings.finetune_rate if step.start and step.chain not in PAIRED else settings.learning_rate


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
    if any(known[name].kind in (Kind.INITIALIZER, Kind.SUMMARIZER, Kind.AGREED) for name in names):
        wanted.add(CASING)
    return tuple(step for step in steps if step.name in wanted)
