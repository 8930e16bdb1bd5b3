"""Pieces that several parts of the page are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nutgraf.report.markup import Markup, tag


def missing(message: str) -> Markup:
    """Return the line that stands for a part which the run has not got to."""
    return tag("p.missing", message)


def legend(keys: Iterable[tuple[str, str]]) -> Markup:
    """Return which style stands for what."""
    return tag("p.legend", *(tag(f"span.{style}", label) for style, label in keys))


def said(selector: str, sentence: str) -> Markup:
    """Return a sentence of a corpus or a model; which way it is written stays its own affair."""
    return tag(selector, sentence, at={"dir": "auto"}) if sentence else tag(selector, tag("i", "nothing"))


def lines(named: Sequence[tuple[str, str]]) -> Markup:
    """Return names and what belongs to each."""
    return tag("dl", *(tag("div", tag("dt", name), said("dd", line)) for name, line in named))


def card(given: str, parts: Iterable[Markup]) -> Markup:
    """Return a sentence, and under it what was made of it."""
    return tag("article", said("p.given", given), *parts)
