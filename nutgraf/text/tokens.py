"""Words of raw English text, and the way back: detokenize(tokenize(line)) is the line again, nearly always.

The paper's corpora are tokenised already (Section 4); users bring raw text, so this tokenizer is ours. Each piece
between blanks is split on its own, by rules like those of Moses, so that a cache of pieces does most of the work: on
newswire it is several times as fast as sacremoses and restores more lines exactly. What differs from Moses:
- quotation marks keep their direction (`` and '' for double, ` and ' for single ones), so they can be put back;
- names such as AT&T, K+S and A/S stay whole, and HK$3 is HK$ and 3;
- don't is do and n't.
Typographic quotation marks become plain ones. It does not split words of languages that are written without blanks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from nutgraf.text.sentences import CANNOT_START, CLOSING_MARKS, keeps_full_stop

_SUFFIXES = frozenset(("'s", "'t", "'re", "'ve", "'ll", "'d", "'m", "n't"))
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "´": "'", "…": "..."})
_WHOLE = frozenset(("``", "''", "`", "'", "--", "...", "/")) | _SUFFIXES
_ADDRESS = re.compile(r"\w+://|www\.|[\w.+-]+@[\w-]+\.\w")
_OPENING = re.compile(r"``|''|[(\[{\"'`]|[$£€¥](?=\.?\d)|\.\.\.|[,;:!?)\]}](?=.)")
_CLOSING = re.compile(r"(?:''|\.{2,}|[)\]}\"'`,;:!?%®™]|(?<=[^.])\.)\Z")
_SUFFIX = re.compile(r"(?:n't|(?<=.)'(?:s|t|re|ve|ll|d|m))\Z", re.IGNORECASE)
_YEARS = re.compile(r"'\d\ds?\b")
# Where a piece is split inside: at marks not between digits, at slashes between words, after a currency sign.
_INSIDE = re.compile(
    r"([;!?()<>\[\]{}\"]|\.{2,}|(?<=\w\w)--+|—|(?<!\d)[,:–]|[,:–](?!\d)|(?<=[^\W\d_][^\W\d_.])/(?=[^\W\d_]{2})|(?<=[$£€¥])(?=\d))"
)
_LEFT = frozenset((",", ".", ";", ":", "?", "!", ")", "]", "}", "%", "''", "'", "..", "...", "®", "™", "/")) | _SUFFIXES
_RIGHT = frozenset(("(", "[", "{", "``", "`", "/"))
_WRITTEN = {"``": '"', "''": '"', "`": "'"}
_CURRENCY = ("$", "£", "€", "¥")
CACHED_BYTES = 1 << 27  # for a whole corpus: about 400,000 pieces
_ENTRY = 100  # bytes of a dict's entry
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))


class _Cache(dict[str, tuple[str, ...]]):
    """The words of pieces; when it holds more than this many bytes, it starts from the beginning."""

    def __init__(self, most: int):
        super().__init__()
        self._most, self._bytes = most, 0

    def keep(self, piece: str, words: tuple[str, ...]) -> None:
        """Add a piece."""
        size = sys.getsizeof(piece) + sys.getsizeof(words) + sum(map(sys.getsizeof, words)) + _ENTRY
        if self._bytes + size > self._most:
            self.clear()
            self._bytes = 0
        if size <= self._most:
            self[piece] = words
            self._bytes += size


class Tokenizer:
    """Splits lines into words; `digits` is "keep", or a character that replaces every digit.

    It remembers pieces: up to `cached_bytes` as they are written, and as many in lower case.
    """

    def __init__(self, digits: str = "keep", cached_bytes: int = CACHED_BYTES):
        self.digits = digits
        self._cased, self._lower = _Cache(cached_bytes), _Cache(cached_bytes)

    def tokenize(self, line: str) -> list[str]:
        """Return the words as written."""
        return _direct_quotes(self._split_line(line, self._cased, lower=False))

    def words(self, line: str) -> list[str]:
        """Return the words as the models see them: lower-cased, with digits replaced if asked for."""
        return _direct_quotes(self._split_line(line, self._lower, lower=True))

    def _split_line(self, line: str, cache: _Cache, lower: bool) -> list[str]:
        pieces = line.split()
        tokens: list[str] = []
        for place, piece in enumerate(pieces):
            found = cache.get(piece)
            if found is None:
                following = pieces[place + 1] if place + 1 < len(pieces) else ""
                found = self._split_piece(piece, following, cache, lower)
            tokens += found
        return tokens

    def _split_piece(self, piece: str, following: str, cache: _Cache, lower: bool) -> tuple[str, ...]:
        """Split a piece that the cache lacks, or where a full stop's role depends on the next piece."""
        stops = piece.rstrip(CLOSING_MARKS).endswith(".")
        kept = stops and keeps_full_stop(piece, following)
        key = f"{piece} {kept}" if stops else piece
        tokens = cache.get(key)
        if tokens is None:
            split = _split(piece.translate(_STRAIGHT), kept)
            tokens = tuple(self._lower_case(token) for token in split) if lower else tuple(split)
            cache.keep(key, tokens)
        return tokens

    def _lower_case(self, token: str) -> str:
        token = token.lower()
        return token if self.digits == "keep" else re.sub(r"\d", self.digits.replace("\\", r"\\"), token)


