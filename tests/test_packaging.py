"""What the package imports is what pyproject.toml declares, with a lower bound, and in the right extra."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from nutgraf.extras import MODULES
from tools.lowest import TORCH, lower_bounds

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

# Modules that are not called like their distribution. pydantic pins one version of pydantic-core.
DISTRIBUTIONS = {"ot": "POT", "pydantic_core": "pydantic"}
OURS = {"nutgraf", "tests", "tools", "examples", "experiments"}
COMMANDS = {"pytest-xdist", "ruff", "mypy", "setuptools", "moto", "flask", "flask-cors"}  # used, but not imported


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def declared(requirements: list[str]) -> set[str]:
    """The distributions of requirements, except nutgraf's own extras."""
    names = {re.split(r"[\[<>=]", line)[0] for line in requirements}
    return {normal(name) for name in names - {"nutgraf"}}


def imported(folders: list[str]) -> set[str]:
    """The distributions that modules import, also inside functions."""
    return {
        normal(DISTRIBUTIONS.get(name, name))
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for name in modules(ast.parse(path.read_text("utf-8")))
        if name not in OURS and name not in sys.stdlib_module_names
    }


def modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            # torch's writer needs the package tensorboard.
            yield "tensorboard" if name == "torch.utils.tensorboard" else name.split(".")[0]


def test_every_import_of_the_package_is_declared_and_every_declaration_used() -> None:
    extras = ("train", "serve", "tensorboard", "hf", "cluster", "store")
    requirements = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    assert imported(["nutgraf"]) == declared(requirements)


def test_what_tests_and_tools_import_is_installed_by_dev() -> None:
    assert {"nutgraf[all,cluster,store,tensorboard]"} <= set(EXTRAS["dev"])
    assert EXTRAS["all"] == ["nutgraf[train,serve]"]
    more = imported(["tests", "tools", "examples", "experiments"]) - imported(["nutgraf"])
    assert more == declared(EXTRAS["dev"]) - COMMANDS


def test_constraints_give_one_version_of_everything_that_is_declared() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    versions = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert all(re.fullmatch(r"[\w.]+", version) for version in versions.values())
    everything = declared([*PROJECT["dependencies"], *EXTRAS["train"], *EXTRAS["serve"], *EXTRAS["dev"]])
    assert everything <= {normal(name) for name in versions}
    bounds = {normal(name): bound for name, bound in lower_bounds().items()}
    known = {normal(name): version for name, version in versions.items()}
    for name, bound in bounds.items():
        assert numbers(known[name]) >= numbers(bound), name
    assert (ROOT / "Makefile").read_text("utf-8").count("--constraint constraints.txt") == 2


def numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def test_no_lower_bound_admits_a_known_hole() -> None:
    bounds = lower_bounds()
    assert numbers(bounds["starlette"]) > [0, 49, 0]  # CVE-2025-62727: 0.39 to 0.49.0
    assert numbers(bounds["jinja2"]) >= [3, 1, 6]  # CVE-2025-27516


def test_every_requirement_is_in_the_list_of_licences() -> None:
    listed = normal((ROOT / "docs" / "licences.md").read_text("utf-8"))
    for name in declared([*PROJECT["dependencies"], *EXTRAS["train"], *EXTRAS["serve"]]):
        assert f"| {name} |" in listed


BANNED = {
    "import pickle": "TID251",
    "import torch\ntorch.load('x')": "TID251",
    "import yaml\nyaml.load('x')": "S506",
    "print(eval('1'))": "S307",
    "exec('1')": "S102",
    "import os\nos.system('ls')": "TID251",
    "import subprocess\nsubprocess.run('ls', shell=True)": "S602",
    "import tarfile\ntarfile.open('x').extractall()": "S202",
}


@pytest.mark.parametrize("code", BANNED)
def test_what_runs_the_content_of_files_is_banned(code: str) -> None:
    options = ["--output-format=concise", "--stdin-filename", "nutgraf/new.py", "-"]
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *options], cwd=ROOT, input=code, capture_output=True, text=True
    )
    assert BANNED[code] in found.stdout, found.stdout + found.stderr


@pytest.mark.parametrize("extra", MODULES)
def test_the_modules_of_an_extra_are_what_it_installs(extra: str) -> None:
    assert {normal(DISTRIBUTIONS.get(module, module)) for module in MODULES[extra]} == declared(EXTRAS[extra])


def test_every_requirement_has_a_lower_bound_that_is_tested() -> None:
    requirements = {line for lines in (PROJECT["dependencies"], *EXTRAS.values()) for line in lines}
    for line in requirements:
        assert re.fullmatch(r"[\w-]+>=[\d.]+|nutgraf\[[\w,]+\]", line), line
    tested = declared([*PROJECT["dependencies"], *EXTRAS["train"], *EXTRAS["serve"]]) - {"torch"}
    assert tested <= {normal(name) for name in lower_bounds()}
    assert TORCH in (ROOT / "Makefile").read_text("utf-8")
