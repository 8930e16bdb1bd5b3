"""Imports point one way, and the public names are these."""

import ast
import subprocess
import sys
from pathlib import Path

import nutgraf

PACKAGE = Path(nutgraf.__file__).parent

# Each room may import those after it; what is in no room (errors, recipe, progress, randomness, rouge) anyone may.
ROOMS = (
    ("reference",),
    ("cli", "training"),
    ("bench",),
    ("serve", "tensorboard"),
    ("display", "explanation", "status", "samples", "report", "tables", "demo", "reuters", "newswire"),
    ("summarizer", "evaluation", "models"),
    ("export",),
    ("language",),
    ("backtranslation",),
    ("initial",),
    ("seq2seq",),
    ("text",),
)
LEVELS = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
ANYWHERE = {"errors", "recipe", "progress", "randomness", "rouge"}


def imported(path: Path) -> set[str]:
    """Rooms of nutgraf that a module imports, also inside functions."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nutgraf":
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("nutgraf.")}
    return rooms


def test_imports_point_one_way() -> None:
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        room = parts[0]
        if room == "__init__":
            continue
        assert room in LEVELS or room in ANYWHERE, f"{path}: which room is this?"
        for other in imported(path) - {room}:
            if room in ANYWHERE:
                assert other in ANYWHERE, f"{path} imports {other}"
            else:
                assert other in ANYWHERE or LEVELS[other] >= LEVELS[room], f"{path} imports {other}"


def test_the_public_names_are_these() -> None:
    assert nutgraf.__all__ == ["InputError", "NutgrafError", "RecipeError", "RunError", "Summarizer", "train"]
    for name in nutgraf.__all__:
        assert getattr(nutgraf, name).__doc__


def test_help_needs_no_torch() -> None:
    code = "import sys, nutgraf.cli; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
