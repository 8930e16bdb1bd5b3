"""Run the fast tests with the oldest versions that pyproject.toml allows, and the tests of the usage with each typer.

    python -m tools.lowest

Each set of versions gets a virtual environment in a temporary folder. torch is the version of the Makefile: no older
build for the CPU alone can be installed here, so its lower bound is not tested.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
TORCH = "torch==2.13.0"
TOOLS = ("pytest", "httpx", "ruff")  # what the tests themselves use
USAGE = "tests/test_usage.py"
FAST = [
    *(f"tests/{room}" for room in ("text", "run", "models", "learning", "evaluation", "report", "terminal")),
    *("tests/serve/test_app.py", "tests/test_recipe.py", "tests/cli", "tests/test_packaging.py", USAGE),
]


def lower_bounds() -> dict[str, str]:
    """Return the oldest version allowed of each distribution that nutgraf or its tests import, but not of torch."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    tools = [line for line in extras["dev"] if line.startswith(TOOLS)]
    bounds = {}
    for line in [*project["dependencies"], *extras["train"], *extras["serve"], *tools]:
        name, bound = line.split(">=")
        bounds[name] = bound
    del bounds["torch"]
    return bounds


def run_tests(folder: Path, requirements: Sequence[str], tests: Sequence[str], options: Sequence[str] = ()) -> None:
    """Install the requirements and this package into a new environment, and run tests there."""
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet"]
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([*install, *requirements])
    _run([*install, "--no-deps", "--editable", str(ROOT)])
    _run([python, "-m", "pytest", *options, *tests])


def _run(command: Sequence[str]) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, cwd=ROOT, check=True)


def main() -> None:
    """Run everything; the first failure ends it."""
    bounds = lower_bounds()
    oldest = [f"{name}=={version}" for name, version in bounds.items()]
    # Old packages use what newer ones, which they depend on, have deprecated.
    old = ("-W", "ignore::DeprecationWarning")
    with TemporaryDirectory() as folder:
        for typer, options in ((f"typer=={bounds['typer']}", old), ("typer", ())):
            name = re.sub(r"\W", "-", typer)
            run_tests(Path(folder) / name, [typer, "rich", "pytest"], [USAGE], ["--noconftest", *options])
        run_tests(Path(folder) / "lowest", [TORCH, *oldest], FAST, old)


if __name__ == "__main__":
    main()
