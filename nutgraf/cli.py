"""The command line: train, status, evaluate, summarize, models, serve, export, samples, report, recipe, demo, bench.

Data goes to standard output, everything else to standard error, so that output can be piped. Exit codes: 0 done; 2 a
mistake of the user's, explained without a traceback; 130 Ctrl-C; 141 the reader of a pipe is gone. A command imports
what it needs, so that `nutgraf --help` is fast.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from nutgraf.errors import InputError, NutgrafError
from nutgraf.hardware import share_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutgraf.backtranslation.train import Request
    from nutgraf.evaluation.samples import Sample
    from nutgraf.evaluation.tables import ComparisonTable, Table
    from nutgraf.hardware import Hardware
    from nutgraf.summarizing.summarizer import Summarizer, SummaryOptions

ALIASES = {"summarise": "summarize"}


class _Group(TyperGroup):
    """Ends every command with the right exit code. Typer itself handles mistakes in the usage."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except NutgrafError as error:
            _say(f"{typer.style('error:', fg='red')} {error}")
            code = 2
        except KeyboardInterrupt:
            code = 130
        except BrokenPipeError:
            # Whoever read our output has seen enough; Python must not complain when it closes it.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
            code = 141
        raise typer.Exit(code)


app = typer.Typer(
    cls=_Group,
    subcommand_metavar="COMMAND [ARGS]...",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help takes half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)

