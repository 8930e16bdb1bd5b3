"""The page of a report: what a run is, what it scores, what its models write and how they learned, top to bottom.

A part that the run has not got to says so in one line, and so does one whose files cannot be read. The page is a
function of the run folder and of the line that says when it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

from nutgraf.errors import NutgrafError
from nutgraf.progress import duration
from nutgraf.report.blocks import legend, lines, missing
from nutgraf.report.charts import Axis, Series, axis, bar, panel
from nutgraf.report.corpora import distributions, samples
from nutgraf.report.facts import Curve, Facts
from nutgraf.report.markup import Markup, joined, tag
from nutgraf.report.scores import predictions, rouge_by_iteration, score_tables
from nutgraf.run.folder import Run
from nutgraf.run.plan import TEXT

_UNREADABLE = (NutgrafError, OSError, ValueError, LookupError, TypeError, AttributeError)
_HEAD = Markup(
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
    # Should text ever get past the escapes, it can run nothing and load nothing.
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)

Part = Callable[[Facts], Markup]


def page(run: Run, written: str) -> str:
    """Return the whole report; `written` says when it was made."""
    facts = Facts(run)
    name = run.folder.resolve().name
    style = Markup(resources.files("nutgraf.report").joinpath("style.css").read_text("utf-8"))
    links = [tag("a", title, at={"href": f"#{anchor}"}) for anchor, title, _, _ in _SECTIONS]
    top = [tag("p.kicker", "nutgraf report"), tag("h1", name), _guarded(_lede, facts), _tiles(facts)]
    head = tag("head", _HEAD, tag("title", f"{name}: nutgraf report"), tag("style", style))
    body = tag(
        "body",
        tag("header", *top, tag("nav", *links)),
        tag("main", *(_section(facts, *section) for section in _SECTIONS)),
        tag("footer", tag("p", f"Written {written}."), tag("p", "One file: no script, nothing from elsewhere.")),
    )
    return f"<!doctype html>\n{tag('html', head, body, at={'lang': 'en'})}\n"


def _section(facts: Facts, anchor: str, title: str, said: str, part: Part) -> Markup:
    return tag("section", tag("h2", title), tag("p.said", said), _guarded(part, facts), at={"id": anchor})


def _guarded(part: Part, facts: Facts) -> Markup:
    try:
        return part(facts)
    except _UNREADABLE as error:
        return missing(f"This part cannot be read from the run ({type(error).__name__}: {error}).")


def _lede(facts: Facts) -> Markup:
    said = "A summarizer learned from texts and summaries that were never paired."
    if best := facts.run.best():
        said += f" The one to use is {best.name}: {best.reason}."
    return tag("p.lede", said)


def _tiles(facts: Facts) -> Markup:
    inputs = facts.run.inputs
    tiles = {
        "texts": f"{inputs.texts.lines:,}",
        "summaries": f"{inputs.summaries.lines:,}",
        "steps done": f"{len(facts.done)} of {len(facts.steps)}",
        "of work": duration(facts.seconds),
    }
    return tag("div.tiles", *(tag("div", tag("b", value), tag("span", label)) for label, value in tiles.items()))


def _learning(facts: Facts) -> Markup:
    if not facts.curves:
        return missing("No model is trained yet.")
    y = axis([value for curve in facts.curves for _, value in (*curve.loss, *curve.held_out)])
    keys = legend([("held-out", "held-out pairs"), ("training", "training pairs")])
    return joined([keys, tag("div.panels.small", *(_curve(curve, y) for curve in facts.curves))])


def _curve(curve: Curve, y: Axis) -> Markup:
    series = [Series("training", "training", curve.loss), Series("held out", curve.step.chain, curve.held_out)]
    x = axis([0.0, *(step for step, _ in curve.loss)])
    last = f"{curve.step.kind} {curve.held_out[-1][1]:.2f}" if curve.held_out else str(curve.step.kind)
    return panel(curve.step.name, series, x, y, last)


def _time(facts: Facts) -> Markup:
    longest = max((record.seconds for record in facts.done.values()), default=0.0) or 1.0
    rows = []
    for step in facts.steps:
        record = facts.done.get(step.name)
        length = bar(record.seconds / longest, step.chain) if record else Markup()
        taken = "to come" if record is None else duration(record.seconds) if record.seconds >= 1 else "< 1 s"
        origin = ", ".join(name for name in step.needs if name != TEXT)
        cells = (tag("th", step.name), tag("td.bars", length), tag("td", taken), tag("td.from", origin))
        rows.append(tag("tr" if record else "tr.to-come", *cells))
    head = tag("tr", *(tag("th", name) for name in ("step", "", "time", "from")))
    foot = tag("tr", tag("th", "whole"), tag("td"), tag("td", duration(facts.seconds)), tag("td"))
    return tag("div.scroll", tag("table.steps", tag("thead", head), tag("tbody", *rows), tag("tfoot", foot)))


def _made_with(facts: Facts) -> Markup:
    sources = {name: getattr(facts.run.inputs, name) for name in ("texts", "summaries", "valid", "aligned")}
    files = [
        (name, f"{Path(source.path).name}: {source.lines:,} lines, {source.words:,} words, digest {source.digest[:12]}")
        for name, source in sources.items()
        if source
    ]
    versions = lines(facts.versions) if facts.versions else missing("No step is done yet, so none is recorded.")
    recipe = tag("details", tag("summary", "Every value of this run"), tag("pre", facts.run.recipe.to_toml()))
    parts = {"Inputs": lines(files), "Versions": versions, "Recipe": recipe}
    return joined(joined([tag("h3", title), part]) for title, part in parts.items())


_SECTIONS: tuple[tuple[str, str, str, Part], ...] = (
    (
        "scores",
        "Scores",
        "ROUGE F1 of every summarizer, and of Lead, which just takes the first words of the text.",
        score_tables,
    ),
    (
        "iterations",
        "ROUGE by iteration",
        "How each chain's summarizers score, from its initializer (0) on; bars are 95 % intervals.",
        rouge_by_iteration,
    ),
    (
        "predictions",
        "Predictions",
        "Texts from the evaluated pairs, their references, and what the last summarizer of each chain wrote.",
        predictions,
    ),
    (
        "samples",
        "Artificial sentences",
        "The same real sentence, and what each chain's model wrote for it: what the next model was trained on.",
        samples,
    ),
    (
        "distributions",
        "Real and artificial",
        "The closer a line to the grey of real sentences, the more the artificial ones are like them: how long they"
        " are, how many of the summary's words are in the text, and where in it those stand (0 %: its start).",
        distributions,
    ),
    (
        "learning",
        "Learning curves",
        "Cross-entropy by training step, all on one scale; beside each name, the last value on held-out pairs.",
        _learning,
    ),
    ("time", "Time", "What each step took, in the order of the plan, and what it was made from.", _time),
    ("made-with", "Made with", "What it takes to make this run again.", _made_with),
)
