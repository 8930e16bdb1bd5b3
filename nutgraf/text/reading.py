"""Lines of UTF-8 text from plain files, .gz, .xz, objects of a store and standard input, read as a stream.

One sequence per line (Section 4 of the paper). Only a line feed ends a line; control characters and unusual blanks
become plain blanks; blank lines are skipped. What cannot be read as text raises an InputError that says where and what
to do. It does not tokenise, and it never holds a whole file in memory.
"""

from __future__ import annotations

import gzip
import lzma
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import SEEK_END
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from nutgraf.errors import InputError
from nutgraf.progress import ignore
from nutgraf.store import check_object, explain_store, is_url, open_object

STDIN = "-"
_MAX_LINE = 1 << 20  # bytes
_MAX_DOCUMENT = 1 << 24
_MAX_READ = 1 << 16  # bytes taken at once: as many as a pipe holds
_SAMPLE = 2_000  # lines compared to find out whether two files are aligned
_PACKED = {b"\x1f\x8b": "gzip data: give it the ending .gz", b"\xfd7zXZ": "xz data: give it the ending .xz"}
_PACKED |= {b"PK\x03\x04": "a zip archive: unpack it first", b"BZh": "bzip2 data: unpack it first"}
_UNPACKERS: dict[str, Callable[[BinaryIO], object]] = {".gz": gzip.open, ".xz": lzma.open}
_INVISIBLE = frozenset("\u00ad\u200b\u2060\ufeff")  # soft hyphen, zero-width blanks, byte order mark
# Marks that change the direction in which the text around them is shown, or order its parts differently.
_DIRECTIONS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])

T = TypeVar("T")


@dataclass(frozen=True)
class Span:
    """Some lines of a plain file: its bytes from `start` up to `stop`."""

    start: int = 0
    stop: int = sys.maxsize
    line: int = 1  # the number of the first line


WHOLE = Span()


def read_lines(path: str, limit: int = 0, span: Span = WHOLE) -> Iterator[str]:
    """Return the lines of a file ("-" is standard input), read one by one, at most `limit` of them (0: all)."""
    _check_file(path)
    return _take(_read_nonblank(path, span), limit)


def cut_file(path: str, size: int) -> list[Span]:
    """Cut a plain file into spans of `size` bytes, each up to the end of a line; a compressed one stays whole."""
    if Path(path).suffix.lower() in _UNPACKERS:
        return [WHOLE]
    with _open(path) as stream:
        if stream.seek(0, SEEK_END) <= size:
            return [WHOLE]
    spans, start, line, place, number = [], 0, 1, 0, 1
    with _open(path) as stream, _explain_errors(path):
        for number, raw in enumerate(iter(lambda: stream.readline(_MAX_LINE), b""), 2):
            place += len(raw)
            if place - start >= size:
                spans.append(Span(start, place, line))
                start, line = place, number
    return [*spans, Span(start, place, line)] if place > start else spans


def read_blocks(path: str, most: int) -> Iterator[list[str]]:
    """Yield all lines, blank ones as empty strings, in blocks of those that are there together, `most` at most.

    A pipe that is slow gives a block for each line, at once; a fast one, or a file, full blocks.
    """
    _check_file(path)
    number = 0
    with _open(path) as stream, _explain_errors(path):
        for arrived in _read_arrived(stream):
            if number == 0:
                arrived[0] = arrived[0].removeprefix(b"\xef\xbb\xbf")
                _check_not_packed(path, arrived[0])
            lines = [
                clean_line(_decode_line(path, place, raw)).strip() for place, raw in enumerate(arrived, number + 1)
            ]
            number += len(lines)
            yield from (lines[start : start + most] for start in range(0, len(lines), most))


def read_whole(path: str) -> str:
    """Return the text of a whole file, such as a document."""
    _check_file(path)
    with _open(path) as stream, _explain_errors(path):
        raw = stream.read(_MAX_DOCUMENT + 1)
    if len(raw) > _MAX_DOCUMENT:
        raise InputError(f"{_name(path)}: longer than {_MAX_DOCUMENT:,} bytes; expected one document")
    _check_not_packed(path, raw)
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return "\n".join(_decode(path, number, line) for number, line in enumerate(lines, 1))


