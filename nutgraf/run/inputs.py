"""The files a run reads: two unaligned ones, and pairs if the user has some.

An input is identified by the digest of its lines, so a file that was compressed or moved is still the same input.
Training reads texts and summaries; only the initializers' thresholds use `valid`, only the supervised rows `aligned`.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from nutgraf.errors import InputError
from nutgraf.text.reading import STDIN, check_unaligned, read_lines, read_pairs, standard_input


@dataclass(frozen=True)
class Source:
    """A file's lines, or the first `limit` of them."""

    path: str
    lines: int
    words: int  # split at blanks, for estimates
    digest: str
    limit: int = 0


@dataclass(frozen=True)
class Inputs:
    """Everything a run reads."""

    texts: Source
    summaries: Source
    valid: Source | None = None
    aligned: Source | None = None


def read_source(path: str, limit: int = 0) -> Source:
    """Read a file once to compute its digest; a file that cannot be read raises an InputError now."""
    digest = hashlib.sha256()
    count = words = 0
    for line in read_lines(path, limit):
        digest.update(line.encode())
        digest.update(b"\n")
        count += 1
        words += line.count(" ") + 1
    return Source(path, count, words, digest.hexdigest(), limit)


def read_inputs(
    texts: str,
    summaries: str,
    texts_limit: int = 0,
    summaries_limit: int = 0,
    valid: str | None = None,
    aligned: str | None = None,
) -> tuple[Inputs, list[str]]:
    """Check and read all inputs; return them and any warnings."""
    warnings = check_unaligned(texts, summaries)
    sources = (read_source(texts, texts_limit), read_source(summaries, summaries_limit))
    return Inputs(*sources, _read_pairs_source(valid), _read_pairs_source(aligned)), warnings


def _read_pairs_source(path: str | None) -> Source | None:
    if path is None:
        return None
    read_pairs(path)  # raises an InputError if a line is no pair, or there is none
    return read_source(path)


@contextmanager
def as_files(*paths: str | None) -> Iterator[list[str | None]]:
    """Yield the paths, with standard input (`-`) and pipes copied to temporary files that can be read repeatedly."""
    if paths.count(STDIN) > 1:
        raise InputError("standard input (-) can be given for one file only")
    with tempfile.TemporaryDirectory(prefix="nutgraf-") as folder:
        yield [_as_file(path, Path(folder) / f"{number}") if path else None for number, path in enumerate(paths)]


def _as_file(path: str, folder: Path) -> str:
    if path != STDIN and not _is_pipe(path):
        return path
    folder.mkdir()
    copy = folder / ("stdin.txt" if path == STDIN else Path(path).name)
    with nullcontext(standard_input()) if path == STDIN else Path(path).open("rb") as stream, copy.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return str(copy)


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except OSError:
        return False
