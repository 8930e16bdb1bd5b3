"""Help, the version and mistakes in the usage: short text and an exit code, never a traceback.

`make lowest` runs these with the oldest and the newest typer that we allow.
"""

import subprocess
import sys
from importlib.metadata import version

import pytest

from nutgraf import cli

Capture = pytest.CaptureFixture[str]
COMMANDS = [
    "train",
    "status",
    "evaluate",
    "summarize",
    "models",
    "serve",
    "export",
    "samples",
    "report",
    "recipe",
    "demo",
    "bench",
]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(arguments))
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_all_commands(option: str, capsys: Capture) -> None:
    assert run(option) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: nutgraf [OPTIONS] COMMAND [ARGS]...\n")
    assert shown.err == ""
    for command in COMMANDS:
        assert f"\n  {command} " in shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: Capture) -> None:
    assert run(command, "-h") == 0
    short = capsys.readouterr()
    assert short.out.startswith(f"Usage: nutgraf {command}")
    assert f"Example: `nutgraf {command}" in short.out
    assert short.err == ""
    assert run(command, "--help") == 0
    assert capsys.readouterr().out == short.out


def test_summarise_is_summarize(capsys: Capture) -> None:
    assert run("summarise", "-h") == 0
    alias = capsys.readouterr().out
    assert run("summarize", "-h") == 0
    assert alias.replace("summarise", "summarize") == capsys.readouterr().out


def test_help_explains_arguments_and_options(capsys: Capture) -> None:
    assert run("status", "-h") == 0
    shown = capsys.readouterr().out
    assert "The run folder." in shown
    assert "Print JSON." in shown


def test_without_a_command_help_goes_to_standard_error(capsys: Capture) -> None:
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert run() == 2
    shown = capsys.readouterr()
    assert shown.err == text
    assert shown.out == ""


def test_version(capsys: Capture) -> None:
    assert run("--version") == 0
    shown = capsys.readouterr()
    assert shown.out == f"nutgraf {version('nutgraf')}\n"
    assert shown.err == ""


@pytest.mark.parametrize(
    ("arguments", "usage", "wrong"),
    [
        ("trian", "nutgraf", "trian"),
        ("--verbose", "nutgraf", "--verbose"),
        ("train --wat", "nutgraf train", "--wat"),
        ("train", "nutgraf train", "--texts"),
        ("train --texts a", "nutgraf train", "--summaries"),
        ("train --texts a --summaries b --seed soon", "nutgraf train", "--seed"),
        ("train --texts a --summaries b --threads 1.5", "nutgraf train", "--threads"),
        ("status", "nutgraf status", "RUN"),
        ("status one two", "nutgraf status", "two"),
        ("serve --model run --port 99999", "nutgraf serve", "--port"),
        ("serve --model run --port http", "nutgraf serve", "--port"),
        ("serve --model run --timeout 0", "nutgraf serve", "--timeout"),
        ("samples run --count -1", "nutgraf samples", "--count"),
        ("summarize --model run --max-words 0", "nutgraf summarize", "--max-words"),
    ],
)
def test_a_mistake_gives_the_usage_and_what_is_wrong(arguments: str, usage: str, wrong: str, capsys: Capture) -> None:
    assert run(*arguments.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    first, *_, last = shown.err.splitlines()
    assert first.startswith(f"Usage: {usage} [OPTIONS]")
    assert last.startswith("Error: ")
    assert wrong in last
    assert len(shown.err.splitlines()) <= 5


@pytest.mark.parametrize(("arguments", "wrong"), [("train --texts", "--texts"), ("train --plan=yes", "--plan")])
def test_a_value_too_few_or_too_many_is_explained_without_usage(arguments: str, wrong: str, capsys: Capture) -> None:
    assert run(*arguments.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert wrong in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "module", "message"),
    [
        ("train --texts a --summaries b", "gensim", "nutgraf train needs the training extra"),
        ("train --texts a --summaries b", "ot", "nutgraf train needs the training extra"),
        ("evaluate run --pairs a", "rouge_score", "nutgraf evaluate needs the training extra"),
        ("report run", "jinja2", "nutgraf report needs the training extra"),
        ("samples run", "torch", "nutgraf samples needs the training extra"),
        ("demo", "gensim", "nutgraf demo needs the training extra"),
        ("bench", "gensim", "nutgraf bench needs the training extra"),
        ("serve --model run", "uvicorn", "nutgraf serve needs the server extra"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(
    arguments: str, module: str, message: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nutgraf import extras

    for names in extras.MODULES.values():
        for name in names:
            monkeypatch.setitem(sys.modules, name, sys)  # there, whether it is installed or not
    monkeypatch.setitem(sys.modules, module, None)
    assert run(*arguments.split()) == 2
    extra = "serve" if "server" in message else "train"
    how = f"pip install '.[{extra}]' in the folder that nutgraf was installed from"
    assert capsys.readouterr().err == f"error: {message}: {how}\n"


def test_ctrl_c_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def stop(extra: str, command: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nutgraf.cli.evaluating.need_extra", stop)
    assert run("report", "run") == 130
    assert capsys.readouterr().err == ""


TALKS = """
from nutgraf.cli import evaluating, main
evaluating.need_extra = lambda *_: print("x" * 10**6)
main(["report", "."])
"""


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    process = subprocess.Popen([sys.executable, "-c", TALKS], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 141