RunFolder = Annotated[Path, typer.Argument(help="The run folder.", metavar="RUN")]
Model = Annotated[
    Path | None,
    typer.Option(help="A run folder or an export, one of its models (run/mu1-2), or a ready model; default: news."),
]
RecipeName = Annotated[str, typer.Option("--recipe", "-r", help="paper, cpu, quick, or a TOML file.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change the recipe: --set training.batch=32 (repeatable).")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:0.")]
Threads = Annotated[int, typer.Option(help="CPU threads; 0: one per core.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        import nutgraf

        typer.echo(f"nutgraf {nutgraf.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn to summarise sentences from two files that were never paired: full texts and summaries."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


@app.command()
def train(
    texts: Annotated[
        str,
        typer.Option(
            help="Full texts: a file with one per line (plain, .gz, .xz; - is stdin), or hf:name/config:column."
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
    texts_limit: Annotated[int, typer.Option(help="Read at most this many texts; 0: all.")] = 0,
    summaries_limit: Annotated[int, typer.Option(help="Read at most this many summaries; 0: all.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Random seed, in place of the recipe's.")] = None,
    device: Device = "cpu",
    threads: Threads = 0,
    plan: Annotated[bool, typer.Option("--plan", help="Print the steps and how long they may take.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Do this step and what it needs (repeatable).")] = None,
    stop_after: Annotated[str | None, typer.Option(help="Stop when this step is done.")] = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write events to RUN/tensorboard, live.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train all models of the plan. If it is stopped or killed, the same command resumes.

    Example: `nutgraf train --texts articles.txt --summaries titles.txt --out run/`

    `--set plan.iterations=4` continues a finished run to x-4; `--only mu1-2` trains one model and what it needs.
    """
    _need("train", "train")
    from nutgraf.backtranslation.train import Request, resolve

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
        _show_plan(request, as_json)
    else:
        _train(request)


def _show_plan(request: Request, as_json: bool) -> None:
    from nutgraf.backtranslation.train import preview
    from nutgraf.terminal.tables import show_plan

    steps = preview(request)
    if as_json:
        _print_json([{"step": s.name, "needs": s.needs, "estimated_seconds": round(cost)} for s, cost in steps])
    else:
        show_plan(steps)


def _train(request: Request) -> None:
    from nutgraf.backtranslation.train import run_training
    from nutgraf.terminal.progress import TrainingDisplay

    try:
        with TrainingDisplay() as display:
            run = run_training(request, display, display.warn)
    except KeyboardInterrupt:
        _say("stopped; the same command resumes")
        raise
    done = run.summarizers()
    _say(f"Summarizers in {run.folder}: {', '.join(done) or 'none yet'}")
    if done:
        _say(f"Try: nutgraf summarize --model {run.folder} 'A sentence.'")


@app.command()
def status(folder: RunFolder, as_json: AsJson = False) -> None:
    """Show which steps of a run are done, running and to come.

    Example: `nutgraf status run/`
    """
    from nutgraf.run.folder import Run
    from nutgraf.run.status import states
    from nutgraf.terminal.tables import show_status

    rows = states(Run.open(folder))
    if as_json:
        _print_json([asdict(row) for row in rows])
    else:
        show_status(rows)


@app.command()
def evaluate(
    folder: RunFolder,
    pairs: Annotated[str, typer.Option(help="Lines of a text, a tab and its summary; plain, .gz or .xz.")],
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable).")] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Only test whether the first is better than the second, such as all-2 or other-run/all-2."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most this many pairs; 0: all.")] = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Print the paper's two tables for the summarizers of a run. Scores and outputs go to RUN/evaluation/.

    `--compare all-2 mu1-2` prints the differences of two summarizers, with a paired bootstrap test, and writes nothing.

    Example: `nutgraf evaluate run/ --pairs test.tsv --models mu1-2 --models all-2`
    """
    _need("train", "evaluate")
    from nutgraf.evaluation.evaluate import compare_systems, evaluate_run
    from nutgraf.evaluation.tables import ComparisonTable, tables
    from nutgraf.report import try_report
    from nutgraf.run.folder import Run
    from nutgraf.run.inputs import as_files
    from nutgraf.terminal.progress import watch_evaluation

    hardware, run = _use_hardware(device, threads), Run.open(folder)
    if compare and models:
        raise InputError("--compare and --models: expected one of them; --compare names both of its summarizers")
    with as_files(pairs) as files, watch_evaluation() as watch:
        if compare:
            found = compare_systems(run, str(files[0]), compare, hardware, limit, watch)
        else:
            rows = evaluate_run(run, str(files[0]), hardware, models or [], limit, watch).rows
    if compare:
        _show_tables([ComparisonTable(compare, found)], {"compared": compare, **asdict(found)}, markdown, as_json)
        return
    try_report(folder, _warn)
    _show_tables(tables(rows), [asdict(row) for row in rows], markdown, as_json)


def _show_tables(shown: Sequence[Table | ComparisonTable], data: object, markdown: bool, as_json: bool) -> None:
    """Print tables as a terminal shows them or as Markdown, or their data as JSON."""
    from nutgraf.evaluation.tables import WIDTH
    from nutgraf.terminal.console import out

    if as_json:
        _print_json(data)
        return
    for table in shown:
        if markdown:
            typer.echo(table.markdown())
        else:
            # A file or a pipe is as wide as need be.
            out.print(table.rich(), width=max(out.width, WIDTH), soft_wrap=False)


@app.command()
def summarize(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            help="Texts in quotes, or files with a text per line (plain, .gz, .xz; - is standard input).",
            metavar="[TEXT|FILE]...",
        ),
    ] = None,
    model: Model = None,
    max_words: Annotated[int | None, typer.Option(min=1, help="Longest summary.")] = None,
    min_words: Annotated[int | None, typer.Option(min=1, help="Shortest summary, if the model allows it.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show where words come from, and which are new.")] = False,
    n_best: Annotated[
        int, typer.Option(min=1, help="Up to this many summaries of each text, best first, with their scores.")
    ] = 1,
    faithful: Annotated[
        bool | None,
        typer.Option(help="No name or number that the text lacks, no contradiction; default: the recipe's."),
    ] = None,
    per_sentence: Annotated[
        bool,
        typer.Option("--per-sentence", help="Summarize every sentence: number of the text, of the sentence, summary."),
    ] = False,
    document: Annotated[
        bool, typer.Option("--document", help="Each file is a whole document (text, .md, .html): print one headline.")
    ] = False,
    bullets: Annotated[int, typer.Option(min=0, help="With --document: also this many lines on other points.")] = 0,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Summarize texts: one summary per line, an empty line for an empty text.

    An argument with a blank is a text, any other one a file. Without arguments, texts come from standard input, one per
    line: each line that you type is answered at once, and so is each line of a slow pipe.

    If a text is longer than the model reads, standard error says how much was read. `--per-sentence` reads all, and
    prints three columns with tabs between: the number of the text, the number of the sentence, the summary.

    The score of `--n-best` is the model's own probability of the summary, per word: the geometric mean over its
    words and its end. It compares summaries of one text, not texts. The first line is the summary that you get without
    `--n-best`; the others are in the order of their scores.

    With `--explain`, a word that is not in the text is shown as [word], a name or number that is not as [word?].

    `--document` takes the sentence, among the first ones, whose words matter most in the document.

    Example: `nutgraf summarize "The city council voted on Monday to close two of its five swimming pools."`

    Example: `nutgraf summarize --model run/ --max-words 10 < articles.txt`
    """
    from nutgraf.summarizing.summarizer import Summarizer, SummaryOptions
    from nutgraf.terminal.summaries import Printer, ask, is_text, read_arguments

    options = SummaryOptions(max_words, min_words, faithful, n_best, explain)
    _check_document(document, bullets, per_sentence, options)
    typed = not texts and sys.stdin is not None and sys.stdin.isatty()
    whole = [not document and is_text(text) for text in texts or ()]  # before the model is loaded, which takes a second
    _use_hardware(device, threads)
    summarizer = Summarizer.load(model, device=device)
    if sys.stderr.isatty() and (typed or model):
        _say(f"Model {summarizer.name}: {summarizer.reason}")
    if document:
        _summarize_documents(summarizer, texts or ["-"], options, bullets, as_json)
        return
    printer = Printer(summarizer, options, per_sentence, as_json, numbered=not typed and whole != [True])
    printer.print_all(ask() if typed else read_arguments(texts or ["-"]))


def _check_document(document: bool, bullets: int, per_sentence: bool, options: SummaryOptions) -> None:
    if bullets and not document:
        raise InputError("--bullets: needs --document, which reads a file as one document")
    if document and (per_sentence or options.explain or options.n_best > 1):
        raise InputError("--document: prints one headline; expected no --per-sentence, --explain or --n-best")


def _summarize_documents(
    summarizer: Summarizer, files: Sequence[str], options: SummaryOptions, bullets: int, as_json: bool
) -> None:
    from nutgraf.summarizing.documents import summarize_document
    from nutgraf.terminal.summaries import print_document
    from nutgraf.text.documents import read_document

    for file in files:
        found = summarize_document(summarizer, read_document(file), options, bullets)
        print_document(file, found, summarizer.name, bullets, as_json)


@app.command()
def models(
    folder: Annotated[Path, typer.Argument(help="A run, an export, or a folder of such.", metavar="[FOLDER]")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List the models that come with nutgraf, and the runs and exports in a folder.

    Example: `nutgraf models`
    """
    from nutgraf.summarizing.ready import list_models
    from nutgraf.terminal.models import show_models

    found = list_models(folder)
    if as_json:
        _print_json([asdict(one) for one in found])
    else:
        show_models(found)


@app.command()
def serve(
    model: Model = None,
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable).")] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines connect.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8000,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes per request.")] = 1 << 20,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts per request.")] = 64,
    max_text_words: Annotated[int, typer.Option(min=1, help="Words per text.")] = 2000,
    max_queue: Annotated[int, typer.Option(min=1, help="Texts that may wait.")] = 1024,
    timeout: Annotated[float, typer.Option(min=0.001, max=3600, help="Seconds per request.")] = 30.0,
    batch: Annotated[int, typer.Option(min=1, help="Texts that are summarized together.")] = 32,
    wait_ms: Annotated[float, typer.Option(min=0, help="Milliseconds to wait for more texts for a batch.")] = 5.0,
    device: Device = "cpu",
    threads: Threads = 0,
) -> None:
    """Serve the summarizers of a run over HTTP, with a page to try them on.

    If NUTGRAF_API_KEY is set in the environment, requests need that key.

    Example: `nutgraf serve --model run/ --port 8000`
    """
    _need("serve", "serve")
    from nutgraf.serve import server
    from nutgraf.serve.limits import Limits
    from nutgraf.serve.models import Models
    from nutgraf.summarizing.ready import find_model

    limits = Limits(max_body, max_texts, max_text_words, max_queue, timeout, batch, wait_ms / 1000)
    hardware = _use_hardware(device, threads)
    with server.listen(host, port) as listening:
        server.serve(Models.load(find_model(model), models or (), hardware.device), limits, listening, _say)


@app.command()
def export(
    folder: RunFolder,
    target: Annotated[Path, typer.Argument(help="The folder to write, which must not exist yet.", metavar="OUT")],
    models: Annotated[list[str] | None, typer.Option(help="This summarizer (repeatable); none: the best.")] = None,
    int8: Annotated[bool, typer.Option("--int8", help="One byte per weight, not two: slightly less exact.")] = False,
) -> None:
    """Write a folder with only what `summarize --model` and `serve --model` need.

    Example: `nutgraf export run/ served/ --models mu1-2 --models all-2`
    """
    from nutgraf.run.folder import Run
    from nutgraf.summarizing.export import write

    made = write(Run.open(folder), target, models or (), "int8" if int8 else "half")
    best = made.best()
    typer.echo(f"{target}: {', '.join(made.names)}; {made.size / 1e6:.1f} MB. Default {best.name}: {best.reason}")


@app.command()
def samples(
    folder: RunFolder,
    texts: Annotated[str | None, typer.Option(help="Texts of your own, one per line.")] = None,
    summaries: Annotated[str | None, typer.Option(help="Summaries of your own, one per line.")] = None,
    models: Annotated[list[str] | None, typer.Option(help="Predict with this summarizer (repeatable).")] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of sentences.")] = 5,
    device: Device = "cpu",
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Print artificial full texts of each expander, by iteration, and predictions: the paper's Tables 1, 4 and 5.

    Example: `nutgraf samples run/ --summaries mine.txt`
    """
    from nutgraf.evaluation.samples import samples as take_samples
    from nutgraf.run.folder import Run
    from nutgraf.terminal.tables import show_samples
    from nutgraf.text.reading import read_lines

    hardware = _use_hardware(device, threads)
    own = [list(read_lines(path, count)) if path else [] for path in (texts, summaries)]
    taken = take_samples(Run.open(folder), hardware, own[0], own[1], models or (), count)
    if as_json:
        _print_json(asdict(taken))
        return
    show_samples("Artificial full texts, by expander (Tables 1 and 4)", "Summary", taken.expansions)
    show_samples("Predictions (Table 5)", "Text", taken.predictions)


@app.command()
def report(
    folder: RunFolder,
    file: Annotated[Path | None, typer.Option("--out", help="The file to write; default: RUN/report.html.")] = None,
) -> None:
    """Write the report of a run, finished or not: one HTML file.

    Example: `nutgraf report run/ --out report.html`
    """
    _need("train", "report")
    from nutgraf.report import write_report
    from nutgraf.run.folder import Run

    typer.echo(str(write_report(Run.open(folder), file)))


@app.command()
def recipe(
    name: Annotated[str, typer.Argument(help="paper, cpu, quick, or a TOML file.")] = "cpu",
    settings: Settings = None,
) -> None:
    """Print a recipe with all its values, as a start for your own file.

    Example: `nutgraf recipe cpu --set plan.iterations=4 > mine.toml`
    """
    from nutgraf import recipe as recipes

    sys.stdout.write(recipes.override(recipes.load(name), settings or []).to_toml())


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="The folder for the corpus and the run.")] = Path("demo"),
    offline: Annotated[bool, typer.Option("--offline", help="Download nothing: use generated newswire.")] = False,
    threads: Threads = 0,
) -> None:
    """Download real newswire, train with the recipe `quick`, print the tables and ten summaries.

    Example: `nutgraf demo`
    """
    _need("train", "demo")
    from nutgraf.demo.corpus import prepare_demo
    from nutgraf.terminal.tables import show_samples

    corpus = prepare_demo(folder / "corpus", _say, offline)
    run = folder / "run"
    train(str(corpus.texts), str(corpus.summaries), run, "quick", threads=threads)
    evaluate(run, str(corpus.test), threads=threads)
    show_samples("Ten held-out sentences", "Text", _summarize_ten(run, corpus.test))
    _say(f"The corpus is in {corpus.texts.parent}, the run in {run}. More: nutgraf samples {run}")


def _summarize_ten(run: Path, test: Path) -> list[Sample]:
    from nutgraf.evaluation.samples import Sample
    from nutgraf.summarizing.summarizer import Summarizer
    from nutgraf.text.reading import read_pairs

    summarizer = Summarizer.load(run)
    pairs = read_pairs(str(test), 10)
    outputs = summarizer([text for text, _ in pairs])
    return [
        Sample(text, ((summarizer.name, output), ("Title", title)))
        for (text, title), output in zip(pairs, outputs, strict=True)
    ]


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A smoke test: tiny sizes, figures without meaning.")] = False,
    file: Annotated[Path | None, typer.Option("--out", help="Also write the JSON to this file.")] = None,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory on this machine, as ratios to plain code, to fairseq and to the machine's limit.

    Example: `nutgraf bench --out bench.json`
    """
    _need("train", "bench")
    _need("serve", "bench")
    from nutgraf.bench.results import bench as measure
    from nutgraf.bench.results import tables
    from nutgraf.terminal.console import out

    report = measure(quick, threads, _say)
    if file:
        file.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    if as_json:
        _print_json(asdict(report))
        return
    for table in tables(report):
        out.print(table)


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _warn(message: str) -> None:
    _say(f"{typer.style('warning:', fg='yellow')} {message}")


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def _need(extra: str, command: str) -> None:
    from nutgraf.extras import need_extra

    need_extra(extra, f"nutgraf {command}")


def _use_hardware(device: str, threads: int) -> Hardware:
    from nutgraf.hardware import Hardware

    hardware = Hardware.of(device, threads)
    hardware.use()
    return hardware


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    share_cores()
    app(arguments, prog_name="nutgraf")


if __name__ == "__main__":
    main()
