"""What the command line does when the system fails it: one line and exit code 2; 141 where a pipe's reader is gone."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nutgraf import cli
from nutgraf.errors import RunError
from nutgraf.run.evaluations import Estimate, Evaluation, Row
from nutgraf.run.folder import Run
from nutgraf.run.inputs import read_source
from nutgraf.summarizing.ready import list_models
from tests.tiny import Corpus
from tools.campaign.stage import live, wait

NUTGRAF = [sys.executable, "-m", "nutgraf.cli"]
TEXT = "Profit fell on monday ."


def fails(*arguments: str | Path, file_size: int = 0) -> str:
    """Run a command that must end with one line on standard error and exit code 2; return the line.

    It runs in a fork of this process, which has imported everything; no file may become larger there than file_size.
    """

    def work() -> None:
        if file_size:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        cli.main([*map(str, arguments)])

    reading, writing = os.pipe()  # which has no size
    child = live(work, Path(f"/dev/fd/{writing}"))
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    return check_line(wait(child), said)


def fails_with_memory_of(size: int, *arguments: str | Path) -> str:
    """Do the same in a new process, which may have no more memory from its start."""
    command = [*NUTGRAF, *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )
    return check_line(done.returncode, done.stderr)


def check_line(code: int, said: str) -> str:
    assert code == 2, said
    lines = [line for line in said.splitlines() if not line.startswith(("warning", "nutgraf"))]
    assert len(lines) == 1, said
    assert lines[0].startswith("error: ")
    return lines[0]


def test_a_model_that_is_a_file_or_a_very_long_name(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("")
    assert "a file" in fails("summarize", TEXT, "--model", tmp_path / "model")
    assert "File name too long" in fails("summarize", TEXT, "--model", "x" * 5_000)
    assert len(fails("summarize", TEXT, "--model", tmp_path / ("x" * 5_000))) < 300


def test_an_out_that_cannot_be_written_to(corpus: Corpus, finished: Run, tmp_path: Path) -> None:
    files = ("--texts", corpus.texts, "--summaries", corpus.summaries)
    assert "--out /proc/run" in fails("train", *files, "--out", "/proc/run")
    assert "/proc/export" in fails("export", finished.folder, "/proc/export")
    assert "/proc/report" in fails("report", finished.folder, "--out", "/proc/report")
    assert "/proc/demo" in fails("demo", "--offline", "--out", "/proc/demo")


def test_a_full_disk_in_evaluate_and_export(corpus: Corpus, copied: Run, tmp_path: Path) -> None:
    evaluate = ("evaluate", copied.folder, "--pairs", corpus.pairs, "--models", "mu1-0", "--threads", "1")
    assert "evaluation/pairs/Lead-8.txt: File too large" in fails(*evaluate, file_size=100)
    assert not list(copied.folder.glob("evaluation/**/*.*"))
    assert "cannot be written" in fails("export", copied.folder, tmp_path / "export", file_size=1_000)
    assert not list(tmp_path.glob("*export*"))


def test_too_little_memory_from_the_start(corpus: Corpus, copied: Run) -> None:
    # With about 100 MB, OpenBLAS itself ends the process.
    assert "not enough memory" in fails_with_memory_of(60 << 20, "summarize", TEXT, "--model", copied.folder)
    evaluate = ("evaluate", copied.folder, "--pairs", corpus.pairs, "--models", "mu1-0", "--threads", "1")
    assert "not enough memory" in fails_with_memory_of(400 << 20, *evaluate)  # torch wants more


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
        type("OutOfMemoryError", (RuntimeError,), {})("Failed to allocate a Tensor object"),  # torch's
        ImportError("libtorch.so: failed to map segment from shared object"),
    ],
)
@pytest.mark.parametrize("place", [("nutgraf.recipe", "load"), ("nutgraf.cli.app", "share_cores")])
def test_every_lack_of_memory_is_one_line(
    place: tuple[str, str], error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules[place[0]], place[1], fail)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["recipe", "cpu"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("error: not enough memory. ")


def test_other_errors_are_not_taken_for_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("nutgraf.recipe.load", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["recipe", "cpu"])


@pytest.mark.parametrize("command", [["recipe", "cpu"], ["--help"], ["models", "--json"]])
def test_a_full_disk_behind_standard_output(command: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run([*NUTGRAF, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"error: output: {os.strerror(errno.ENOSPC)}\n"


@pytest.mark.parametrize("command", [["recipe", "cpu"], ["--help"], ["--version"], ["status"], ["samples"]])
def test_a_closed_pipe_ends_with_141(finished: Run, command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [*command, str(finished.folder)] if command[0] in ("status", "samples") else command
    done = subprocess.run([*NUTGRAF, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_no_control_character_of_a_name_reaches_the_terminal(tmp_path: Path) -> None:
    for name in ("\x1b[2J", "\x9b2J", "\u202e"):
        line = fails("status", tmp_path / name)
        assert line.isprintable()
        assert f"\\x{ord(name[0]):02x}" in line


def row(name: str, score: float) -> Row:
    estimate = Estimate(score, score, score)
    return Row(name, 0, estimate, estimate, estimate, 8.0, 1.0, 0.0, 20, "rouge")


def test_a_best_model_that_is_gone_is_not_replaced_silently(corpus: Corpus, copied: Run, tmp_path: Path) -> None:
    source = read_source(corpus.pairs)
    path = Evaluation.place(copied.folder, source)
    path.parent.mkdir()
    Evaluation(path, source, (row("mu1-2", 30.0), row("all-2", 20.0), row("Lead-8", 40.0)), {}).save()
    best = copied.best()
    assert best is not None
    assert best.name == "mu1-2"
    (copied.step_folder("mu1-2") / "manifest.json").unlink()
    with pytest.raises(RunError, match=r"steps/mu1-2/manifest\.json: missing.* name another one, such as .*run/all-2"):
        copied.best()
    assert [found.note[:4] for found in list_models(copied.folder)][-1:] != ["the "]
    (copied.step_folder("mu1-2") / "manifest.json").write_text("{")
    assert "manifest.json: damaged" in fails("summarize", TEXT, "--model", copied.folder)
    shutil.rmtree(copied.step_folder("mu1-2"))
    assert "mu1-2" in fails("summarize", TEXT, "--model", copied.folder)
    path.write_text("{")
    with pytest.raises(RunError, match=r"pairs\.json: its content cannot be used"):
        copied.best()
