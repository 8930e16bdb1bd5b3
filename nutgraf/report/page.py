"""The page: templates/page.html filled with what a run holds.

Every part of the page is a macro in templates/parts.html, applied to the facts or to what is computed from them. A part
that the run has not reached says so in one line, and so does one whose files cannot be read. The page depends only on
the run folder and on the line that says when it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from nutgraf.errors import NutgrafError
from nutgraf.evaluation.tables import tables
from nutgraf.progress import duration
from nutgraf.report.corpora import distributions, name_maker, samples
from nutgraf.report.facts import Facts, learning_curves
from nutgraf.report.scores import explain_names, predictions, rouge_by_iteration
from nutgraf.report.verdict import judge, name_corpora
from nutgraf.run.folder import Run

ENVIRONMENT = Environment(
    loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
ENVIRONMENT.filters |= {
    "commands": lambda text: Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text)))),
    "duration": duration,
    "file_name": lambda path: Path(path).name,
    "maker": name_maker,
}
_COMPUTED: dict[str, Callable[[Facts], object]] = {
    "verdict": judge,
    "scores": lambda facts: [(found, tables(found.rows)) for found in facts.evaluations],
    "names": explain_names,
    "iterations": lambda facts: [(found, rouge_by_iteration(found.rows)) for found in facts.evaluations],
    "predictions": lambda facts: [(found, predictions(found, facts.writer)) for found in facts.evaluations],
    "samples": samples,
    "found": Facts.found,
    "distributions": distributions,
    "curves": learning_curves,
}
_UNREADABLE = (NutgrafError, OSError, ValueError, LookupError, TypeError, AttributeError)
# Characters that HTML forbids anywhere in a page, even escaped: controls and lone surrogates.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render_page(run: Run, written: str) -> str:
    """Return the whole report; `written` says when it was made."""
    facts = Facts(run)
    html = ENVIRONMENT.get_template("page.html").render(
        corpora=name_corpora(run.inputs),
        name=run.folder.resolve().name,
        facts=facts,
        written=written,
        part=partial(_show_part, facts),
    )
    return _FORBIDDEN.sub("\ufffd", html)


def _show_part(facts: Facts, name: str) -> Markup:
    macros = ENVIRONMENT.get_template("parts.html").module
    try:
        shown: Markup = getattr(macros, name)(_COMPUTED[name](facts) if name in _COMPUTED else facts)
    except _UNREADABLE as error:
        shown = macros.unreadable(type(error).__name__, str(error))  # type: ignore[attr-defined]
    return shown
