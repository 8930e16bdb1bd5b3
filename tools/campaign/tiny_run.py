"""The run that is disturbed: training, evaluation, report and export of the tests' tiny recipe, by the command line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nutgraf import cli
from nutgraf.learning import loop
from tests.tiny import Corpus

SMALL = ("--set", 'plan.initializers=["mu1", "dbae"]', "--set", "dbae.steps=4", "--set", "mu1.steps=4")


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
