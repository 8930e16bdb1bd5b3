"""The files a run reads: two unaligned ones, and pairs if the user has some.

An input is identified by the digest of its lines, so a file that was compressed or moved is still the same input.
Training reads texts and summaries; only the initializers' thresholds use `valid`, only the supervised rows `aligned`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nutgraf.errors import InputError
from nutgraf.progress import Progress, Report, ignore
from nutgraf.store import is_url
from nutgraf.text.hub import is_column, read_column
from nutgraf.text.reading import (
    STDIN,
    WHOLE,
    Span,
    check_unaligned,
    clean_line,
    cut_file,
    read_lines,
    read_pairs,
    standard_input,
)

PART_BYTES = 1 << 26  # of a file whose parts are tokenised apart: about a minute's work

Lines = str | Path | Iterable[str]  # a file, a URL of a store, `-`, a column of a dataset, or texts


@dataclass(frozen=True)
class Source:
    """A file's lines, or the first `limit` of them."""

    path: str
    lines: int
    words: int  # split at blanks, for estimates
    digest: str
    limit: int = 0

    @classmethod
    def from_table(cls, table: Any) -> Source:
        """Read what `asdict` made; anything else is a ValueError or TypeError."""
        source = cls(**table)
        strings, counts = (source.path, source.digest), (source.lines, source.words, source.limit)
        if not all(type(text) is str for text in strings) or not all(type(n) is int and n >= 0 for n in counts):
            raise ValueError("no input: expected a path, a digest and counts")
        return source

    def absolute(self) -> Source:
        """Return the same lines for a process with another working folder."""
        return self if is_url(self.path) else replace(self, path=str(Path(self.path).absolute()))


@dataclass(frozen=True)
class Inputs:
    """Everything a run reads."""

    texts: Source
    summaries: Source
    valid: Source | None = None
    aligned: Source | None = None

    @classmethod
    def from_table(cls, table: Any) -> Inputs:
        """Read what `asdict` made; anything else is a ValueError, TypeError or KeyError."""
        found = {name: Source.from_table(source) if source else None for name, source in dict(table).items()}
        if not found.get("texts") or not found.get("summaries"):
            raise ValueError("inputs without texts or summaries")
        return cls(**found)  # type: ignore[arg-type]

    def absolute(self) -> Inputs:
        """Return the same inputs for a process with another working folder."""
        valid, aligned = self.valid and self.valid.absolute(), self.aligned and self.aligned.absolute()
        return Inputs(self.texts.absolute(), self.summaries.absolute(), valid, aligned)


class _Digest:
    """Counts and digests lines as they are read."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()
        self.lines = self.words = 0

    def add(self, line: str) -> None:
        self.sha256.update(line.encode())
        self.sha256.update(b"\n")
        self.lines += 1
        self.words += line.count(" ") + 1

    def source(self, path: str, limit: int) -> Source:
        return Source(path, self.lines, self.words, self.sha256.hexdigest(), limit)

    def check(self, source: Source) -> None:
        """Raise an InputError if these are not the lines that the run was started with."""
        if self.sha256.hexdigest() != source.digest:
            raise InputError(
                f"{source.path}: changed while the run was under way: {self.lines:,} lines with another digest, where "
                f"{source.lines:,} were read at the start. Put the file back and give the same command again"
            )


def read_source(path: str, limit: int = 0) -> Source:
    """Read a file once to compute its digest; a file that cannot be read raises an InputError now."""
    digest = _Digest()
    for line in read_lines(path, limit):
        digest.add(line)
    return digest.source(path, limit)


def read_pairs_source(path: str, limit: int = 0) -> tuple[Source, list[tuple[str, str]]]:
    """Read pairs, and compute the digest of what was read."""
    digest = _Digest()
    pairs = read_pairs(path, limit, digest.add)
    return digest.source(path, limit), pairs


@dataclass(frozen=True)
class Part:
    """Some lines of texts or summaries, which are a source of their own."""

    side: str
    source: Source
    span: Span = WHOLE


def cut_source(side: str, source: Source, report: Report = ignore) -> list[Part]:
    """Cut a large plain file; all others are one part. An InputError if its lines have changed.

    Each part has a digest: where it is read, by another process, its lines are compared with those of now.
    """
    spans = [WHOLE] if source.limit else cut_file(source.path, PART_BYTES)
    if spans == [WHOLE]:
        return [Part(side, source)]
    whole, parts = _Digest(), []
    for span in spans:
        own = _Digest()
        for line in read_lines(source.path, span=span):
            whole.add(line)
            own.add(line)
        parts.append(Part(side, own.source(source.path, 0), span))
        report(Progress(0, 0, "lines", side))  # an interrupt ends it
    whole.check(source)
    return parts


def read_again(source: Source, most: int = 0, span: Span = WHOLE) -> Iterator[str]:
    """Yield the lines of an input once more, at most `most` (0: all); an InputError at the end if they have changed.

    All lines are read and digested, also those that are not wanted.
    """
    digest = _Digest()
    for line in read_lines(source.path, source.limit, span):
        digest.add(line)
        if not most or digest.lines <= most:
            yield line
    digest.check(source)


def read_pairs_again(source: Source, most: int = 0) -> list[tuple[str, str]]:
    """Return the pairs of an input once more, at most `most` (0: all); an InputError if they have changed."""
    digest = _Digest()
    pairs = read_pairs(source.path, source.limit, digest.add)
    digest.check(source)
    return pairs[: most or None]


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
    return read_pairs_source(path)[0]  # raises an InputError if a line is no pair, or there is none


@contextmanager
def as_files(*inputs: Lines | None) -> Iterator[list[str | None]]:
    """Yield paths of files that can be read repeatedly: temporary ones for what is no file.

    That is standard input (`-`), a pipe, a column of a dataset (`hf:name:column`), or texts of Python.
    """
    if sum(isinstance(one, str) and one == STDIN for one in inputs) > 1:
        raise InputError("standard input (-) can be given for one file only")
    with tempfile.TemporaryDirectory(prefix="nutgraf-") as folder:
        yield [None if one is None else _as_file(one, Path(folder) / f"{i}") for i, one in enumerate(inputs)]


def _as_file(lines: Lines, folder: Path) -> str:
    if not isinstance(lines, str | Path):
        return _write_lines(lines, folder / "python.txt")
    path = str(lines)
    if is_column(path):
        name = re.sub(r"[^\w.-]+", "-", path)
        return _write_lines(read_column(path), folder / f"{name}.txt")
    if path != STDIN and not _is_pipe(path):
        return path
    folder.mkdir()
    copy = folder / ("stdin.txt" if path == STDIN else Path(path).name)
    with nullcontext(standard_input()) if path == STDIN else Path(path).open("rb") as stream, copy.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return str(copy)


def _write_lines(texts: Iterable[str], path: Path) -> str:
    """Write texts to a file, one per line, also those of several lines."""
    path.parent.mkdir()
    number = -1
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"text {number}: expected a string, not {type(text).__name__}")
            file.write(f"{clean_line(text).strip()}\n")
    if number < 0:
        raise InputError("no texts to read: an empty list or column, or a generator that was read before")
    return str(path)


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except OSError:
        return False
