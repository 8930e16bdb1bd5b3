"""The command `bench`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nutgraf.cli.options import AsJson, Threads
from nutgraf.cli.output import print_json, say
from nutgraf.extras import need_extra


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A smoke test: tiny sizes, figures without meaning.")] = False,
    file: Annotated[Path | None, typer.Option("--out", help="Also write the JSON to this file.")] = None,
    threads: Threads = 0,
    as_json: AsJson = False,
) -> None:
    """Measure speed and memory on this machine. Figures are ratios to plain code, to fairseq and to its limit.

    Example: `nutgraf bench --out bench.json`
    """
    need_extra("train", "nutgraf bench")
    need_extra("serve", "nutgraf bench")
    from nutgraf.bench.results import bench as measure
    from nutgraf.bench.results import tables
    from nutgraf.terminal.console import out

    report = measure(quick, threads, say)
    if file:
        file.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(asdict(report))
        return
    for table in tables(report):
        out.print(table)
