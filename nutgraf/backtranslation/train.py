"""Training as one call: inputs checked, the run folder claimed, the plan done step by step, the report written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.backtranslation import tensorboard
from nutgraf.backtranslation.engine import Engine
from nutgraf.errors import InputError, RecipeError
from nutgraf.hardware import Hardware
from nutgraf.progress import ignore
from nutgraf.report import reporting
from nutgraf.run.events import Listener
from nutgraf.run.folder import Run, claim
from nutgraf.run.inputs import Inputs, Lines, as_files, read_inputs
from nutgraf.run.names import NEAR
from nutgraf.run.plan import Step, make_plan, needed
from nutgraf.run.stored import StoredRun, use_store
from nutgraf.workers.cluster import use_executor


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be trained on what; `nutgraf.train` says what each field means."""

    texts: Lines
    summaries: Lines
    out: Path | None = None  # none: nothing can be trained, only planned
    recipe: recipes.Recipe
    valid: str | None = None
    aligned: str | None = None
    aligned_limits: tuple[int, ...] = ()
    texts_limit: int = 0
    summaries_limit: int = 0
    only: tuple[str, ...] = ()
    stop_after: str | None = None
    device: str = "cpu"
    threads: int = 0
    tensorboard: bool = False
    cluster: str | None = None
    store: str | None = None
    take_store: bool = False

    def __post_init__(self) -> None:
        if self.aligned_limits and self.aligned is None:
            raise InputError("--aligned-limit: needs --aligned, a file of lines of text, a tab and a summary")
        for name in recipes.WITH_PAIRS:
            if name in self.recipe.plan.baselines and self.aligned is None:
                raise InputError(f"--with {name}: it learns from aligned pairs; needs --aligned")
        for name in ("texts_limit", "summaries_limit"):
            if getattr(self, name) < 0:
                raise InputError(f"--{name.replace('_', '-')} {getattr(self, name)}: expected 0 (all) or more")
        if self.cluster and self.device != "cpu":
            raise InputError(f"--cluster {self.cluster}: works on processors only; leave --device out")
        if self.take_store and not self.store:
            raise InputError("--take-store: needs --store, the store to take")
        if any(limit < 1 for limit in self.aligned_limits):
            raise InputError("--aligned-limit: expected 1 or more")

    @property
    def hardware(self) -> Hardware:
        """The device and the threads of one process; a worker of a cluster has one thread, unless it is asked for."""
        return Hardware.of(self.device, self.threads or (1 if self.cluster else 0))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The plan, or the part of it that `only` needs."""
        steps = make_plan(self.recipe.plan, self.aligned is not None, self.aligned_limits)
        if self.stop_after is not None:
            needed(steps, [self.stop_after])  # is it in the plan?
        return needed(steps, self.only) if self.only else steps

    def leave_out_near(self, texts: int, summaries: int) -> Request:
        """Return the request without the chain of found pairs, where there are too few summaries to find any among."""
        plan = self.recipe.plan
        others = tuple(chain for chain in plan.initializers if chain != NEAR)
        if summaries >= plan.min_summaries_for_near * texts or not others or others == plan.initializers:
            return self
        return replace(self, recipe=replace(self.recipe, plan=replace(plan, initializers=others)))

    @contextmanager
    def with_files(self) -> Iterator[Request]:
        """Yield the request with files in the place of everything else that can be read."""
        with as_files(self.texts, self.summaries, self.valid, self.aligned) as (texts, summaries, valid, aligned):
            yield replace(self, texts=texts or "", summaries=summaries or "", valid=valid, aligned=aligned)

    def read(self) -> tuple[Inputs, list[str]]:
        """Check and digest all inputs; return them and warnings."""
        limits = self.texts_limit, self.summaries_limit
        return read_inputs(str(self.texts), str(self.summaries), *limits, self.valid, self.aligned)


def train(
    texts: Lines,
    summaries: Lines,
    out: str | Path,
    *,
    recipe: str | recipes.Recipe = "cpu",
    settings: Sequence[str] = (),
    seed: int | None = None,
    valid: str | None = None,
    aligned: str | None = None,
    aligned_limits: Sequence[int] = (),
    baselines: Sequence[str] = (),
    texts_limit: int = 0,
    summaries_limit: int = 0,
    only: Sequence[str] = (),
    stop_after: str | None = None,
    device: str = "cpu",
    threads: int = 0,
    tensorboard: bool = False,
    cluster: str | None = None,
    store: str | None = None,
    take_store: bool = False,
) -> Run:
    """Learn to summarise from two piles of text that were never paired; the same call, made again, resumes.

    texts, summaries  files with one sequence a line, UTF-8, plain, .gz or .xz (- is standard input); objects of a
                      store, s3://bucket/texts.txt; a column of a Hugging Face dataset, hf:name/config:column; or lists
                      and generators of strings
    out               the run folder; report.html in it is written again after every step
    recipe            "paper", "cpu", "quick", a TOML file, or a Recipe; `settings` ("training.batch=32") change it
    valid             pairs (text, tab, summary) that thresholds are tuned on; no other code sees them
    aligned           pairs for the supervised row `seq2seq`; `aligned_limits` adds fine-tuned rows such as all-2+10000
    baselines         other systems to compare with, such as "hc", in addition to those of the recipe; "mass", "fsc" and
                      "adversarial" have rows for each of `aligned_limits` and for all pairs
    only, stop_after  do these steps and what they need; do all steps up to one
    threads           of the processor; 0: as many as there are cores
    tensorboard       also write event files to out/tensorboard, while the models are trained
    cluster           "ray" or "ray:HOST:PORT": work on all machines of a Ray cluster, which share `out` and the inputs
    store             "s3://BUCKET/FOLDER": finished steps are copied there, and fetched where `out` lacks them;
                      `take_store` takes it from a run that was killed

    >>> nutgraf.train("articles.txt", "titles.txt", out="run/", recipe="quick")
    >>> nutgraf.Summarizer.load("run/")("France took an important step toward power market liberalization ...")
    """
    request = Request(
        texts=texts,
        summaries=summaries,
        out=Path(out),
        recipe=resolve(recipe, settings, seed, baselines),
        valid=valid,
        aligned=aligned,
        aligned_limits=tuple(aligned_limits),
        texts_limit=texts_limit,
        summaries_limit=summaries_limit,
        only=tuple(only),
        stop_after=stop_after,
        device=device,
        threads=threads,
        tensorboard=tensorboard,
        cluster=cluster,
        store=store,
        take_store=take_store,
    )
    return run_training(request)


def warn_caller(message: str) -> None:
    """Warn as Python does."""
    warnings.warn(message, UserWarning, stacklevel=3)


def resolve(
    recipe: str | recipes.Recipe, settings: Sequence[str] = (), seed: int | None = None, baselines: Sequence[str] = ()
) -> recipes.Recipe:
    """Return the recipe that was meant, with its changes; baselines are added to its own."""
    loaded = recipes.load(recipe) if isinstance(recipe, str) else recipe
    changed = recipes.override(loaded, list(settings))
    for name in baselines:
        if name not in (known := (*recipes.BASELINES, *recipes.WITH_PAIRS)):
            raise RecipeError(f"--with {name}: none of {', '.join(known)}")
    if baselines:
        together = tuple(dict.fromkeys([*changed.plan.baselines, *baselines]))
        changed = replace(changed, plan=replace(changed.plan, baselines=together))
    return changed if seed is None else replace(changed, seed=seed)


def run_training(request: Request, listener: Listener = ignore, warn: Callable[[str], None] = warn_caller) -> Run:
    """Train what was asked for; events go to the listener, the report and, where wanted, TensorBoard."""
    if request.out is None:
        raise InputError("--out: name the run folder, a new one or one to resume")
    hardware, steps, out = request.hardware, request.steps, request.out
    out = out.absolute() if request.cluster else out  # workers have other working folders
    heard = reporting(out, listener, warn)
    if request.tensorboard:
        heard = tensorboard.charting(out, heard, warn)
    with request.with_files() as local:
        if request.cluster and local != replace(request, texts=str(request.texts), summaries=str(request.summaries)):
            raise InputError(f"--cluster {request.cluster}: takes files alone, which all machines see, for its inputs")
        inputs, found = local.read()
        for message in found:
            warn(message)
        texts, summaries = inputs.texts.lines, inputs.summaries.lines
        if (fitting := request.leave_out_near(texts, summaries)) != request:
            warn(
                f"near, which finds pairs between the files, is left out: {summaries:,} summaries for {texts:,} texts "
                f"are fewer than {request.recipe.plan.min_summaries_for_near:g} per text. "
                "plan.min_summaries_for_near=0 keeps it"
            )
            request, steps = fitting, fitting.steps
        with claim(out), use_store(request.store, out, request.take_store) as stored:
            run = _begin(Run(out, request.recipe, inputs, request.aligned_limits), steps, stored, warn)
            hardware.use()
            with use_executor(request.cluster, hardware, out) as executor:
                keep = stored.keep if stored else ignore
                Engine(run, steps, hardware, heard, executor, keep)(request.stop_after)
    return run


def _begin(asked: Run, steps: Sequence[Step], stored: StoredRun | None, warn: Callable[[str], None]) -> Run:
    """Write what the run is, here and in the store, and fetch what is done there."""
    asked = stored.join(asked) if stored else asked
    run = Run.create(asked.folder, asked.recipe, asked.inputs, asked.aligned_limits)
    if stored:
        stored.begin(run, steps, warn)
    return run
