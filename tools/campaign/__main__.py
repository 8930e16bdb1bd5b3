"""Runs the parts of the campaign in turn, prints figures, and ends with 1 if anything failed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

SHARES = {"kills": 0.4, "disks": 0.1, "readers": 0.2, "server": 0.3}  # of the time


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m tools.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="repeats the random choices of an earlier campaign")
    parser.add_argument("--only", choices=SHARES, action="append", help="this part alone (repeatable)")
    parser.add_argument("--rounds", type=int, default=0, help="stop each part after this many, whatever the time")
    asked = parser.parse_args()
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    os.environ["OMP_NUM_THREADS"] = "1"  # lives are forks, and a pool of threads does not survive one
    parts = [name for name in asked.only or SHARES if importlib.util.find_spec(f"tools.campaign.{name}")]
    print(f"seed {seed}, commit {_commit()}, {asked.minutes:g} minutes: {', '.join(parts)}", flush=True)
    total = sum(SHARES[name] for name in parts)
    seconds = {name: 60 * asked.minutes * SHARES[name] / total for name in parts}
    failed = [name for name in parts if not run_part(name, seed, seconds[name], asked.rounds)]
    print(f"failed: {', '.join(failed)}; repeat with --seed {seed}" if failed else "nothing failed")
    sys.exit(1 if failed else 0)


def run_part(name: str, seed: int, seconds: float, rounds: int = 0) -> bool:
    """Run one part in a folder of its own and print its figures; return whether all went well."""
    from tools.campaign.stage import Stage

    attack: Callable[[Stage], None] = importlib.import_module(f"tools.campaign.{name}").attack
    with tempfile.TemporaryDirectory(prefix="nutgraf-campaign-") as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / name
        folder.mkdir()
        stage = Stage(folder, Random(f"{seed} {name}"), seconds, rounds)
        attack(stage)
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
