"""What an evaluation shows of a run's summarizers: ROUGE by iteration, and predictions to read."""

from __future__ import annotations

from collections.abc import Sequence

from nutgraf.report.charts import Axis, Charts, Panel, Series, make_axis
from nutgraf.report.facts import Facts, spread
from nutgraf.run.evaluations import Estimate, Evaluation, Row, evaluations
from nutgraf.run.names import CHAINS, SUPERVISED, ModelName, lead_words
from nutgraf.run.plain_names import present
from nutgraf.text.casing import Writer

PREDICTIONS = 6
_APART = 0.06  # of an iteration, so that the intervals of two chains do not hide each other
_MEASURES = {"r1": "ROUGE-1", "r2": "ROUGE-2", "rl": "ROUGE-L"}
_LEAD = "best Lead"

Card = tuple[str, list[tuple[str, str]]]  # a text, and its summaries by who wrote them


def _chain_models(names: Sequence[str]) -> list[ModelName]:
    """Return the summarizers that saw no aligned pair."""
    return [model for model in map(ModelName.find, names) if model and model.unsupervised]


def rouge_by_iteration(rows: Sequence[Row]) -> Charts | None:
    """Return how the chains' scores go from iteration to iteration; None where no chain was evaluated.

    Teachers are left out: they are as far as the all-N that they teach. The tables have their scores.
    """
    models = [model for model in _chain_models([row.name for row in rows]) if not model.teacher]
    if not models:
        return None
    panels = [_panel(title, {row.name: getattr(row, key) for row in rows}, models) for key, title in _MEASURES.items()]
    chains, names = {model.chain for model in models}, [row.name for row in rows]
    legend = [(chain, chain) for chain in CHAINS if chain in chains]
    legend += [("lead", _LEAD)] if any(map(lead_words, names)) else []
    legend += [(SUPERVISED, f"{SUPERVISED} (supervised)")] if SUPERVISED in names else []
    return Charts(legend, [("", panels)])


def _panel(title: str, scores: dict[str, Estimate], models: Sequence[ModelName]) -> Panel:
    iterations = sorted({model.iteration for model in models})
    first, last = iterations[0], iterations[-1]
    x = Axis(first - 0.5, last + 0.5, iterations)
    leads = [score for name, score in scores.items() if lead_words(name)]
    series = [_level(_LEAD, "lead", max(leads, key=lambda score: score.mean), x)] if leads else []
    series += [_level(SUPERVISED, SUPERVISED, scores[SUPERVISED], x)] if SUPERVISED in scores else []
    chains = [chain for chain in CHAINS if any(model.chain == chain for model in models)]
    for number, chain in enumerate(chains):
        shift = _APART * (number - (len(chains) - 1) / 2) * (1 + last - first) / 2
        own = sorted((model.iteration + shift, str(model)) for model in models if model.chain == chain)
        series.append(_line(chain, [(place, scores[name]) for place, name in own]))
    values = [value for one in series for _, value in one.points]
    values += [value for one in series for _, *span in one.spans for value in span]
    best = max(map(str, models), key=lambda name: scores[name].mean)
    return Panel(title, series, x, make_axis(values), f"best {best} {scores[best].mean:.2f}")


def _level(name: str, style: str, score: Estimate, x: Axis) -> Series:
    return Series(f"{name} {score.mean:.2f}", style, [(x.low, score.mean), (x.high, score.mean)])


def _line(chain: str, scores: Sequence[tuple[float, Estimate]]) -> Series:
    figures = ", ".join(f"{score.mean:.2f} ({score.low:.1f}–{score.high:.1f})" for _, score in scores)
    points = [(place, score.mean) for place, score in scores]
    return Series(f"{chain} {figures}", chain, points, [(place, s.low, s.high) for place, s in scores], dots=True)


def predictions(evaluation: Evaluation, write: Writer) -> list[Card]:
    """Return some of the evaluated texts, their references and summaries; none where the texts are gone."""
    pairs = evaluation.pairs()
    if not pairs:
        return []
    outputs = {name: evaluation.outputs(name) for name in _final([row.name for row in evaluation.rows])}
    cards = []
    for place in spread(len(pairs), PREDICTIONS):
        text, reference = pairs[place]
        written = [(name, write(lines[place].split(), text)) for name, lines in outputs.items()]
        cards.append((text, [("reference", reference), *written]))
    return cards


def _final(names: Sequence[str]) -> list[str]:
    """Return the last summarizer of each chain, then those that saw aligned pairs."""
    models = _chain_models(names)
    last = {model.chain: str(model) for model in models}
    return [*last.values(), *(name for name in names if name not in map(str, models) and not lead_words(name))]


def explain_names(facts: Facts) -> list[tuple[str, str]]:
    """Return what each summarizer is that was evaluated, by its name, in plain words."""
    names = dict.fromkeys(row.name for evaluation in evaluations(facts.run.folder) for row in evaluation.rows)
    return [(name, _explain_name(name)) for name in names]


def _explain_name(name: str) -> str:
    if words := lead_words(name):
        return f"Baseline: the first {words} words of the text"
    plain = present(name)
    return f"{plain.title}: {plain.description}" if plain.description else plain.title
