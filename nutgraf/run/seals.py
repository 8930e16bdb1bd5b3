"""Checksums of run.json and recipe.toml, inside the files themselves: each can be replaced without the other.

Runs of earlier versions have none, and are read as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nutgraf.errors import RunError
from nutgraf.files import read_json, read_text

_KEYS = {"format", "inputs", "aligned_limits"}
_LAST_LINE = re.compile(r"# sha256 [0-9a-f]{64}\n")


def seal_recipe(toml: str) -> str:
    """Return a recipe with its checksum as the last line, a comment."""
    return f"{toml}# sha256 {hashlib.sha256(toml.encode()).hexdigest()}\n"


def read_recipe(path: Path) -> str:
    """Return a recipe without the checksum; a RunError where it is not the one that was written."""
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise RunError(f"{path}: damaged, not UTF-8 ({error})") from error
    start = text.rstrip("\n").rfind("\n") + 1
    toml, last = text[:start], text[start:]
    if not last.startswith("#"):
        return text
    if not _LAST_LINE.fullmatch(last) or seal_recipe(toml) != text:
        raise RunError(
            f"{path}: damaged, or changed by hand: its checksum is not the one that was written. Put it back; settings "
            "are changed with --set. Without its last line, it is used as it is"
        )
    return toml


def seal_table(table: Mapping[str, object]) -> str:
    """Return run.json's text, with the checksum of its values."""
    return json.dumps({**table, "checksum": _checksum(table)}, indent=1)


def read_table(path: Path) -> dict[str, Any]:
    """Return what run.json says; a ValueError or TypeError where it is not what was written."""
    table = dict(read_json(path))
    checksum = table.pop("checksum", None)
    if unknown := {*table} - _KEYS:
        raise ValueError(f"unknown key {min(unknown)!r}")
    if checksum is not None and checksum != _checksum(table):
        raise ValueError("its checksum is not the one that was written")
    return table


def _checksum(table: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()
