"""Standard output for data, standard error for everything else, so that output can be piped."""

from __future__ import annotations

from rich.console import Console

out = Console()
err = Console(stderr=True)
