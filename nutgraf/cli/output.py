"""What commands print: data on standard output, everything else on standard error."""

from __future__ import annotations

import json

import typer


def say(line: str) -> None:
    """Print a line on standard error."""
    typer.echo(line, err=True)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    say(f"{typer.style('warning:', fg='yellow')} {message}")


def print_json(value: object) -> None:
    """Print data as JSON on standard output."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))
