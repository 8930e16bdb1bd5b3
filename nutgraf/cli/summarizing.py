"""Commands that summarize: `summarize`, and `models`, which lists what to summarize with."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nutgraf.cli.options import AsJson, Cluster, Device, Model, Threads
from nutgraf.cli.output import print_json, say
from nutgraf.errors import InputError
from nutgraf.hardware import Hardware, hold_blas, set_threads
from nutgraf.store import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nutgraf.summarizing.results import SummaryOptions
    from nutgraf.summarizing.summarizer import Summarizer
    from nutgraf.terminal.summaries import AnswerBlocks


def summarize(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            help="Texts in quotes, or files with a text per line (plain, .gz, .xz; - is standard input).",
            metavar="[TEXT|FILE]...",
        ),
    ] = None,
    model: Model = None,
    max_words: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Longest summary; a model may write less.")
    ] = None,
    min_words: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Shortest summary, if the model allows it.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show where words come from, and which are new.")] = False,
    n_best: Annotated[
        int, typer.Option(min=1, max=50, help="Up to this many summaries of each text, best first, with their scores.")
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
    bullets: Annotated[
        int, typer.Option(min=0, max=100, help="With --document: also this many lines on other points.")
    ] = 0,
    device: Device = "cpu",
    threads: Threads = 0,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Summarize texts, one summary per line. An empty text has an empty line.

    An argument with a blank is a text, any other one a file. Without arguments, texts come from standard input, one per
    line: each line that you type is answered at once, and so is each line of a slow pipe.

    If a text is longer than the model reads, standard error says how much was read. `--per-sentence` reads all, and
    prints three columns with tabs between: the number of the text, the number of the sentence, the summary.

    The score of `--n-best` is the model's own probability of the summary, per word: the geometric mean over its
    words and its end. Where several models agree on a summary (agreed-N, such as the model that comes with nutgraf), it
    is a sum: how like the line is to their other proposals, how well it reads, how much of a real summary it has and,
    in some models, how well the text could be guessed from it; `--explain` shows these. A higher score is better. It
    compares summaries of one text, not texts. The first line is the summary that you get without `--n-best`; the others
    are in the order of their scores.

    With `--explain`, a word that is not in the text is shown as [word], a name or number that is not as [word?].

    With `--cluster`, the machines of a Ray cluster summarize, 256 texts per task. The lines are the same.

    `--document` takes the sentence, among the first ones, whose words matter most in the document.

    Example: `nutgraf summarize "The city council voted on Monday to close two of its five swimming pools."`

    Example: `nutgraf summarize --model run/ --max-words 10 < articles.txt`
    """
    hold_blas()
    from nutgraf.summarizing.results import SummaryOptions
    from nutgraf.summarizing.summarizer import Summarizer
    from nutgraf.terminal.summaries import Printer, ask, is_text, read_arguments

    options = SummaryOptions(max_words, min_words, faithful, n_best, explain)
    _check_document(document, bullets, per_sentence, options)
    typed = not texts and sys.stdin is not None and sys.stdin.isatty()
    if cluster and (typed or document or device != "cpu"):
        raise InputError(f"--cluster {cluster}: takes files or a pipe; expected no --document and no --device")
    if cluster and model and is_url(model):
        raise InputError(f"--model {model}: with --cluster, expected a folder that all machines see")
    whole = [not document and is_text(text) for text in texts or ()]  # before the model is loaded, which takes a second
    hardware = Hardware.of(device, threads or (1 if cluster else 0))
    summarizer = Summarizer.load(model, device=device, light=device == "cpu")
    set_threads(hardware.threads)  # now torch is loaded, if this model needs it
    if sys.stderr.isatty() and (typed or model):
        say(f"Model {summarizer.name}: {summarizer.reason}")
    if document:
        _summarize_documents(summarizer, texts or ["-"], options, bullets, as_json)
        return
    numbered = not typed and whole != [True]
    with _use_workers(cluster, summarizer, model, options, hardware) as answer:
        printer = Printer(summarizer, options, per_sentence, as_json, numbered, answer)
        printer.print_all(ask() if typed else read_arguments(texts or ["-"]))


@contextmanager
def _use_workers(
    cluster: str | None, summarizer: Summarizer, model: str | None, options: SummaryOptions, hardware: Hardware
) -> Iterator[AnswerBlocks | None]:
    """Yield who summarizes: the workers of a cluster; None where none is named."""
    if cluster is None:
        yield None
        return
    from nutgraf.summarizing.loading import locate
    from nutgraf.summarizing.ready import find_model
    from nutgraf.summarizing.systems import System
    from nutgraf.terminal.summaries import answer_elsewhere
    from nutgraf.workers.cluster import use_executor

    place, _ = locate(find_model(model), None)
    with use_executor(cluster, hardware, None) as executor:
        yield answer_elsewhere(
            executor, System(place, summarizer.name, hardware, light=True), options, hardware.threads
        )


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


def models(
    folder: Annotated[Path, typer.Argument(help="A run, an export, or a folder of such.", metavar="[FOLDER]")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List the models that come with nutgraf, runs and exports.

    Example: `nutgraf models`
    """
    from nutgraf.summarizing.ready import list_models
    from nutgraf.terminal.models import show_models

    found = list_models(folder)
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        show_models(found)
