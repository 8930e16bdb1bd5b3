"""The command line: train, status, evaluate, summarize, serve, export, samples, report, recipe, demo, bench.

A NutgrafError is printed without a traceback, exit code 2; Ctrl-C is exit code 130. Data goes to standard output,
everything else to standard error, so that output can be piped. What is heavy to import is imported by the command
that needs it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import typer
from rich.console import Console
from rich.markup import escape

from nutgraf.errors import NutgrafError

if TYPE_CHECKING:
    from nutgraf.evaluation.samples import Sample
    from nutgraf.run.evaluations import Row
    from nutgraf.run.folder import Run
    from nutgraf.run.plan import Step
    from nutgraf.summarizing.summarizer import SummaryResult

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Learn to summarise sentences from two files that were never paired: full texts and summaries.",
)
out = Console()
err = Console(stderr=True)

BLOCK = 256  # lines summarized at once

RunFolder = Annotated[Path, typer.Argument(help="The run folder.", metavar="RUN")]
RecipeName = Annotated[str, typer.Option("--recipe", "-r", help="paper, cpu, quick, or a TOML file.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change the recipe: --set training.batch=32 (may be repeated).")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:0.")]
Threads = Annotated[int, typer.Option(help="Threads of the processor; 0: as many as cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def train(
    texts: Annotated[str, typer.Option(help="Full texts, one a line: plain, .gz, .xz, or - for standard input.")],
    summaries: Annotated[str, typer.Option(help="Summaries, one a line. They need not belong to the texts.")],
    folder: Annotated[Path | None, typer.Option("--out", help="The run folder: a new one, or one to resume.")] = None,
    recipe: RecipeName = "cpu",
    settings: Settings = None,
    valid: Annotated[str | None, typer.Option(help="Pairs (text, tab, summary) to tune thresholds on.")] = None,
    aligned: Annotated[str | None, typer.Option(help="Pairs for the supervised row `seq2seq`.")] = None,
    aligned_limit: Annotated[
        list[int] | None, typer.Option(help="Also fine-tune the best summarizer on so many of them (repeatable).")
    ] = None,
    texts_limit: Annotated[int, typer.Option(help="Read so many texts; 0: all.")] = 0,
    summaries_limit: Annotated[int, typer.Option(help="Read so many summaries; 0: all.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Instead of the recipe's.")] = None,
    device: Device = "cpu",
    threads: Threads = 0,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the steps and their estimated cost; run nothing.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(help="Do this step and what it needs (repeatable).")] = None,
    stop_after: Annotated[str | None, typer.Option(help="Stop when this step is done.")] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write event files to RUN/tensorboard, live.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train all models of the plan. Stopped or killed, the same command resumes.

    Example: `nutgraf train --texts articles.txt --summaries titles.txt --out run/`

    With `--set plan.iterations=4` a finished run is trained on to x-4; `--only mu1-2` does one model and what it needs.
    """
    from nutgraf.backtranslation.train import Request, preview, resolve, run_training
    from nutgraf.terminal.training import Display

    request = Request(
        texts=texts,
        summaries=summaries,
        out=folder,
        recipe=resolve(recipe, settings or (), seed),
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
    )
    if plan:
        _show_plan(preview(request), as_json)
        return
    display = Display(err)
    try:
        with display:
            run = run_training(request, display, display.warn)
    except KeyboardInterrupt:
        err.print("stopped; the same command resumes", highlight=False)
        raise typer.Exit(130) from None
    _show_done(run)


def _show_plan(steps: list[tuple[Step, float]], as_json: bool) -> None:
    from rich.table import Table

    from nutgraf.progress import duration

    if as_json:
        _print_json([{"step": s.name, "needs": s.needs, "estimated_seconds": round(cost)} for s, cost in steps])
        return
    table = Table("step", "from", "estimated")
    for step, cost in steps:
        table.add_row(step.name, ", ".join(step.needs), duration(cost))
    out.print(table)
    total = duration(sum(cost for _, cost in steps))
    out.print(
        f"{len(steps)} steps, some {total} in all: an estimate; machines differ by a factor of two.", highlight=False
    )


def _show_done(run: Run) -> None:
    done = run.summarizers()
    err.print(f"Summarizers in {escape(str(run.folder))}: {', '.join(done) or 'none yet'}", highlight=False)
    if done:
        err.print(f"Try: echo 'A sentence.' | nutgraf summarize --model {escape(str(run.folder))}", highlight=False)


