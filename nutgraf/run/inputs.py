"""What a run reads from outside: two unaligned files, and pairs where the user has some.

An input is known by the digest of its lines, so a file that was compressed or moved is still the same input. The
training code sees texts and summaries; `valid` reaches the thresholds of the initializers alone, `aligned` the
supervised rows alone.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nutgraf.errors import InputError
from nutgraf.text.reading import STDIN, check_unaligned, read_lines, read_pairs, standard_input


@dataclass(frozen=True)
class Source:
    """A file's lines, or the first `limit` of them."""

    path: str
    lines: int
    words: int  # as blanks separate them: for estimates
    digest: str
    limit: int = 0


@dataclass(frozen=True)
class Inputs:
    """All that a run reads."""

    texts: Source
    summaries: Source
    valid: Source | None = None
    aligned: Source | None = None


def read_source(path: str, limit: int = 0) -> Source:
    """Read a file once, so that what cannot be read is an error now, and take its digest."""
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
    """Check and digest all inputs; return them and warnings."""
    warnings = check_unaligned(texts, summaries)
    sources = (read_source(texts, texts_limit), read_source(summaries, summaries_limit))
    return Inputs(*sources, _pairs(valid), _pairs(aligned)), warnings


def _pairs(path: str | None) -> Source | None:
    if path is None:
        return None
    if not read_pairs(path):
        raise InputError(f"{path}: no pairs; expected lines of a text, a tab and its summary")
    return read_source(path)


@contextmanager
def as_files(*paths: str | None) -> Iterator[list[str | None]]:
    """Copy standard input, named `-`, and pipes to temporary files: they are read more than once."""
    if paths.count(STDIN) > 1:
        raise InputError("standard input (-) can be given for one file only")
    with tempfile.TemporaryDirectory(prefix="nutgraf-") as folder:
        yield [_as_file(path, Path(folder) / f"{number}") if path else None for number, path in enumerate(paths)]


def _as_file(path: str, folder: Path) -> str:
    if path != STDIN and not _is_pipe(path):
        return path
    folder.mkdir()
    copy = folder / ("stdin.txt" if path == STDIN else Path(path).name)
    with copy.open("wb") as file:
        if path == STDIN:
            shutil.copyfileobj(standard_input(), file)
        else:
            with Path(path).open("rb") as pipe:
                shutil.copyfileobj(pipe, file)
    return str(copy)


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except OSError:
        return False
