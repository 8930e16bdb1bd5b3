"""Lives of a whole tiny run, ended by SIGKILL, SIGTERM or SIGINT at random moments, or begun twice at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.tiny import Corpus
from tools.campaign.stage import Stage, live, wait
from tools.campaign.tiny_run import compare, prepare, run_all

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SECOND = 0.04  # of the lives have a second one beside them, which ends the run where the first is killed
MOST_LIVES = 40  # then the run is left to finish
ENDED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130}


def attack(stage: Stage) -> None:
    """Kill runs until the time is over; each must end with the bytes of the undisturbed one."""
    if (prepared := prepare(stage)) is None:
        return
    (corpus, expected, seconds), rounds = prepared, 0
    while stage.goes_on(rounds):
        folder = stage.folder / f"killed-{rounds}"
        folder.mkdir()
        _disturb(stage, corpus, folder, seconds)
        compare(stage, folder, expected)
        rounds += 1


def _disturb(stage: Stage, corpus: Corpus, folder: Path, seconds: float) -> None:
    """End lives of one run at random moments, short lives and long ones, until one ends by itself."""
    for number in range(MOST_LIVES + 1):
        log = folder.with_name(f"{folder.name}.log")
        child = live(lambda: run_all(corpus, folder), log)
        other = live(lambda: run_all(corpus, folder), Path(f"{log}.2")) if stage.random.random() < SECOND else 0
        sent = stage.random.choice(SIGNALS)
        # Most runs are longer than most lives, and every moment of the run is met by some.
        life = stage.random.random() ** 4 * seconds
        ended = _end(child, sent, life) if number < MOST_LIVES and time.monotonic() < stage.until else wait(child)
        if other:
            _check_second(stage, wait(other), Path(f"{log}.2"), ended)
        if ended in ENDED:
            stage.count(f"lives ended by {sent.name}")
        elif ended == 2 and other:  # the other one had the lock
            stage.count("lives that found another one at work")
        elif ended == 0:
            return
        if ended not in ENDED | {0, 2} or "Traceback" in log.read_text():
            stage.fail(f"{folder}: life {number} ended with {ended} after {sent.name}:\n{log.read_text()[-2000:]}")
            return


def _end(child: int, sent: signal.Signals, seconds: float) -> int:
    """Send a signal to a child once it has computed for some seconds, unless it ends before; return how it ended."""
    began = time.monotonic()
    while _computed(child, began) < seconds:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, sent)
    return wait(child)


def _computed(child: int, began: float) -> float:
    """Return for how many seconds a child has computed, however busy the machine is; without /proc, since it began."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return time.monotonic() - began


def _check_second(stage: Stage, code: int, log: Path, first: int) -> None:
    """A second process on one folder is refused in one line, or does the work where the first is gone."""
    said = log.read_text()
    if "Traceback" in said or code not in (0, 2) or (code == 2 and "another process" not in said and first == 0):
        stage.fail(f"{log}: a second process on one folder ended with {code}:\n{said[-2000:]}")
    stage.count("second processes on one folder")