@app.command()
def status(folder: RunFolder, as_json: AsJson = False) -> None:
    """Say which steps of a run are done, running and to come.

    Example: `nutgraf status run/`
    """
    from nutgraf.run.folder import Run
    from nutgraf.run.status import states

    rows = states(Run.open(folder))
    if as_json:
        _print_json([asdict(row) for row in rows])
        return
    from rich.table import Table

    from nutgraf.progress import duration

    table = Table("step", "state", "time", "")
    for row in rows:
        table.add_row(row.step, row.state, duration(row.seconds) if row.seconds else "", escape(row.note))
    out.print(table)


@app.command()
def evaluate(
    folder: RunFolder,
    pairs: Annotated[str, typer.Option(help="Lines of a text, a tab and its summary; plain, .gz or .xz.")],
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable).")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Only so many pairs; 0: all.")] = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Print the paper's two tables for the summarizers of a run. Rows and outputs go to RUN/evaluation/ and the report.

    Example: `nutgraf evaluate run/ --pairs test.tsv --models mu1-2 --models all-2`
    """
    rows = _evaluated(folder, pairs, models or [], limit, device, threads)
    if as_json:
        _print_json([asdict(row) for row in rows])
        return
    from nutgraf.evaluation.tables import tables

    for table in tables(rows):
        if markdown:
            out.print(table.markdown(), markup=False, highlight=False, soft_wrap=True)
        else:
            out.print(table.rich())


def _evaluated(folder: Path, pairs: str, models: list[str], limit: int, device: str, threads: int) -> tuple[Row, ...]:
    from nutgraf.evaluation.evaluate import evaluate_run
    from nutgraf.hardware import Hardware
    from nutgraf.progress import Progress, Report
    from nutgraf.report import try_report
    from nutgraf.run.folder import Run
    from nutgraf.run.inputs import as_files
    from nutgraf.terminal.training import Display

    hardware = Hardware.of(device, threads)
    hardware.use()
    with as_files(pairs) as files, err.status("") as shown:

        def watch(name: str) -> Report:
            shown.update(f"{name} ...")

            def report(progress: Progress) -> None:
                shown.update(f"{name}: {progress.done:,}/{progress.total:,} {progress.unit}")

            return report

        rows = evaluate_run(Run.open(folder), str(files[0]), hardware, models, limit, watch).rows
    try_report(folder, Display(err).warn)
    return rows


@app.command()
def summarize(
    model: Annotated[Path, typer.Option(help="A run folder or an export, or one with a name: run/ or run/mu1-2.")],
    file: Annotated[str, typer.Argument(help="Texts, one a line: plain, .gz, .xz; - is standard input.")] = "-",
    max_words: Annotated[int | None, typer.Option(min=1, help="No summary is longer.")] = None,
    min_words: Annotated[int | None, typer.Option(min=1, help="None is shorter, where the model can.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what summaries rest on, and what is new.")] = False,
    n_best: Annotated[int, typer.Option(min=1, help="Up to so many summaries of each text, best first.")] = 1,
    faithful: Annotated[
        bool | None, typer.Option(help="No name and no number that is not in the text; else as the recipe says.")
    ] = None,
    per_sentence: Annotated[bool, typer.Option("--per-sentence", help="Summarize every sentence of a text.")] = False,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Summarize texts: one summary a line, an empty line for a blank one.

    With `--explain`, a word that is not in the text is shown as [word], a name or number that is not as [word?].

    Example: `nutgraf summarize --model run/ --max-words 10 < articles.txt`
    """
    from nutgraf.hardware import Hardware
    from nutgraf.summarizing.summarizer import Summarizer, SummaryOptions
    from nutgraf.text.reading import read_every_line

    hardware = Hardware.of(device, threads)
    hardware.use()
    summarizer = Summarizer.load(model, device=device)
    options = SummaryOptions(max_words, min_words, faithful, n_best, explain)
    parts = _parts(read_every_line(file), per_sentence)
    while block := list(islice(parts, BLOCK)):
        for (text, place), found in zip(block, summarizer.answer([text for text, _ in block], options), strict=True):
            if as_json:
                from nutgraf.serve.schema import TextSummaryBody

                answer = TextSummaryBody.from_result(found, options)
                shown: dict[str, object] = {"text": text, "summary": answer.summary, "model": summarizer.name, **place}
                sys.stdout.write(f"{json.dumps(shown | answer.model_dump(exclude_unset=True), ensure_ascii=False)}\n")
            else:
                _show_summary(found, n_best, explain)
        sys.stdout.flush()


