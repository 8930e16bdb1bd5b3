"""HTML and SVG elements as strings that cannot be forged: text is escaped wherever it is put into an element.

What is markup already is of type Markup; any other string, above all the user's own sentences, is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

# What HTML forbids in a page, however it is written: controls and half characters.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """A string that is HTML already."""

    __slots__ = ()


def text(content: object) -> Markup:
    """Return what shows the content as it stands, whatever it is."""
    return content if isinstance(content, Markup) else Markup(escape(_FORBIDDEN.sub("\ufffd", str(content))))


def joined(parts: Iterable[str]) -> Markup:
    """Return the parts one after the other."""
    return Markup("".join(map(text, parts)))


def tag(selector: str, *children: str, at: Mapping[str, object] | None = None) -> Markup:
    """Return an element: tag("p.note", "5 < 6") is <p class="note">5 &lt; 6</p>; `at` holds further attributes."""
    name, *classes = selector.split(".")
    attributes = ({"class": " ".join(classes)} if classes else {}) | dict(at or {})
    written = "".join(f' {key}="{text(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")
