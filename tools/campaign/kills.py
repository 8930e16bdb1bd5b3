"""Lives of a whole tiny run, ended by SIGKILL, SIGTERM or SIGINT at random moments, or begun twice at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.tiny import Corpus, write_corpus
from tools.campaign.stage import Stage, live, wait
from tools.campaign.tiny_run import differences, digests, run_all

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_LIVES = 40  # then the run is left to finish
ENDED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130}


def attack(stage: Stage) -> None:
    """Kill runs until the time is over; each must end with the bytes of the undisturbed one."""
    corpus = write_corpus(stage.folder)
    undisturbed = stage.folder / "undisturbed"
    undisturbed.mkdir()
    _, status, used = os.wait4(live(lambda: run_all(corpus, undisturbed), stage.folder / "undisturbed.log"), 0)
    if status:
        stage.fail(f"the undisturbed run failed:\n{(stage.folder / 'undisturbed.log').read_text()}")
        return
    expected, seconds, rounds = digests(undisturbed), used.ru_utime + used.ru_stime, 0
    while stage.goes_on(rounds):
        folder = stage.folder / f"killed-{rounds}"
        folder.mkdir()
        _disturb(stage, corpus, folder, seconds)
        if different := differences(folder, expected):
            stage.fail(f"{folder}: other bytes than the undisturbed run in {', '.join(different)}")
        else:
            stage.count("runs that ended with the same bytes")
        rounds += 1


def _disturb(stage: Stage, corpus: Corpus, folder: Path, seconds: float) -> None:
    """End lives of one run at random moments, short lives and long ones, until one ends by itself."""
    for number in range(MOST_LIVES + 1):
        log = folder.with_name(f"{folder.name}.log")
        child = live(lambda: run_all(corpus, folder), log)
        other = live(lambda: run_all(corpus, folder), Path(f"{log}.2")) if stage.random.random() < 0.1 else 0
        sent = stage.random.choice(SIGNALS)
        # Most runs are longer than most lives, and every moment of the run is met by some.
        ended = _end(child, sent, stage.random.random() ** 2 * seconds) if number < MOST_LIVES else wait(child)
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
