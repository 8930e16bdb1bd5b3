"""Words of raw English text, and the way back: detokenize(tokenize(line)) is the line again, nearly always.

The paper takes its corpora tokenised (Section 4); users bring raw text, so this is ours. Each piece between blanks is
split on its own, by rules in the manner of Moses, so that a cache of pieces does most of the work: measured on newswire
it is several times as fast as sacremoses and more exact on the way back. What differs from Moses:
- quotation marks keep their direction (`` and '' for double, ` and ' for single ones), and so find their places again;
- names such as AT&T, K+S and A/S stay whole, and HK$3 is HK$ and 3;
- don't is do and n't.
Typographic quotation marks become plain ones. It does not split sentences, nor words of languages without blanks.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

_SUFFIXES = frozenset(("'s", "'t", "'re", "'ve", "'ll", "'d", "'m", "n't"))
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "´": "'", "…": "..."})
_WHOLE = frozenset(("``", "''", "`", "'", "--", "...", "/")) | _SUFFIXES
_ADDRESS = re.compile(r"\w+://|www\.|[\w.+-]+@[\w-]+\.\w")
_OPENING = re.compile(r"``|''|[(\[{\"'`]|[$£€¥](?=\.?\d)|\.\.\.|[,;:!?)\]}](?=.)")
_CLOSING = re.compile(r"(?:''|\.{2,}|[)\]}\"'`,;:!?%®™]|(?<=[^.])\.)\Z")
_SUFFIX = re.compile(r"(?:n't|(?<=.)'(?:s|t|re|ve|ll|d|m))\Z", re.IGNORECASE)
_YEARS = re.compile(r"'\d\ds?\b")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{0,2}\.?\Z")
# Where the inside of a piece is cut: marks that are not between digits, slashes between words, after a currency.
_INSIDE = re.compile(
    r"([;!?()<>\[\]{}\"]|\.{2,}|(?<=\w\w)--+|—|(?<!\d)[,:–]|[,:–](?!\d)|(?<=[^\W\d_][^\W\d_.])/(?=[^\W\d_]{2})|(?<=[$£€¥])(?=\d))"
)
_SHORTENED = """
mr mrs ms dr prof rev hon gen col lt sgt capt cmdr adm gov sen rep st ft mt jr sr vs etc inc corp co cos ltd plc llc
bros dept dist ave blvd rd vol jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri ala ariz ark
calif colo conn fla ga kan ky la md mich minn mo mont neb nev okla ore pa tenn tex va vt wis wyo e.g i.e
"""
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_GOES_ON = (",", ";", ":", "?")  # marks that no sentence begins with
_LEFT = frozenset((",", ".", ";", ":", "?", "!", ")", "]", "}", "%", "''", "'", "..", "...", "®", "™", "/")) | _SUFFIXES
_RIGHT = frozenset(("(", "[", "{", "``", "`", "/"))
_WRITTEN = {"``": '"', "''": '"', "`": "'"}
_CURRENCY = ("$", "£", "€", "¥")
_CACHED = 400_000  # pieces kept; what comes later is split anew each time
_PARCEL = 2_000  # lines for a worker process at a time
_ALONE = 20_000  # fewer lines are done sooner without worker processes


class Tokenizer:
    """Splits lines into words. `digits` is "keep", or the character that stands for every digit."""

    def __init__(self, digits: str = "keep"):
        self.digits = digits
        self._cased: dict[str, tuple[str, ...]] = {}
        self._lower: dict[str, tuple[str, ...]] = {}

    def tokenize(self, line: str) -> list[str]:
        """Return the words as they are written."""
        return _directed(self._pieces(line, self._cased, lower=False))

    def words(self, line: str) -> list[str]:
        """Return the words as the models see them: lower-cased, digits mapped where that was asked for."""
        return _directed(self._pieces(line, self._lower, lower=True))

    def _pieces(self, line: str, cache: dict[str, tuple[str, ...]], lower: bool) -> list[str]:
        pieces = line.split()
        tokens: list[str] = []
        for place, piece in enumerate(pieces):
            found = cache.get(piece)
            if found is None:
                following = pieces[place + 1] if place + 1 < len(pieces) else ""
                found = self._look(piece, following, cache, lower)
            tokens += found
        return tokens

    def _look(self, piece: str, following: str, cache: dict[str, tuple[str, ...]], lower: bool) -> tuple[str, ...]:
        """Split a piece that is not in the cache under its own name: it is new, or what follows it matters."""
        stops = piece.rstrip("\"')]}”’").endswith(".")
        kept = stops and _keeps_full_stop(piece, following)
        key = f"{piece} {kept}" if stops else piece
        tokens = cache.get(key)
        if tokens is None:
            split = _split(piece.translate(_STRAIGHT), kept)
            tokens = tuple(self._lowered(token) for token in split) if lower else tuple(split)
            if len(cache) < _CACHED:
                cache[key] = tokens
        return tokens

    def _lowered(self, token: str) -> str:
        token = token.lower()
        return token if self.digits == "keep" else re.sub(r"\d", self.digits.replace("\\", r"\\"), token)


def _keeps_full_stop(piece: str, following: str) -> bool:
    """Whether the full stop at the end belongs to an abbreviation."""
    body = piece.strip("\"'()[]{}“”‘’")
    if _ACRONYM.match(body) and (len(body) > 2 or following):
        return True
    word = body.rstrip(".").lower()
    if following[:1].islower() or following[:1] in _GOES_ON or (word in ("no", "nos") and following[:1].isdigit()):
        return True
    return following != "" and word in _ABBREVIATIONS


def _split(piece: str, keep_full_stop: bool) -> list[str]:
    """Split one piece between blanks."""
    if piece in _WHOLE or len(piece) == 1:
        return [piece]
    opening: list[str] = []
    while (mark := _OPENING.match(piece)) and not _YEARS.match(piece) and piece not in _SUFFIXES:
        opening.append(_opened(mark.group()))
        piece = piece[mark.end() :]
    closing: list[str] = []
    while mark := _CLOSING.search(
        piece, max(0, len(piece.rstrip(".")) - 2)
    ):  # the last few letters: a piece may be long
        # A comma after a full stop means that the stop belongs to an abbreviation.
        if mark.group() == "." and (keep_full_stop or (closing and closing[-1] in _GOES_ON)):
            break
        closing.append({'"': "''", "`": "'"}.get(mark.group(), mark.group()))
        piece = piece[: mark.start()]
    if mark := _SUFFIX.search(piece):
        closing.append(mark.group())
        piece = piece[: mark.start()]
    inside = [piece] if _ADDRESS.match(piece) else _INSIDE.split(piece)
    return [*opening, *("''" if token == '"' else token for token in inside if token), *reversed(closing)]


def _opened(mark: str) -> str:
    return {'"': "``", "''": "``", "'": "`"}.get(mark, mark)


def _directed(tokens: list[str]) -> list[str]:
    """Give double quotation marks that stood between blanks a direction: closing where one is open."""
    if '"' in tokens:
        depth = 0
        for place, token in enumerate(tokens):
            if token == '"':
                tokens[place] = "''" if depth > 0 else "``"
            depth += {"``": 1, "''": -1}.get(tokens[place], 0)
    return tokens


def detokenize(tokens: Sequence[str]) -> str:
    """Join words to text as it is written: marks at the words they belong to."""
    text: list[str] = []
    joined = True  # no blank before the first word
    for place, token in enumerate(tokens):
        if not joined and token.lower() not in _LEFT:
            text.append(" ")
        text.append(_WRITTEN.get(token, token))
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        joined = token in _RIGHT or (token.endswith(_CURRENCY) and following[:1] != "" and is_digit(following[0]))
    return "".join(text)


def is_digit(character: str) -> bool:
    """Whether a character is a digit, or stands for one where digits are mapped."""
    return character.isdigit() or character in "#N"


def sentences(text: str) -> list[str]:
    """Split a paragraph where sentences end: at a mark that is no abbreviation's, with no small letter after it."""
    found: list[list[str]] = [[]]
    pieces = text.split()
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=False):
        found[-1].append(piece)
        bare = piece.rstrip("\"')]}”’")
        ends = bare.endswith(("!", "?")) or (bare.endswith(".") and not _keeps_full_stop(piece, following))
        if ends and following and not following.lstrip("\"'(“‘")[:1].islower():
            found.append([])
    return [" ".join(sentence) for sentence in found if sentence]


