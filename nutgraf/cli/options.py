"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunFolder = Annotated[Path, typer.Argument(help="The run folder.", metavar="RUN")]
Model = Annotated[
    str | None,
    typer.Option(
        help="A run folder or an export, one of its models (run/mu1-2), an export in a store (s3://bucket/export), or "
        "a ready model; default: news."
    ),
]
RecipeName = Annotated[str, typer.Option("--recipe", "-r", help="paper, cpu, quick, or a TOML file.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change the recipe: --set training.batch=32 (repeatable).")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:0.")]
Threads = Annotated[int, typer.Option(help="CPU threads, at most 256 or one per core; 0: one per core.")]
Cluster = Annotated[
    str | None, typer.Option(help="Work on a Ray cluster, whose machines share all files: ray or ray:HOST:PORT.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
