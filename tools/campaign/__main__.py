"""Runs the parts of the campaign in two lanes, prints figures, and ends with 1 if anything failed."""

from __future__ import annotations

import argparse
import importlib
import os
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from random import Random

# Two lanes, for two cores: the parts of a lane run in turn, and share its time. What a part leaves over, as the server
# does after MOST_REQUESTS, goes to those after it.
LANES = ({"kills": 0.85, "memory": 0.15}, {"server": 0.45, "readers": 0.4, "disks": 0.15})


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m tools.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="repeats the random choices of an earlier campaign")
    parser.add_argument("--only", choices=[*chain(*LANES)], action="append", help="this part alone (repeatable)")
    parser.add_argument("--rounds", type=int, default=0, help="stop each part after this many, whatever the time")
    asked = parser.parse_args()
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    os.environ["OMP_NUM_THREADS"] = "1"  # lives are forks, and a pool of threads does not survive one
    parts = [name for name in chain(*LANES) if name in (asked.only or chain(*LANES))]
    print(f"seed {seed}, commit {_commit()}, {asked.minutes:g} minutes: {', '.join(parts)}", flush=True)
    lanes = [{name: share for name, share in lane.items() if name in parts} for lane in LANES]
    children = [_start(lane, seed, 60 * asked.minutes, asked.rounds) for lane in lanes if lane]
    ended = [os.waitpid(child, 0)[1] for child in children]
    print(f"something failed; repeat with --seed {seed}" if any(ended) else "nothing failed")
    sys.exit(1 if any(ended) else 0)


def _start(lane: Mapping[str, float], seed: int, seconds: float, rounds: int) -> int:
    """Run the parts of a lane in a child; return its process id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = 0 if run_lane(lane, seed, seconds, rounds) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def run_lane(lane: Mapping[str, float], seed: int, seconds: float, rounds: int = 0) -> bool:
    """Run the parts of a lane in turn; return whether all went well."""
    until, left, well = time.monotonic() + seconds, sum(lane.values()), True
    for name, share in lane.items():
        given = max(0.0, until - time.monotonic()) * share / left
        well = run_part(name, seed, given, rounds) and well
        left -= share
    return well


def run_part(name: str, seed: int, seconds: float, rounds: int = 0) -> bool:
    """Run one part in a folder of its own and print its figures; return whether all went well."""
    from tools.campaign.stage import Stage

    attack: Callable[[Stage], None] = importlib.import_module(f"tools.campaign.{name}").attack
    with tempfile.TemporaryDirectory(prefix="nutgraf-campaign-") as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / name
        folder.mkdir()
        stage = Stage(folder, Random(f"{seed} {name}"), seconds, rounds)
        began = time.monotonic()
        attack(stage)
    print(f"{name}: {time.monotonic() - began:,.0f} seconds")
    for what, count in sorted(stage.counts.items()):
        print(f"{name}: {count:,} {what}")
    for failure in stage.failures:
        print(f"{name} FAILED: {failure}")
    sys.stdout.flush()
    return not stage.failures


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