def _parts(texts: Iterable[str], per_sentence: bool) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield what is summarized, and where it stands: a text, or each of its sentences with both their numbers."""
    from nutgraf.text.sentences import split_sentences

    for number, text in enumerate(texts, 1):
        if not per_sentence:
            yield text, {}
            continue
        for place, sentence in enumerate(split_sentences(text) or [""], 1):
            yield sentence, {"text_number": number, "sentence_number": place}


def _show_summary(found: SummaryResult, n_best: int, explain: bool) -> None:
    from nutgraf.terminal.explanation import alternatives, explanation

    if explain:
        out.print(explanation(found), "", sep="\n", highlight=False, soft_wrap=True)
    elif n_best > 1:
        out.print(alternatives(found), highlight=False, soft_wrap=True)
    else:
        sys.stdout.write(f"{found.summaries[0].text}\n")


@app.command()
def serve(
    model: Annotated[Path, typer.Option(help="A run folder or an export, or one with a name: run/ or run/mu1-2.")],
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable); none: all.")] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = 1 << 20,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts of a request.")] = 64,
    max_text_words: Annotated[int, typer.Option(min=1, help="Words of a text.")] = 2000,
    max_queue: Annotated[int, typer.Option(min=1, help="Texts that may wait.")] = 1024,
    timeout: Annotated[float, typer.Option(min=0.001, max=3600, help="Seconds for a request.")] = 30.0,
    batch: Annotated[int, typer.Option(min=1, help="Texts that are summarized together.")] = 32,
    wait_ms: Annotated[
        float, typer.Option(min=0, help="Milliseconds to wait for a further request before a batch is computed.")
    ] = 5.0,
    device: Device = "cpu",
    threads: Threads = 0,
) -> None:
    """Serve the summarizers of a run over HTTP, with a page to try them on.

    With NUTGRAF_API_KEY in the environment, requests need that key.

    Example: `nutgraf serve --model run/ --port 8000`
    """
    from nutgraf.hardware import Hardware
    from nutgraf.serve import server
    from nutgraf.serve.limits import Limits
    from nutgraf.serve.models import Models

    limits = Limits(max_body, max_texts, max_text_words, max_queue, timeout, batch, wait_ms / 1000)
    hardware = Hardware.of(device, threads)
    hardware.use()
    with server.listen(host, port) as listening:
        loaded = Models.load(model, models or (), hardware.device)
        server.serve(loaded, limits, listening, lambda line: err.print(escape(line), highlight=False, soft_wrap=True))


@app.command()
def export(
    folder: RunFolder,
    target: Annotated[Path, typer.Argument(help="Where it goes: a folder that does not exist yet.", metavar="OUT")],
    models: Annotated[list[str] | None, typer.Option(help="This summarizer (repeatable); none: the best.")] = None,
    int8: Annotated[bool, typer.Option("--int8", help="A byte a weight, not two: a little less exact.")] = False,
) -> None:
    """Write one folder with only what serving needs, for `summarize --model` and `serve --model`.

    Example: `nutgraf export run/ served/ --models mu1-2 --models all-2`
    """
    from nutgraf.run.folder import Run
    from nutgraf.summarizing.export import write

    made = write(Run.open(folder), target, models or (), "int8" if int8 else "half")
    shown = f"{target}: {', '.join(made.names)}; {made.size / 1e6:.1f} MB"
    out.print(escape(shown), highlight=False, soft_wrap=True)


@app.command()
def samples(
    folder: RunFolder,
    texts: Annotated[str | None, typer.Option(help="Texts of your own, one a line.")] = None,
    summaries: Annotated[str | None, typer.Option(help="Summaries of your own, one a line.")] = None,
    models: Annotated[list[str] | None, typer.Option(help="Predict with this summarizer (repeatable).")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many sentences.")] = 5,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Print artificial full texts of each expander, by iteration, and predictions: the paper's Tables 1, 4 and 5.

    Example: `nutgraf samples run/ --summaries mine.txt`
    """
    from nutgraf.evaluation.samples import samples as take
    from nutgraf.hardware import Hardware
    from nutgraf.run.folder import Run
    from nutgraf.text.reading import read_lines

    hardware = Hardware.of(device, threads)
    hardware.use()
    own = [list(read_lines(path, count)) if path else [] for path in (texts, summaries)]
    taken = take(Run.open(folder), hardware, own[0], own[1], models or (), count)
    if as_json:
        _print_json(asdict(taken))
        return
    _show_samples("Artificial full texts, by expander (Tables 1 and 4)", "Summary", taken.expansions)
    _show_samples("Predictions (Table 5)", "Text", taken.predictions)


