"""The sentences of a whole document: plain text, Markdown or HTML.

Only prose is kept: no headings, code, tables, menus or captions, and no sentence that is too short or does not end.
It reads what people write, not every page that a browser can show: nothing is run, and nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

from nutgraf.errors import InputError
from nutgraf.text.reading import clean_line, read_whole
from nutgraf.text.sentences import CLOSING_MARKS, split_sentences

SHORTEST = 5  # words of a sentence that says something
_ENDS = (".", "!", "?", "…")
_HTML, _MARKDOWN = (".html", ".htm", ".xhtml"), (".md", ".markdown")
_IS_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|article)\b", re.IGNORECASE | re.DOTALL
)
_NOT_READ = """
title script style noscript template svg math nav header footer aside form button select textarea figure table h1 h2 h3
h4 h5 h6 pre iframe object dialog menu
"""
_IN_A_LINE = """
a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q ruby s samp small span strike
strong sub sup time tt u var wbr
"""
_SKIPPED, _INLINE = frozenset(_NOT_READ.split()), frozenset(_IN_A_LINE.split())
_MAIN = frozenset(("article", "main"))
_FRONT = re.compile(r"\A(---|\+\+\+)\n.*?\n\1\n", re.S)
_CODE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[ \t]*$|\Z)", re.M | re.S)
_TITLE = re.compile(r"^ {0,3}#{1,6} .*$|^.+\n {0,3}(?:=+|-+)[ \t]*$|^ {0,3}(?:[-*_][ \t]*){3,}$", re.M)
_NO_PROSE = re.compile(r"^[ \t]*\|.*$|^ {0,3}\[[^]]+\]:.*$|^(?: {4}|\t).*$", re.M)  # tables, references, indented code
_STARTS = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+|^[ \t]*>[ \t]?", re.M)
_IMAGE, _LINK = (re.compile(rf"{mark}\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])") for mark in ("!", ""))
_MARKS = re.compile(r"(?<!\w)[*_~]+(?=\S)|(?<=\S)[*_~]+(?!\w)|`+|</?[a-zA-Z][^>]*>|<!--.*?-->", re.S)


def read_document(path: str) -> list[str]:
    """Return the sentences of a document ("-" is standard input); one without any is an error."""
    sentences = find_sentences(read_whole(path), path)
    if not sentences:
        raise InputError(f"{path}: no sentence of {SHORTEST} words or more; expected a document of text")
    return sentences


def find_sentences(text: str, name: str = "") -> list[str]:
    """Return the sentences of a document's prose; its name, or else how it starts, says what it is written in."""
    ending = Path(name.lower().removesuffix(".gz").removesuffix(".xz")).suffix
    if ending in _HTML or (ending not in _MARKDOWN and _IS_HTML.match(text)):
        paragraphs: Iterable[str] = html_paragraphs(text)
    else:
        paragraphs = plain_paragraphs(strip_markdown(text) if ending in _MARKDOWN else text)
    return [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph) if is_prose(sentence)]


def is_prose(sentence: str) -> bool:
    """Whether this is a whole sentence: some words, and a mark at its end."""
    return len(sentence.split()) >= SHORTEST and sentence.rstrip(CLOSING_MARKS).endswith(_ENDS)


def plain_paragraphs(text: str) -> Iterator[str]:
    """Yield what blank lines separate, each as one line."""
    for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        yield " ".join(clean_line(paragraph).split())


def strip_markdown(text: str) -> str:
    """Return the prose of Markdown as plain text."""
    text = _FRONT.sub("", text.replace("\r\n", "\n"))
    for left_out in (_CODE, _NO_PROSE, _TITLE):
        text = left_out.sub("\n\n", text)
    text = _STARTS.sub(lambda found: "" if ">" in found[0] else "\n", text)
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))  # an image may be what is linked
    return _MARKS.sub("", text)


def html_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page: those of its articles where it has any, else all."""
    reader = _PageReader()
    reader.feed(text)
    reader.close()
    reader.end_paragraph()
    found = [paragraph for paragraph, main in reader.paragraphs if main]
    return found or [paragraph for paragraph, _ in reader.paragraphs]


class _PageReader(HTMLParser):
    """Collects paragraphs, and whether each is in an article; an element that is no part of a line ends one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[tuple[str, bool]] = []
        self._pieces: list[str] = []
        self._skipped: list[str] = []  # elements that are open and not read
        self._main = 0  # articles that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped or tag in _SKIPPED:
            if tag in _SKIPPED:
                self.end_paragraph()
                self._skipped.append(tag)
            return
        if tag == "br":
            self._pieces.append(" ")
        elif tag not in _INLINE:
            self.end_paragraph()
        self._main += tag in _MAIN

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipped:
            del self._skipped[self._skipped.index(tag) :]
        elif not self._skipped and tag not in _INLINE:
            self.end_paragraph()
            self._main = max(0, self._main - (tag in _MAIN))

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._pieces.append(data)

    def end_paragraph(self) -> None:
        """Keep what was read of a paragraph, if it has any word."""
        line = " ".join(clean_line("".join(self._pieces)).split())
        self._pieces = []
        if line:
            self.paragraphs.append((line, self._main > 0))
