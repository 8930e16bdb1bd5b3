"""PAPER.md names only what exists, and each equation is tagged once."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAPER = (ROOT / "PAPER.md").read_text("utf-8")
TITLE = "## Equation -> symbol -> test"
EQUATIONS = range(1, 8)


def table(text: str) -> list[list[str]]:
    """The cells of the table of equations, row by row, without its head."""
    part = text.split(TITLE)[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def find_symbol(path: str) -> Any:
    """Import what a path such as models.bow.moments names; an error where there is no such thing."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(["nutgraf", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


def has_test(path: str) -> bool:
    """Whether a test such as models/test_bow.py::test_name exists."""
    file, _, name = path.partition("::")
    source = ROOT / "tests" / file
    tree = ast.parse(source.read_text("utf-8")) if source.is_file() else ast.Module([], [])
    return name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


SYMBOLS = sorted({symbol for row in table(PAPER) for symbol in quoted(row[2])})
TESTS = sorted({test for row in table(PAPER) for test in quoted(row[3])})


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_every_symbol_exists(symbol: str) -> None:
    assert find_symbol(symbol) is not None


@pytest.mark.parametrize("test", TESTS)
def test_every_test_exists(test: str) -> None:
    assert has_test(test)


def test_every_row_has_a_symbol_and_a_test() -> None:
    rows = table(PAPER)
    assert len(rows) > 20
    for row in rows:
        assert len(row) == 4, row
        assert quoted(row[2]), row
        assert quoted(row[3]), row


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_equation_is_in_the_table_and_tagged_once_in_the_source(equation: int) -> None:
    tag = re.compile(rf"Eq\. {equation}\b")
    assert any(tag.search(row[0]) for row in table(PAPER))
    places = [path for path in (ROOT / "nutgraf").rglob("*.py") for _ in tag.findall(path.read_text("utf-8"))]
    assert len(places) == 1, places


def test_what_does_not_exist_is_found_out() -> None:
    stale = (
        f"{TITLE}\n\n| a | b | c | d |\n| - | - | - | - |\n| Eq. 1 | x | `models.bow.gone` | `models/test_bow.py` |\n"
    )
    assert table(stale) == [["Eq. 1", "x", "`models.bow.gone`", "`models/test_bow.py`"]]
    with pytest.raises(AttributeError):
        find_symbol("models.bow.gone")
    with pytest.raises(ModuleNotFoundError):
        find_symbol("seq2seq.model.Seq2seq")
    assert not has_test("models/test_bow.py::test_gone")
    assert not has_test("seq2seq/test_model.py::test_gone")
