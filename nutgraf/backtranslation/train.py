"""A training carried out: inputs checked, the run folder claimed, the plan done step by step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.backtranslation import cost
from nutgraf.backtranslation.engine import Engine, Listener, unheard
from nutgraf.backtranslation.hardware import Hardware
from nutgraf.backtranslation.inputs import read_inputs
from nutgraf.backtranslation.plan import Step, make_plan, needed
from nutgraf.backtranslation.run import Run, claimed
from nutgraf.errors import InputError


def warn_caller(message: str) -> None:
    """Warn as Python does."""
    warnings.warn(message, UserWarning, stacklevel=3)


@dataclass(frozen=True)
class Request:
    """What is to be trained on what. A path may be plain text, .gz, .xz, or - for standard input."""

    texts: str
    summaries: str
    recipe: recipes.Recipe
    valid: str | None = None
    aligned: str | None = None
    aligned_limits: tuple[int, ...] = ()
    texts_limit: int = 0
    summaries_limit: int = 0

    def __post_init__(self) -> None:
        if self.aligned_limits and self.aligned is None:
            raise InputError("--aligned-limit: needs --aligned, a file of lines of text, a tab and a summary")
        for name in ("texts_limit", "summaries_limit"):
            if getattr(self, name) < 0:
                raise InputError(f"--{name.replace('_', '-')} {getattr(self, name)}: expected 0 (all) or more")
        if any(limit < 1 for limit in self.aligned_limits):
            raise InputError("--aligned-limit: expected 1 or more")

    def steps(self, only: Sequence[str] = ()) -> tuple[Step, ...]:
        """Return the plan, or the part of it that some steps need."""
        steps = make_plan(self.recipe.plan, self.aligned is not None, self.aligned_limits)
        return needed(steps, only) if only else steps


def resolve(recipe: str | recipes.Recipe, settings: Sequence[str] = (), seed: int | None = None) -> recipes.Recipe:
    """Return the recipe that was meant, with its changes."""
    loaded = recipes.load(recipe) if isinstance(recipe, str) else recipe
    changed = recipes.override(loaded, list(settings))
    return changed if seed is None else replace(changed, seed=seed)


def carry_out(
    request: Request,
    out: Path,
    hardware: Hardware,
    listener: Listener = unheard,
    warn: Callable[[str], None] = warn_caller,
    only: Sequence[str] = (),
    stop_after: str | None = None,
) -> Run:
    """Train what was asked for into the run folder `out`."""
    steps = request.steps(only)
    if stop_after is not None:
        needed(steps, [stop_after])  # is it in the plan?
    inputs, found = read_inputs(
        request.texts,
        request.summaries,
        request.texts_limit,
        request.summaries_limit,
        request.valid,
        request.aligned,
    )
    for message in found:
        warn(message)
    with claimed(out):
        run = Run.create(out, request.recipe, inputs, request.aligned_limits)
        hardware.use()
        Engine(run, steps, hardware, listener)(stop_after)
    return run


def preview(request: Request, hardware: Hardware, only: Sequence[str] = ()) -> list[tuple[Step, float]]:
    """Return the steps and their estimated seconds, without running anything."""
    inputs, _ = read_inputs(request.texts, request.summaries, request.texts_limit, request.summaries_limit)
    steps = request.steps(only)
    sizes = cost.Sizes.of(inputs, request.recipe)
    estimates = cost.estimate(steps, request.recipe, sizes, hardware.threads)
    return [(step, estimates[step.name]) for step in steps]
