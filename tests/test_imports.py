"""Imports point one way, and the public names are these."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import nutgraf

PACKAGE = Path(nutgraf.__file__).parent

MOST_LEVELS = 8


def imported(path: Path) -> set[str]:
    """Rooms and top modules of nutgraf that a module imports, also inside functions; types alone do not count."""
    tree = ast.parse(path.read_text("utf-8"))
    types_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node not in types_only
            and (node.module or "").split(".")[0] == "nutgraf"
        ):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found


def rooms() -> dict[str, set[str]]:
    """Which rooms each room imports. Modules at the top are rooms of their own."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if room != "__init__":
            graph.setdefault(room, set()).update(imported(path) - {room})
    return graph


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """The longest way from each room down to one that imports none; an error where two import each other."""
    return {room: level for level, group in enumerate(_sorted_groups(graph), 1) for room in group}


def _sorted_groups(graph: dict[str, set[str]]) -> list[list[str]]:
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    groups = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        groups.append(ready)
        sorter.done(*ready)
    return groups


def test_imports_point_one_way() -> None:
    graph = rooms()
    ground = {room for room in graph if not (PACKAGE / room).is_dir() and room != "cli"}
    for module in ground:
        assert graph[module] <= ground, f"{module} is for everyone, and imports {graph[module] - ground}"
    upper = {room: others - ground for room, others in graph.items() if room not in ground}
    found = levels(upper)
    drawn = "\n".join(
        f"{level} {', '.join(r for r in found if found[r] == level)}" for level in range(max(found.values()), 0, -1)
    )
    assert max(found.values()) <= MOST_LEVELS, drawn


def test_the_public_names_are_these() -> None:
    assert nutgraf.__all__ == ["InputError", "NutgrafError", "RecipeError", "RunError", "Summarizer", "train"]
    for name in nutgraf.__all__:
        assert getattr(nutgraf, name).__doc__


def test_help_needs_no_torch() -> None:
    code = "import sys, nutgraf.cli; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
