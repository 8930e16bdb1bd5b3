"""The models that there are, printed on standard output."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from nutgraf.summarizing.ready import ModelFolder
from nutgraf.terminal.console import err, out


def show_models(found: Sequence[ModelFolder]) -> None:
    """Print a row per run or export: what to give to --model, what it is, its summarizers."""
    if not found:
        err.print("no models here, and none comes with this installation. `nutgraf train` makes one", soft_wrap=True)
        return
    table = Table("--model", "kind", "default", "summarizers", "")
    for one in found:
        table.add_row(*map(escape, (one.name, one.kind, one.default, ", ".join(one.summarizers), one.note)))
    out.print(table)
