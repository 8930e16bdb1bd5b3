"""What a run's summarizers score and write, where they were evaluated: tables, ROUGE by iteration, predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nutgraf.evaluation.tables import Table, tables
from nutgraf.report.blocks import card, legend, lines, missing
from nutgraf.report.charts import Axis, Series, axis, panel
from nutgraf.report.facts import CHAINS, Facts, spread
from nutgraf.report.markup import Markup, joined, tag, text
from nutgraf.run.evaluations import Estimate, Evaluation, Row
from nutgraf.run.names import SUPERVISED, ModelName, lead_words
from nutgraf.text.casing import Writer

PREDICTIONS = 6
_APART = 0.06  # of an iteration, so that the intervals of two chains do not hide each other
_MEASURES = {"r1": "ROUGE-1", "r2": "ROUGE-2", "rl": "ROUGE-L"}


def score_tables(facts: Facts) -> Markup:
    """Return the paper's tables with the run's rows."""
    return _each(facts, _tables)


def rouge_by_iteration(facts: Facts) -> Markup:
    """Return how the chains' scores go from iteration to iteration."""
    return _each(facts, lambda evaluation: _charts(evaluation.rows))


def predictions(facts: Facts) -> Markup:
    """Return some of the evaluated texts with their references and what each final system made of them."""
    return _each(facts, lambda evaluation: _predicted(evaluation, facts.writer))


def place_of(name: str) -> tuple[str, int] | None:
    """Return the chain and the iteration of an unsupervised summarizer; None for any other row."""
    found = ModelName.find(name)
    return (found.chain, found.iteration) if found and found.unsupervised else None


def _each(facts: Facts, part: Callable[[Evaluation], Iterable[Markup]]) -> Markup:
    if not facts.evaluations:
        return missing("Not evaluated yet: “nutgraf evaluate RUN --pairs test.tsv” does that.")
    several = len(facts.evaluations) > 1
    heads = [tag("h3", f"On “{one.name}”") if several else Markup() for one in facts.evaluations]
    return joined(joined([head, *part(one)]) for head, one in zip(heads, facts.evaluations, strict=True))


def _tables(evaluation: Evaluation) -> list[Markup]:
    made = tables(evaluation.rows)
    return [*map(_table, made), tag("p.note", made[-1].note)] if made else [missing("No system was evaluated.")]


def _table(table: Table) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", column) for column in table.columns)))
    groups = [tag("tbody", *(tag("tr", *_cells(table, row)) for row in group)) for group in table.groups]
    return joined([tag("h3", table.title), tag("div.scroll", tag("table", head, *groups))])


def _cells(table: Table, row: Row) -> Iterable[Markup]:
    for column, cell in zip(table.columns, table.cells(row, lambda mean: f"*{mean}"), strict=True):
        mean, _, interval = cell.partition(" ")
        if not column.startswith("R-"):
            yield tag("td" if column else "th", cell)
        else:
            best = mean.startswith("*")
            yield tag("td", tag("b", mean[1:]) if best else text(mean), " ", tag("small", interval))


def _charts(rows: Sequence[Row]) -> list[Markup]:
    places = {row.name: place for row in rows if row.aligned == 0 and (place := place_of(row.name))}
    if not places:
        return [missing("No summarizer of a chain was evaluated.")]
    seen = {chain for chain, _ in places.values()}
    keys = [(chain, chain) for chain in CHAINS if chain in seen]
    keys += [("lead", "best Lead")] if any(lead_words(row.name) for row in rows) else []
    keys += [("seq2seq", "seq2seq (supervised)")] if any(row.name == SUPERVISED for row in rows) else []
    return [legend(keys), tag("div.panels", *(_chart(rows, places, measure) for measure in _MEASURES))]


def _chart(rows: Sequence[Row], places: dict[str, tuple[str, int]], measure: str) -> Markup:
    scores: dict[str, Estimate] = {row.name: getattr(row, measure) for row in rows}
    iterations = sorted({iteration for _, iteration in places.values()})
    x = Axis(iterations[0] - 0.5, iterations[-1] + 0.5, iterations)
    leads = [scores[row.name] for row in rows if lead_words(row.name)]
    series = [_level("best Lead", "lead", max(leads, key=lambda score: score.mean), x)] if leads else []
    series += [_level(SUPERVISED, SUPERVISED, scores[SUPERVISED], x)] if SUPERVISED in scores else []
    for number, chain in enumerate(CHAINS):
        shift = _APART * (number - (len(CHAINS) - 1) / 2) * (1 + iterations[-1] - iterations[0]) / 2
        own = sorted((iteration, name) for name, (of, iteration) in places.items() if of == chain)
        series += [_line(chain, [(iteration + shift, scores[name]) for iteration, name in own])] if own else []
    drawn = [value for one in series for _, value in one.points]
    drawn += [value for one in series for _, *span in one.spans for value in span]
    best = max(places, key=lambda name: scores[name].mean)
    return panel(_MEASURES[measure], series, x, axis(drawn), f"best {best} {scores[best].mean:.2f}")


def _level(name: str, style: str, score: Estimate, x: Axis) -> Series:
    return Series(f"{name} {score.mean:.2f}", style, [(x.low, score.mean), (x.high, score.mean)])


def _line(chain: str, scores: Sequence[tuple[float, Estimate]]) -> Series:
    figures = ", ".join(f"{score.mean:.2f} ({score.low:.1f}–{score.high:.1f})" for _, score in scores)
    points = [(place, score.mean) for place, score in scores]
    return Series(f"{chain} {figures}", chain, points, [(place, s.low, s.high) for place, s in scores], dots=True)


def _predicted(evaluation: Evaluation, write: Writer) -> list[Markup]:
    pairs = evaluation.pairs()
    if not pairs:
        return [missing(f"{evaluation.source.path}: no longer there as it was when it was evaluated.")]
    outputs = {name: evaluation.outputs(name) for name in _final([row.name for row in evaluation.rows])}
    cards = []
    for place in spread(len(pairs), PREDICTIONS):
        source, reference = pairs[place]
        made = [(name, write(written[place].split(), source)) for name, written in outputs.items()]
        cards.append(card(source, [lines([("reference", reference), *made])]))
    return cards


def _final(names: Sequence[str]) -> list[str]:
    """Return the last summarizer of each chain, then those that saw aligned pairs."""
    last = {place[0]: name for name in names if (place := place_of(name))}
    return [*last.values(), *(name for name in names if place_of(name) is None and not lead_words(name))]
