"""What an attack is given, and where it leaves its figures."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

MOST_FAILURES = 20  # told in full


@dataclass
class Stage:
    """A folder to work in, randomness, a time to stop, and figures."""

    folder: Path
    random: Random
    seconds: float
    rounds: int = 0  # to stop after, whatever the time: for tests; 0: none
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.until = time.monotonic() + self.seconds

    def goes_on(self, rounds: int) -> bool:
        """Whether there is time for one more, after this many rounds."""
        return rounds < self.rounds if self.rounds else time.monotonic() < self.until or rounds == 0

    def count(self, what: str) -> None:
        """Add one to a figure."""
        self.counts[what] += 1

    def fail(self, message: str) -> None:
        """Keep what went wrong."""
        self.counts["FAILED"] += 1
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(message)


def live(work: Callable[[], None], log: Path) -> int:
    """Do something in a child, its output in a file; return its process id. It must be waited for."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # with `nohup ... &`, a shell lets it be ignored
        code = _do(work, log)
    finally:
        os._exit(code)  # whatever happens, a child must not go on as its parent


def _do(work: Callable[[], None], log: Path) -> int:
    """Do something with its output in a file, and return the exit code."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    code = 0
    try:
        work()
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 1
    except KeyboardInterrupt:  # before or after the command line could hear it
        code = 130
    except BaseException:
        code = 1
        with suppress(OSError):  # the disk may be full, for the log, too
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    return code


def wait(child: int) -> int:
    """Return the exit code of a child, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