def _show_samples(title: str, given: str, shown: tuple[Sample, ...]) -> None:
    from rich.table import Table

    if not shown:
        return
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column()
    for sample in shown:
        table.add_row(f"[bold]{given}[/bold]", f"[bold]{escape(sample.given)}[/bold]")
        for name, output in sample.made:
            table.add_row(name, escape(output))
        table.add_section()
    out.print(table)


@app.command()
def report(
    folder: RunFolder,
    file: Annotated[Path | None, typer.Option("--out", help="Where it goes, if not to RUN/report.html.")] = None,
) -> None:
    """Write the report of a run, done or half done: one HTML file to read and to show.

    Example: `nutgraf report run/ --out report.html`
    """
    from nutgraf.report import write_report
    from nutgraf.run.folder import Run

    out.print(escape(str(write_report(Run.open(folder), file))), highlight=False, soft_wrap=True)


@app.command()
def recipe(
    name: Annotated[str, typer.Argument(help="paper, cpu, quick, or a TOML file.")] = "cpu",
    settings: Settings = None,
) -> None:
    """Print a recipe with all its values: a file of your own to start from.

    Example: `nutgraf recipe cpu --set plan.iterations=4 > mine.toml`
    """
    from nutgraf import recipe as recipes

    sys.stdout.write(recipes.override(recipes.load(name), settings or []).to_toml())


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where the corpus and the run go.")] = Path("demo"),
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing: use the generated newswire.")] = False,
    threads: Threads = 0,
) -> None:
    """Fetch real newswire, train every step with the recipe `quick`, print the tables and ten summaries.

    Example: `nutgraf demo`
    """
    from nutgraf.demo.corpus import prepare_demo

    def say(message: str) -> None:
        err.print(escape(message), highlight=False, soft_wrap=True)

    corpus = prepare_demo(folder / "corpus", say, offline)
    run = folder / "run"
    train(str(corpus.texts), str(corpus.summaries), run, "quick", threads=threads)
    evaluate(run, str(corpus.test), threads=threads)
    _show_ten(run, corpus.test, threads)
    say(f"The corpus is in {corpus.texts.parent}, the run in {run}. More: nutgraf samples {run}")


def _show_ten(run: Path, test: Path, threads: int) -> None:
    from nutgraf.evaluation.samples import Sample
    from nutgraf.summarizing.summarizer import Summarizer
    from nutgraf.text.reading import read_pairs

    summarizer = Summarizer.load(run)
    pairs = read_pairs(str(test), 10)
    outputs = summarizer([text for text, _ in pairs])
    shown = [
        Sample(text, ((summarizer.name, output), ("Title", title)))
        for (text, title), output in zip(pairs, outputs, strict=True)
    ]
    _show_samples("Ten held-out sentences", "Text", tuple(shown))


@app.command()
def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="A smoke run with tiny sizes: its figures mean nothing.")
    ] = False,
    file: Annotated[Path | None, typer.Option("--out", help="Also write the JSON to this file.")] = None,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory on this machine, as ratios to plain code, to fairseq and to the machine's limit.

    Example: `nutgraf bench --out bench.json`
    """
    from nutgraf.bench.results import bench as measure
    from nutgraf.bench.results import tables

    report = measure(quick, threads, lambda doing: err.print(escape(doing), highlight=False, soft_wrap=True))
    if file:
        file.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    if as_json:
        _print_json(asdict(report))
        return
    for table in tables(report):
        out.print(table)


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    try:
        code = app(arguments, standalone_mode=False)
    except NutgrafError as error:
        err.print(f"[red]error:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
        code = 2
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain when it closes it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        code = 141
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
