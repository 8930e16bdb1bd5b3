"""The command line, put together: every command in the order of --help, exit codes, --version."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nutgraf.cli.bench import bench
from nutgraf.cli.demo import demo
from nutgraf.cli.evaluating import evaluate, report, samples
from nutgraf.cli.output import say
from nutgraf.cli.serving import export, serve
from nutgraf.cli.summarizing import models, summarize
from nutgraf.cli.training import recipe, status, train
from nutgraf.errors import LACKING, NutgrafError, lacks_memory
from nutgraf.hardware import share_cores

_NO_MEMORY = "not enough memory. Close other programs, or raise the limit; a training resumes with the same command"
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
            code = _fail(str(error))
        except KeyboardInterrupt:
            code = 130
        except OSError as error:
            code = _fail_of_system(error)
        except LACKING as error:
            if not lacks_memory(error):
                raise
            code = _fail(_NO_MEMORY)
        raise typer.Exit(code)


def _fail_of_system(error: OSError) -> int:
    """Say that the system failed: a full disk, a folder without permission. A traceback would not explain it."""
    # Python must not complain once more when it closes standard output.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
        return 141
    return _fail(f"{str(error.filename or 'output')[:200]}: {error.strerror or error}")


def _fail(message: str) -> int:
    """Say what went wrong, without control characters that may come from a file; return the exit code."""
    shown = "".join(letter if letter.isprintable() or letter == "\n" else f"\\x{ord(letter):02x}" for letter in message)
    with suppress(OSError):  # standard error may be closed
        say(f"{typer.style('error:', fg='red')} {shown}")
    return 2


app = typer.Typer(
    cls=_Group,
    subcommand_metavar="COMMAND [ARGS]...",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help takes half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


COMMANDS = (train, status, evaluate, summarize, models, serve, export, samples, report, recipe, demo, bench)
for command in COMMANDS:
    app.command()(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    try:
        share_cores()
        app(arguments, prog_name="nutgraf")
    except SystemExit as stopped:
        # Typer prints help itself, and ends with 1 where the reader of a pipe is gone.
        if stopped.code == 1 and isinstance(stopped.__context__, BrokenPipeError):
            raise SystemExit(_fail_of_system(stopped.__context__)) from None
        raise
    except OSError as error:
        raise SystemExit(_fail_of_system(error)) from None
    except LACKING as error:  # before a command could start
        if not lacks_memory(error):
            raise
        raise SystemExit(_fail(_NO_MEMORY)) from None
