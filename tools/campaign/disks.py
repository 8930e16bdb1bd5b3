"""Disks that are full, that fail, or that cannot be written to: one line, exit code 2, and the run can go on."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tiny import Corpus, write_corpus
from tools.campaign.stage import Stage, live, wait
from tools.campaign.tiny_run import differences, digests, run_all

ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
CALLS = ("open", "fsync", "replace", "mkdir", "unlink", "scandir", "listdir", "fdopen")  # of os
NOBODY = 65_534


def attack(stage: Stage) -> None:
    """Let one run meet every failure in turn; in the end it must have the bytes of the undisturbed one."""
    corpus = write_corpus(stage.folder)
    undisturbed = stage.folder / "undisturbed"
    undisturbed.mkdir()
    if wait(live(lambda: run_all(corpus, undisturbed), stage.folder / "undisturbed.log")):
        stage.fail(f"the undisturbed run failed:\n{(stage.folder / 'undisturbed.log').read_text()}")
        return
    _refuse_to_write(stage, corpus)
    expected, rounds = digests(undisturbed), 0
    while stage.goes_on(rounds):
        folder = stage.folder / f"failed-{rounds}"
        folder.mkdir()
        _fill(stage, corpus, folder)
        _fail_calls(stage, corpus, folder)
        _finish(stage, corpus, folder, expected)
        rounds += 1


def _finish(stage: Stage, corpus: Corpus, folder: Path, expected: dict[str, str]) -> None:
    log = stage.folder / "last.log"
    if code := wait(live(lambda: run_all(corpus, folder), log)):
        stage.fail(f"{folder}: with nothing in its way, ended with {code}:\n{log.read_text()[-2000:]}")
    elif different := differences(folder, expected):
        stage.fail(f"{folder}: other bytes than the undisturbed run in {', '.join(different)}")
    else:
        stage.count("runs that ended with the same bytes")


def _check(stage: Stage, work: Callable[[], None], what: str) -> bool:
    """Run work that may fail with exit code 2 and no traceback; return whether it came to its end."""
    log = stage.folder / "failing.log"
    code, said = wait(live(work, log)), log.read_text()
    if code not in (0, 2) or "Traceback" in said:
        stage.fail(f"{what}: ended with {code}:\n{said[-2000:]}")
    stage.count(what)
    return code == 0


def _fill(stage: Stage, corpus: Corpus, folder: Path) -> None:
    """Allow files of a growing size: as a disk would, it fills at every kind of file."""
    size = stage.random.randint(1, 400)
    while size < 1 << 20 and not _check(stage, _limited(size, corpus, folder), "lives with a full disk"):
        size = int(size * stage.random.uniform(1.1, 3.0)) + 1


def _limited(size: int, corpus: Corpus, folder: Path) -> Callable[[], None]:
    """Return work during which no file may become larger."""

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        run_all(corpus, folder)

    return work


def _fail_calls(stage: Stage, corpus: Corpus, folder: Path) -> None:
    """Let the first system call fail, then a later one, and so on, until a life needs no more calls."""
    number, lives, ended = 1, 0, False
    while not ended and stage.goes_on(lives):
        work = _failing(number, stage.random.choice(ERRORS), corpus, folder)
        ended = _check(stage, work, "lives with a failing system call")
        number, lives = number + stage.random.randint(1, 25), lives + 1


def _failing(number: int, error: int, corpus: Corpus, folder: Path) -> Callable[[], None]:
    """Return work during which one call of the system fails, the `number`-th that concerns the folder."""
    left = number

    def wrap(call: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                path = str(arguments[0]) if isinstance(arguments[0], str | Path) else None
                raise OSError(error, os.strerror(error), path)
            return call(*arguments, **named)

        return failing

    def work() -> None:
        for name in CALLS:
            setattr(os, name, wrap(getattr(os, name)))
        run_all(corpus, folder)

    return work


def _refuse_to_write(stage: Stage, corpus: Corpus) -> None:
    """Try to use a folder as somebody who may only read it."""
    folder = stage.folder / "readonly"
    folder.mkdir()
    for path in (stage.folder, folder):
        path.chmod(0o555)

    def work() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        run_all(corpus, folder)

    log = stage.folder.with_name("readonly.log")
    try:
        code = wait(live(work, log))
    finally:
        stage.folder.chmod(0o755)
        folder.chmod(0o755)
    said = log.read_text()
    if code != 2 or "Traceback" in said or any(folder.iterdir()):
        stage.fail(f"a folder that may only be read: ended with {code}:\n{said[-2000:]}")
    stage.count("folders that may only be read")
