"""What commands print, and how they begin: data on standard output, everything else on standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from nutgraf.hardware import Hardware


def say(line: str) -> None:
    """Print a line on standard error."""
    typer.echo(line, err=True)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    say(f"{typer.style('warning:', fg='yellow')} {message}")


def print_json(value: object) -> None:
    """Print data as JSON on standard output."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def need(extra: str, command: str) -> None:
    """Check that an extra is installed."""
    from nutgraf.extras import need_extra

    need_extra(extra, f"nutgraf {command}")


def use_hardware(device: str, threads: int) -> Hardware:
    """Check the device, and set the number of threads."""
    from nutgraf.hardware import Hardware

    hardware = Hardware.of(device, threads)
    hardware.use()
    return hardware