def _read_arrived(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived since the last ones; a line that has not ended waits for its end."""
    begun = b""
    while chunk := stream.read1(_MAX_READ):  # type: ignore[attr-defined]  # waits for a byte, then takes what is there
        *whole, begun = (begun + chunk).split(b"\n")
        if len(begun) >= _MAX_LINE:
            whole.append(begun[:_MAX_LINE])  # refused as too long
        if whole:
            yield whole
    if begun:
        yield [begun]


def read_pairs(path: str, limit: int = 0, seen: Callable[[str], None] = ignore) -> list[tuple[str, str]]:
    """Return the pairs of a file with lines `text <tab> summary`, at most `limit` of them (0: all).

    `seen` hears each line as `read_lines` would return it.
    """
    _check_file(path)
    numbered = ((number, line) for number, line in enumerate(_decode_lines(path), 1) if line.strip())
    found = []
    for number, line in _take(numbered, limit):
        found.append(_split_pair(path, number, line))
        seen(clean_line(line).strip())
    if not found:
        raise InputError(f"{_name(path)}: empty; expected lines of text, a tab and a summary")
    return found


def check_unaligned(texts: str, summaries: str) -> list[str]:
    """Check from their first lines that two files can be trained on; return warnings."""
    if texts == summaries == STDIN:
        raise InputError("texts and summaries are both standard input (-): give a file for one of them")
    for path in (texts, summaries):
        _check_file(path)
    if texts == summaries or (_is_local(texts) and _is_local(summaries) and Path(texts).samefile(summaries)):
        raise InputError(
            f"texts and summaries are the same file, {texts}: give one file of full texts and another of summaries"
        )
    # A pipe can be read only once, and training needs that read.
    seekable = [path for path in (texts, summaries) if is_url(path) or (_is_local(path) and Path(path).is_file())]
    for path in seekable:
        if len(list(islice(_read_nonblank(path), 2))) < 2:
            raise InputError(f"{path}: only one line; expected a corpus of many sequences, one per line")
    if len(seekable) == 2 and _look_aligned(texts, summaries):
        return [
            f"line by line, {summaries} summarises {texts}: they look like aligned pairs, which training does not use. "
            "If you have pairs, give them with --aligned as lines of text, a tab and a summary"
        ]
    return []


def _look_aligned(texts: str, summaries: str) -> bool:
    """Whether lines with the same number share far more words than lines with different numbers."""
    pairs = zip(islice(_decode_lines(texts), _SAMPLE), islice(_decode_lines(summaries), _SAMPLE), strict=False)
    words = [(set(text.lower().split()), set(summary.lower().split())) for text, summary in pairs]
    words = [(text, summary) for text, summary in words if text and summary]
    if len(words) < 5:
        return False
    shift = len(words) // 3
    same = sum(len(text & summary) / len(summary) for text, summary in words)
    other = sum(len(text & words[i - shift][1]) / len(words[i - shift][1]) for i, (text, _) in enumerate(words))
    return same > 2 * other and same - other > 0.15 * len(words)


def _split_pair(path: str, number: int, line: str) -> tuple[str, str]:
    columns = [clean_line(column).strip() for column in line.strip("\r\n").split("\t")]
    if len(columns) != 2 or not all(columns):
        what = f"{len(columns)} columns" if len(columns) != 2 else "an empty column"
        raise InputError(f"{_name(path)}, line {number}: {what}; expected a text, one tab and its summary")
    return columns[0], columns[1]


def _take(items: Iterator[T], limit: int) -> Iterator[T]:
    """Yield at most `limit` items (0: all)."""
    return islice(items, min(limit, sys.maxsize) or None)


def _read_nonblank(path: str, span: Span = WHOLE) -> Iterator[str]:
    """Yield the lines that are not blank, cleaned; raise if a whole file has none."""
    empty = span == WHOLE
    for line in _decode_lines(path, span):
        line = clean_line(line).strip()
        if line:
            empty = False
            yield line
    if empty:
        raise InputError(f"{_name(path)}: empty, or blank lines only; expected one sequence per line")


def clean_line(line: str) -> str:
    """Replace control characters and unusual blanks by plain blanks, and drop invisible characters."""
    if line.isprintable():
        return line
    return "".join(
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp", "Zs") else character
        for character in line
        if character not in _INVISIBLE
    )


def clean_shown(text: str) -> str:
    """Clean a line that will be shown to people: also drop what would turn the text around it."""
    return text if text.isprintable() else clean_line(text).translate(_DIRECTIONS)


def _decode_lines(path: str, span: Span = WHOLE) -> Iterator[str]:
    """Yield all lines, including blank ones, with their line ends."""
    place = span.start
    with _open(path) as stream, _explain_errors(path):
        if place:
            stream.seek(place)
        for number, raw in enumerate(iter(lambda: stream.readline(_MAX_LINE), b""), span.line):
            place += len(raw)
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
                _check_not_packed(path, raw)
            yield _decode_line(path, number, raw)
            if place >= span.stop:
                return


def _decode_line(path: str, number: int, raw: bytes) -> str:
    if len(raw) >= _MAX_LINE:
        raise InputError(
            f"{_name(path)}, line {number}: longer than {_MAX_LINE:,} bytes; expected one sequence per line"
        )
    return _decode(path, number, raw)


def _decode(path: str, number: int, raw: bytes) -> str:
    where = f"{_name(path)}, line {number}"
    if (place := raw.find(b"\0")) >= 0:
        raise InputError(f"{where}, byte {place + 1} is zero: a binary file, or UTF-16; expected UTF-8 text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}, byte {error.start + 1} is 0x{raw[error.start]:02x}: not UTF-8. If the file is Latin-1, "
            f"convert it: iconv -f latin1 -t utf-8 {path} > converted.txt"
        ) from error


def _check_not_packed(path: str, raw: bytes) -> None:
    for magic, what in _PACKED.items():
        if raw.startswith(magic):
            raise InputError(f"{_name(path)}: {what}")


def _is_local(path: str) -> bool:
    return path != STDIN and not is_url(path)


def _check_file(path: str) -> None:
    if path == STDIN:
        return
    if is_url(path):
        check_object(path)
        return
    try:
        exists = Path(path).exists()
    except OSError as error:  # such as a name that is too long
        raise InputError(f"{path[:80]}: cannot be a file: {error.strerror}") from error
    if not exists:
        raise InputError(f"{path}: no such file (from {Path.cwd()})")
    if Path(path).is_dir():
        raise InputError(f"{path}: a directory; expected a text file, plain, .gz or .xz")


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, and close it afterwards unless it is standard input."""
    if path == STDIN:
        yield standard_input()
        return
    with ExitStack() as stack:
        if is_url(path):
            stack.enter_context(explain_store(path, InputError))
        stream = stack.enter_context(_open_bytes(path))
        if unpack := _UNPACKERS.get(Path(path).suffix.lower()):
            stream = stack.enter_context(cast(BinaryIO, unpack(stream)))
        yield stream


def _open_bytes(path: str) -> BinaryIO:
    """Open a file, or an object of a store, for reading its bytes as they are."""
    if is_url(path):
        return open_object(path)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror}") from error


def standard_input() -> BinaryIO:
    """Return standard input as a stream of bytes."""
    if sys.stdin is None:  # a shell's <&-
        raise InputError("standard input is closed: give a file, or send text through a pipe")
    return sys.stdin.buffer


@contextmanager
def _explain_errors(path: str) -> Iterator[None]:
    """Turn errors of reading and decompressing into an InputError."""
    try:
        yield
    except EOFError as error:
        raise InputError(f"{_name(path)}: the compressed file ends too early; copy or download it again") from error
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{_name(path)}: damaged, or not what its ending says ({error})") from error
    except OSError as error:
        raise InputError(f"{_name(path)}: cannot be read: {error.strerror or error}") from error


def _name(path: str) -> str:
    return "standard input" if path == STDIN else path