def tokenize_all(lines: Iterable[str], digits: str, workers: int) -> Iterator[list[str]]:
    """Yield Tokenizer(digits).words(line) of each line, in order, whatever the number of worker processes."""
    lines = iter(lines)
    first = list(islice(lines, _ALONE)) if workers > 1 else []
    lines = chain(first, lines)
    if workers > 1 and len(first) == _ALONE:
        yield from _in_parallel(lines, digits, workers)
    else:
        yield from map(Tokenizer(digits).words, lines)


class _Worker:
    """A process that runs this very file: it loads nothing else, and forks no parent that may hold torch's threads."""

    def __init__(self, digits: str):
        command = [sys.executable, "-I", "-X", "utf8", __file__, digits]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent = 0

    def send(self, parcel: list[str]) -> None:
        """Pass lines on; the worker reads all of them before it answers, so that neither waits for the other."""
        assert self.process.stdin is not None
        self.sent = len(parcel)
        text = "".join(line.replace("\n", " ") + "\n" for line in parcel)
        self.process.stdin.write(f"{len(parcel)}\n{text}".encode())
        self.process.stdin.flush()

    def answer(self) -> list[list[str]]:
        """Wait for the words of the lines sent."""
        assert self.process.stdout is not None
        answer = list(islice(self.process.stdout, self.sent))
        if len(answer) < self.sent:
            raise RuntimeError(f"a tokenising process ended early (code {self.process.wait()}); was it killed?")
        return [sentence.decode().split() for sentence in answer]

    def stop(self) -> None:
        """End the process: it has nothing to keep."""
        self.process.kill()
        self.process.communicate()


def _in_parallel(lines: Iterator[str], digits: str, workers: int) -> Iterator[list[str]]:
    parcels = iter(lambda: list(islice(lines, _PARCEL)), [])
    team = [_Worker(digits) for _ in range(workers)]
    try:
        busy: deque[_Worker] = deque()
        for worker, parcel in zip(team, parcels, strict=False):
            worker.send(parcel)
            busy.append(worker)
        while busy:
            worker = busy.popleft()
            sentences = worker.answer()
            if parcel := next(parcels, []):
                worker.send(parcel)
                busy.append(worker)
            yield from sentences
    finally:
        for worker in team:
            worker.stop()


def _serve(digits: str) -> None:
    """Answer parcels of lines on standard input with their words; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tokenizer = Tokenizer(digits)
    while size := sys.stdin.buffer.readline():
        parcel = [sys.stdin.buffer.readline().decode() for _ in range(int(size))]
        answer = "".join(" ".join(tokenizer.words(line)) + "\n" for line in parcel)
        sys.stdout.buffer.write(answer.encode())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
