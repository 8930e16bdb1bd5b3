"""Commands that say how good a run is: `evaluate`, `samples` and `report`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nutgraf.cli.options import AsJson, Cluster, Device, RunFolder, Threads
from nutgraf.cli.output import print_json, warn
from nutgraf.errors import InputError
from nutgraf.extras import need_extra
from nutgraf.hardware import Hardware

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutgraf.evaluation.tables import ComparisonTable, Table


def evaluate(
    folder: RunFolder,
    pairs: Annotated[
        str,
        typer.Option(help="Lines of a text, a tab and its summary: a file or s3://bucket/test.tsv, plain, .gz or .xz."),
    ],
    models: Annotated[list[str] | None, typer.Option(help="Only this summarizer (repeatable).")] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Only test whether the first is better than the second, such as all-2 or other-run/all-2."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most this many pairs; 0: all.")] = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    device: Device = "cpu",
    threads: Threads = 0,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Print the paper's two tables for the summarizers of a run. Scores and outputs go to RUN/evaluation/.

    `--compare all-2 mu1-2` prints the differences of two summarizers, with a paired bootstrap test, and writes nothing.

    With `--cluster`, the machines of a Ray cluster summarize, 256 texts per task; outputs and scores are the same.

    Example: `nutgraf evaluate run/ --pairs test.tsv --models mu1-2 --models all-2`
    """
    need_extra("train", "nutgraf evaluate")
    from nutgraf.evaluation.evaluate import compare_systems, evaluate_run
    from nutgraf.evaluation.tables import ComparisonTable, tables
    from nutgraf.report import try_report
    from nutgraf.run.folder import Run
    from nutgraf.run.inputs import as_files
    from nutgraf.terminal.progress import watch_evaluation
    from nutgraf.workers.cluster import use_executor

    if cluster and device != "cpu":
        raise InputError(f"--cluster {cluster}: works on processors only; leave --device out")
    hardware, run = Hardware.of(device, threads or (1 if cluster else 0)).use(), Run.open(folder)
    if compare and models:
        raise InputError("--compare and --models: expected one of them; --compare names both of its summarizers")
    with as_files(pairs) as files, use_executor(cluster, hardware, None) as executor, watch_evaluation() as watch:
        if compare:
            found = compare_systems(run, str(files[0]), compare, hardware, limit, watch, executor)
        else:
            rows = evaluate_run(run, str(files[0]), hardware, models or [], limit, watch, executor).rows
    if compare:
        _show_tables([ComparisonTable(compare, found)], {"compared": compare, **asdict(found)}, markdown, as_json)
        return
    try_report(folder, warn)
    _show_tables(tables(rows), [asdict(row) for row in rows], markdown, as_json)


def _show_tables(shown: Sequence[Table | ComparisonTable], data: object, markdown: bool, as_json: bool) -> None:
    """Print tables as a terminal shows them or as Markdown, or their data as JSON."""
    from nutgraf.evaluation.tables import NARROW, WIDTH
    from nutgraf.terminal.console import out

    if as_json:
        print_json(data)
        return
    for table in shown:
        if markdown:
            typer.echo(table.markdown())
        else:
            width = out.width if out.is_terminal else max(out.width, WIDTH)  # a file or a pipe is as wide as need be
            out.print(table.rich(width), width=max(width, NARROW), soft_wrap=False, crop=False)


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
    """Print artificial texts of each expander, and predictions. These are the paper's Tables 1, 4 and 5.

    Example: `nutgraf samples run/ --summaries mine.txt`
    """
    need_extra("train", "nutgraf samples")
    from nutgraf.evaluation.samples import samples as take_samples
    from nutgraf.run.folder import Run
    from nutgraf.terminal.tables import show_samples
    from nutgraf.text.reading import read_lines

    hardware = Hardware.of(device, threads).use()
    own = [list(read_lines(path, count)) if path else [] for path in (texts, summaries)]
    taken = take_samples(Run.open(folder), hardware, own[0], own[1], models or (), count)
    if as_json:
        print_json(asdict(taken))
        return
    show_samples("Artificial full texts, by expander (Tables 1 and 4)", "Summary", taken.expansions)
    show_samples("Predictions (Table 5)", "Text", taken.predictions)


def report(
    folder: RunFolder,
    file: Annotated[Path | None, typer.Option("--out", help="The file to write; default: RUN/report.html.")] = None,
) -> None:
    """Write the report of a run, finished or not: one HTML file.

    Example: `nutgraf report run/ --out report.html`
    """
    need_extra("train", "nutgraf report")
    from nutgraf.report import write_report
    from nutgraf.run.folder import Run

    typer.echo(str(write_report(Run.open(folder), file)))
