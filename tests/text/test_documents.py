from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from nutgraf.errors import InputError
from nutgraf.text.documents import find_sentences, read_document

COUNCIL = "The city council voted on Monday to close two pools."
MAYOR = "The mayor said that there was no other choice."
CLUBS = "Swimming clubs will protest at the town hall."

MARKDOWN = """---
title: This is no sentence of the text.
---
# Two pools of the city will close soon.

The **city council** voted on *Monday* to
close [two pools](http://localhost/pools_of_the_city). [![A badge of the city.](b.svg)](http://localhost/)

A second heading that ends in a full stop.
------------------------------------------

- The mayor `said` that there was _no_ other choice. ![A picture of the old pool.](a.png)
> Swimming clubs will protest
> at the town hall.

```
This is code and is never read.
```

| This row of a table is not read. |

    This is code as well, by its blanks.

[1]: This is where a link leads to.
"""

HTML = """<!DOCTYPE html>
<html><head><title>This is the title of the page.</title><style>p { color: red }</style>
<body><nav><p>Here you can go to all other pages.</p></nav>
<article><header><h1>Two pools of the city will close.</h1></header>
<p>The <b>city&nbsp;council</b> voted on <a href="x">Monday</a> to<br>close two pools.
<p>The mayor said that there was no other choice.<script>if (a < b) { "This is code and is never read." }</script>
<figure><figcaption>This is one of the old pools.</figcaption></figure>
<ul><li>Swimming clubs will protest at the town hall.</ul></article>
<p>Other articles that you may like to read.</p><footer>All rights are reserved by the owner.</footer>
"""

PLAIN = f"Two pools will close\n\nThe city council voted on Monday\nto close two pools. {MAYOR}\n\nShort.\n{CLUBS}\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.md", MARKDOWN), ("a.html", HTML), ("page", HTML), ("a.txt", PLAIN), ("a.txt", PLAIN.replace("\n", "\r\n"))],
)
def test_only_the_sentences_of_the_prose_are_read(name: str, content: str) -> None:
    assert find_sentences(content, name) == [COUNCIL, MAYOR, CLUBS]


def test_a_page_without_an_article_is_read_whole() -> None:
    page = f"<body><div>{COUNCIL}</div><div>Menu</div><span>{MAYOR}</span></body>"
    assert find_sentences(page) == [COUNCIL, MAYOR]


def test_plain_text_may_have_stars_and_brackets() -> None:
    text = "Two * two is four, a_b is a name."
    assert find_sentences(text, "a.txt") == [text]
    assert find_sentences(text, "a.md") == [text]


def test_documents_are_files(tmp_path: Path) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + HTML.encode()))
    assert read_document(str(tmp_path / "a.html.gz")) == [COUNCIL, MAYOR, CLUBS]
    long = tmp_path / "long.html"
    long.write_text(f"<p>{'x' * (1 << 20)}</p><p>{MAYOR}</p>")  # pages may be written in one line
    assert read_document(str(long)) == [MAYOR]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Too short.\n", "no sentence of 5 words or more"),
        (b"caf\xe9\n", "line 1, byte 4 is 0xe9"),
        (b"x" * ((1 << 24) + 1), "longer than 16,777,216 bytes"),
        (b"PK\x03\x04", "zip archive"),
    ],
)
def test_what_is_no_document_is_explained(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.txt.*{message}"):
        read_document(str(tmp_path / "a.txt"))
