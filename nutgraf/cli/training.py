"""Commands that train: `train`, `status` and `recipe`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nutgraf.cli.options import AsJson, Cluster, Device, RecipeName, RunFolder, Settings, Threads
from nutgraf.cli.output import print_json, say
from nutgraf.extras import need_extra

if TYPE_CHECKING:
    from nutgraf.backtranslation.preview import Supposition
    from nutgraf.backtranslation.train import Request


def train(
    texts: Annotated[
        str,
        typer.Option(
            help="Full texts: a file with one per line (plain, .gz, .xz; - is stdin), s3://bucket/texts.txt, or "
            "hf:name/config:column."
        ),
    ],
    summaries: Annotated[str, typer.Option(help="Summaries, one per line. They need not belong to the texts.")],
    folder: Annotated[Path | None, typer.Option("--out", help="The run folder: a new one, or one to resume.")] = None,
    recipe: RecipeName = "cpu",
    settings: Settings = None,
    valid: Annotated[str | None, typer.Option(help="Pairs (text, tab, summary) to tune thresholds on.")] = None,
    aligned: Annotated[str | None, typer.Option(help="Pairs for the supervised model `seq2seq`.")] = None,
    aligned_limit: Annotated[
        list[int] | None, typer.Option(help="Also fine-tune the last summarizer on this many pairs (repeatable).")
    ] = None,
    baselines: Annotated[
        list[str] | None,
        typer.Option(
            "--with", help="Also train other systems, to compare with: pbsmt,hc,... (repeatable, or with commas)."
        ),
    ] = None,
    texts_limit: Annotated[int, typer.Option(help="Read at most this many texts; 0: all.")] = 0,
    summaries_limit: Annotated[int, typer.Option(help="Read at most this many summaries; 0: all.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Random seed, in place of the recipe's.")] = None,
    device: Device = "cpu",
    threads: Threads = 0,
    cluster: Cluster = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the steps and how long they may take.")] = False,
    machines: Annotated[
        int, typer.Option(min=0, help="With --plan --cluster: for this many machines; 0: those of the cluster.")
    ] = 0,
    cores: Annotated[
        int, typer.Option(min=0, help="With --machines: cores of each machine; 0: as many as this one has.")
    ] = 0,
    plan_texts: Annotated[
        int, typer.Option(min=0, help="With --plan: as if there were this many texts, like those in the file.")
    ] = 0,
    plan_summaries: Annotated[
        int, typer.Option(min=0, help="With --plan: as if there were this many summaries, like those in the file.")
    ] = 0,
    only: Annotated[list[str] | None, typer.Option(help="Do this step and what it needs (repeatable).")] = None,
    stop_after: Annotated[str | None, typer.Option(help="Stop when this step is done.")] = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write events to RUN/tensorboard, live.")] = False,
    store: Annotated[
        str | None,
        typer.Option(help="Also keep finished steps in s3://BUCKET/FOLDER, and fetch those that --out lacks."),
    ] = None,
    take_store: Annotated[
        bool, typer.Option("--take-store", help="Take the store from a run that was killed and still claims it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train all models of the plan. If it is stopped or killed, the same command resumes.

    Example: `nutgraf train --texts articles.txt --summaries titles.txt --out run/`

    Example: `nutgraf train --texts articles.txt --summaries titles.txt --plan --cluster ray --machines 8`

    `--set plan.iterations=4` continues a finished run to x-4; `--only mu1-2` trains one model and what it needs.
    """
    need_extra("train", "nutgraf train")
    from nutgraf.backtranslation.preview import Supposition
    from nutgraf.backtranslation.train import Request, resolve

    request = Request(
        texts=texts,
        summaries=summaries,
        out=folder,
        recipe=resolve(recipe, settings or (), seed, [name for names in baselines or () for name in names.split(",")]),
        valid=valid,
        aligned=aligned,
        aligned_limits=tuple(aligned_limit or ()),
        texts_limit=texts_limit,
        summaries_limit=summaries_limit,
        only=tuple(only or ()),
        stop_after=stop_after,
        device=device,
        threads=threads,
        tensorboard=tensorboard,
        cluster=cluster,
        store=store,
        take_store=take_store,
    )
    supposed = Supposition(plan_texts, plan_summaries, machines, cores)
    supposed.check(plan, cluster)
    if plan:
        show = _show_forecast if cluster else _show_plan
        show(request, supposed, as_json)
    else:
        _train(request)


def _show_plan(request: Request, supposed: Supposition, as_json: bool) -> None:
    from nutgraf.backtranslation.preview import preview
    from nutgraf.terminal.tables import show_plan

    steps = preview(request, supposed)
    if as_json:
        print_json([{"step": s.name, "needs": s.needs, "estimated_seconds": round(cost)} for s, cost in steps])
    else:
        show_plan(steps)


def _show_forecast(request: Request, supposed: Supposition, as_json: bool) -> None:
    from nutgraf.backtranslation.preview import describe, foresee
    from nutgraf.terminal.tables import show_forecast

    found, assumptions = foresee(request, supposed)
    if as_json:
        steps = [
            {"step": s.step.name, "needs": s.step.needs, "workers": s.workers, "begins": s.begins, "ends": s.ends}
            for s in found.spans
        ]
        print_json({"estimated_seconds": found.seconds, "assumptions": assumptions, "steps": steps})
        return
    notes = [*describe(found), "", "Assumed:", *(f"- {line}" for line in assumptions)]
    show_forecast([(span.step, span.workers, span.begins, span.ends) for span in found.spans], notes)


def _train(request: Request) -> None:
    from nutgraf.backtranslation.train import run_training
    from nutgraf.terminal.progress import TrainingDisplay

    try:
        with TrainingDisplay() as display:
            run = run_training(request, display, display.warn)
    except KeyboardInterrupt:
        say("stopped; the same command resumes")
        raise
    done = run.summarizers()
    say(f"Summarizers in {run.folder}: {', '.join(done) or 'none yet'}")
    if done:
        say(f"Try: nutgraf summarize --model {run.folder} 'A sentence.'")


def status(folder: RunFolder, as_json: AsJson = False) -> None:
    """Show which steps of a run are done, running and to come.

    Example: `nutgraf status run/`
    """
    from nutgraf.run.folder import Run
    from nutgraf.run.status import states
    from nutgraf.terminal.tables import show_status

    rows = states(Run.open(folder))
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        show_status(rows)


def recipe(
    name: Annotated[str, typer.Argument(help="paper, cpu, quick, or a TOML file.")] = "cpu",
    settings: Settings = None,
) -> None:
    """Print a recipe with all its values, to start your own from.

    Example: `nutgraf recipe cpu --set plan.iterations=4 > mine.toml`
    """
    from nutgraf import recipe as recipes

    sys.stdout.write(recipes.override(recipes.load(name), settings or []).to_toml())
