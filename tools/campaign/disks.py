"""Disks that are full, that fail, or that cannot be written to: one line, exit code 2, and the run can go on."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tiny import Corpus
from tools.campaign.stage import Stage, live, wait
from tools.campaign.system_calls import KINDS, can_fail, fail_from_now_on
from tools.campaign.tiny_run import check, finish, prepare, run_all

ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
CALLS = ("open", "fsync", "replace", "mkdir", "unlink", "scandir", "listdir", "fdopen")  # of os
NOBODY = 65_534


def attack(stage: Stage) -> None:
    """Let one run meet every failure in turn; in the end it must have the bytes of the undisturbed one."""
    if (prepared := prepare(stage)) is None:
        return
    (corpus, expected, _), rounds = prepared, 0
    _refuse_to_write(stage, corpus)
    while stage.goes_on(rounds):
        folder = stage.folder / f"failed-{rounds}"
        folder.mkdir()
        _fill(stage, corpus, folder)
        _fail_calls(stage, corpus, folder)
        finish(stage, corpus, folder, expected)
        (broken := stage.folder / f"broken-{rounds}").mkdir()
        _break(stage, corpus, broken)
        finish(stage, corpus, broken, expected)
        rounds += 1


def _fill(stage: Stage, corpus: Corpus, folder: Path) -> None:
    """Allow files of a growing size: as a disk would, it fills at every kind of file."""
    size = stage.random.randint(1, 400)
    while size < 1 << 20 and not check(stage, _limited(size, corpus, folder), "lives with a full disk"):
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
        ended = check(stage, work, "lives with a failing system call")
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


def _break(stage: Stage, corpus: Corpus, folder: Path) -> None:
    """Let the disk fail for good once some files have been made, for every library; a later time in each life."""
    number, lives, ended = 1, 0, not can_fail()
    while not ended and stage.goes_on(lives):
        kind, error = stage.random.choice(KINDS), stage.random.choice(ERRORS)
        ended = check(stage, _breaking(number, kind, error, corpus, folder), f"lives whose {kind} fail from a time on")
        number, lives = number + stage.random.randint(0, 6), lives + 1


def _breaking(number: int, kind: str, error: int, corpus: Corpus, folder: Path) -> Callable[[], None]:
    """Return work during which the system fails once the `number`-th new file was opened."""
    left, call = number, os.open

    def breaking(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        nonlocal left
        left -= bool(flags & os.O_EXCL)
        if left == 0 and flags & os.O_EXCL:
            fail_from_now_on(kind, error)
        return call(path, flags, *arguments, **named)

    def work() -> None:
        os.open = breaking
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
