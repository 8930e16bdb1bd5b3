"""What a module's source says of itself: dataclass fields with their comments, signatures, docstrings.

Read from the text, not from the imported module: comments are in no object, and torch need not be loaded.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent

import nutgraf

PACKAGE = Path(nutgraf.__file__).parent


@dataclass(frozen=True)
class Field:
    """A field of a dataclass; its meaning is the comment beside it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Function:
    """A function or method; the signature stands as in the source."""

    name: str
    signature: str
    doc: str


@dataclass(frozen=True)
class Class:
    """A class: its fields, if it is a dataclass, and its public methods."""

    name: str
    bases: tuple[str, ...]
    doc: str
    fields: tuple[Field, ...]
    methods: tuple[Function, ...]


class Module:
    """A module of nutgraf, by its path in the package: `Module("recipe.py")`."""

    def __init__(self, path: str):
        source = (PACKAGE / path).read_text("utf-8")
        self._tree = ast.parse(source)
        self._lines = source.splitlines()
        self.doc = ast.get_docstring(self._tree) or ""
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self._comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}

    def classes(self) -> Iterator[Class]:
        """Yield the public classes."""
        for node in self._tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield self._class(node)

    def function(self, name: str) -> Function:
        """Return a function of the module."""
        return next(self._function(n) for n in self._tree.body if isinstance(n, ast.FunctionDef) and n.name == name)

    def _class(self, node: ast.ClassDef) -> Class:
        fields = (part for part in node.body if isinstance(part, ast.AnnAssign))
        methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
        return Class(
            node.name,
            tuple(map(ast.unparse, node.bases)),
            cleandoc(ast.get_docstring(node) or ""),
            tuple(Field(ast.unparse(f.target), ast.unparse(f.annotation), self._comment(f)) for f in fields),
            tuple(self._function(m) for m in methods if m.name == "__call__" or not m.name.startswith("_")),
        )

    def _function(self, node: ast.FunctionDef) -> Function:
        head = dedent("\n".join(self._lines[node.lineno - 1 : node.body[0].lineno - 1]))
        return Function(node.name, head.removesuffix(":"), cleandoc(ast.get_docstring(node) or ""))

    def _comment(self, node: ast.AnnAssign) -> str:
        """Return the comment beside a field; a long one is put between parentheses by the formatter."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return " ".join(self._comments[line].lstrip("# ") for line in lines if line in self._comments)
