"""The run that is disturbed: training, evaluation, report and export of the tests' tiny recipe, by the command line."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nutgraf import cli
from nutgraf.learning import loop
from tests.tiny import Corpus, write_corpus
from tools.campaign.stage import Stage, live, wait

SMALL = ("--set", 'plan.initializers=["mu1", "dbae"]', "--set", "dbae.steps=4", "--set", "mu1.steps=4")


def prepare(stage: Stage) -> tuple[Corpus, dict[str, str], float] | None:
    """Run it undisturbed; return its corpus, its digests and the seconds that it computed, or None if it failed.

    All modules that it needed are imported then, so that the lives of a run, which are forks of this process, compute
    instead of importing.
    """
    corpus, folder, log = write_corpus(stage.folder), stage.folder / "undisturbed", stage.folder / "undisturbed.log"
    folder.mkdir()
    modules = stage.folder / "modules.json"

    def run_and_list() -> None:
        run_all(corpus, folder)
        modules.write_text(json.dumps(sorted(sys.modules)))

    if os.waitpid(live(run_and_list, log), 0)[1]:
        stage.fail(f"the undisturbed run failed:\n{log.read_text()}")
        return None
    for name in json.loads(modules.read_text()):
        with suppress(Exception):  # some names in sys.modules are no modules
            importlib.import_module(name)
    expected = digests(folder)
    (again := stage.folder / "again").mkdir()
    _, status, used = os.wait4(live(lambda: run_all(corpus, again), log), 0)
    if status or differences(again, expected):
        stage.fail(f"the undisturbed run ends with other bytes when it is repeated:\n{log.read_text()}")
        return None
    return corpus, expected, used.ru_utime + used.ru_stime


def run_all(corpus: Corpus, folder: Path) -> None:
    """Train, evaluate, report and export; what is done already stays."""
    loop.CHECKPOINT_SECONDS = 0.0
    run, export = folder / "run", folder / "export"
    files = ("--texts", corpus.texts, "--summaries", corpus.summaries, "--recipe", corpus.recipe)
    call("train", *files, "--out", run, "--threads", "1", *SMALL)
    call("evaluate", run, "--pairs", corpus.pairs, "--threads", "1")
    call("report", run)
    if not export.exists():
        call("export", run, export, "--models", "all-2")


def check(stage: Stage, work: Callable[[], None], what: str, aborts: bool = False) -> bool:
    """Run work that may fail with exit code 2 and no traceback; return whether it came to its end.

    `aborts`: a library in another language, or Python itself (a SystemError), may give up, which is counted apart.
    """
    log = stage.folder / "failing.log"
    code, said = wait(live(work, log)), log.read_text()
    aborted = aborts and (code in (-signal.SIGABRT, -signal.SIGSEGV) or "\nSystemError: " in said)
    if not aborted and (code not in (0, 2) or "Traceback" in said):
        stage.fail(f"{what}: ended with {code}:\n{said[-2000:]}")
    if code == 2 and said.count("error: ") != 1:
        stage.fail(f"{what}: not one line:\n{said[-2000:]}")
    stage.count(f"{what}, ended by a library or Python itself" if aborted else what)
    return code == 0


def finish(stage: Stage, corpus: Corpus, folder: Path, expected: dict[str, str]) -> None:
    """Let a run come to its end with nothing in its way; its bytes must be those of the undisturbed one."""
    log = stage.folder / "last.log"
    if code := wait(live(lambda: run_all(corpus, folder), log)):
        stage.fail(f"{folder}: with nothing in its way, ended with {code}:\n{log.read_text()[-2000:]}")
    else:
        compare(stage, folder, expected)


def compare(stage: Stage, folder: Path, expected: dict[str, str]) -> None:
    """Count a run that ended with the bytes of the undisturbed one; any other is a failure."""
    if different := differences(folder, expected):
        stage.fail(f"{folder}: other bytes than the undisturbed run in {', '.join(different)}")
    else:
        stage.count("runs that ended with the same bytes")


def call(*arguments: str | Path) -> None:
    """Run a command; an exit code other than 0 ends the process with it."""
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        if stopped.code:
            raise


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file that must be the same; times are left out, and files that were cut off."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name.as_posix(): _digest(path)
        for name, path in found.items()
        if not any(part.startswith(".") for part in name.parts) and path.name != "report.html"
    }


def differences(folder: Path, expected: dict[str, str]) -> list[str]:
    """Return the files that are missing, left over or other than expected."""
    found = digests(folder)
    return sorted(name for name in expected.keys() | found if expected.get(name) != found.get(name))


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if path.name == "manifest.json":
        content = json.dumps({**json.loads(content), "seconds": 0}).encode()
    return hashlib.sha256(content).hexdigest()
