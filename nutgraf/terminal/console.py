"""Standard output for data, standard error for everything else, so that output can be piped."""

from __future__ import annotations

from rich.console import Console


class PipedConsole(Console):
    """A console that leaves it to the command line what happens when the reader of a pipe is gone."""

    def on_broken_pipe(self) -> None:
        """Raise what rich would turn into exit code 1."""
        raise BrokenPipeError


out = PipedConsole()
err = PipedConsole(stderr=True)