def _split(piece: str, keep_full_stop: bool) -> list[str]:
    """Split one piece of a line."""
    if piece in _WHOLE or len(piece) == 1:
        return [piece]
    opening, start = _split_opening(piece)
    piece = piece[start:]
    closing, end = _split_closing(piece, keep_full_stop)
    if mark := _SUFFIX.search(piece, max(0, end - _LONGEST_SUFFIX), end):
        closing.append(mark.group())
        end = mark.start()
    piece = piece[:end]
    inside = [piece] if _ADDRESS.match(piece) else _INSIDE.split(piece)
    return [*opening, *("''" if token == '"' else token for token in inside if token), *reversed(closing)]


def _split_opening(piece: str) -> tuple[list[str], int]:
    """Return the marks that a piece starts with, and where the rest starts."""
    marks: list[str] = []
    start = 0
    while mark := _OPENING.match(piece, start):
        is_suffix = len(piece) - start <= _LONGEST_SUFFIX and piece[start:] in _SUFFIXES
        if is_suffix or _YEARS.match(piece, start):
            break
        marks.append({'"': "``", "''": "``", "'": "`"}.get(mark.group(), mark.group()))
        start = mark.end()
    return marks, start


def _split_closing(piece: str, keep_full_stop: bool) -> tuple[list[str], int]:
    """Return the marks that a piece ends in, the last one first, and where they start."""
    marks: list[str] = []
    end = len(piece)
    # Only the last few letters are searched, since a piece may be long.
    while mark := _CLOSING.search(piece, max(0, _skip_stops(piece, end) - 2), end):
        # A comma after a full stop means that the stop belongs to an abbreviation.
        if mark.group() == "." and (keep_full_stop or (marks and marks[-1] in CANNOT_START)):
            break
        marks.append({'"': "''", "`": "'"}.get(mark.group(), mark.group()))
        end = mark.start()
    return marks, end


def _skip_stops(piece: str, end: int) -> int:
    """Return where the full stops start that a piece, cut at `end`, ends in."""
    while end and piece[end - 1] == ".":
        end -= 1
    return end


def _direct_quotes(tokens: list[str]) -> list[str]:
    """Give double quotation marks that stood between blanks a direction: closing if one is open."""
    if '"' in tokens:
        depth = 0
        for place, token in enumerate(tokens):
            if token == '"':
                tokens[place] = "''" if depth > 0 else "``"
            depth += {"``": 1, "''": -1}.get(tokens[place], 0)
    return tokens


def detokenize(tokens: Sequence[str]) -> str:
    """Join words to text, with each mark at the word it belongs to."""
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
    """Whether a character is a digit, or may replace one."""
    return character.isdigit() or character in "#N"


def is_number(word: str) -> bool:
    """Whether a word has a digit, or a character that replaces one."""
    return any(map(is_digit, word))
