"""The artificial pairs of a run beside what is real: some of them to read, and how they are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nutgraf.report.blocks import card, legend, missing, said
from nutgraf.report.charts import Axis, Series, axis, panel, stairs
from nutgraf.report.facts import CHAINS, Facts, Pairs, spread
from nutgraf.report.markup import Markup, joined, tag
from nutgraf.run.plan import Kind, Step

SAMPLES = 3  # sentences whose artificial counterparts are shown
_BINS = 25  # at most, in a histogram of lengths
_NONE = "No artificial pairs yet: they come with the first models."


def samples(facts: Facts) -> Markup:
    """Return what the models wrote for the first sentences of each corpus."""
    titles = {1: "Full texts written for real summaries", 0: "Summaries written for real texts"}
    parts = []
    for odd, title in titles.items():
        if steps := [step for step in facts.of_kind(Kind.PAIRS) if step.expands == bool(odd)]:
            parts += [tag("h3", title), *_cards(facts, steps)]
    return joined(parts) if parts else missing(_NONE)


def _cards(facts: Facts, steps: Sequence[Step]) -> list[Markup]:
    """Return a card a sentence: the chains side by side, one row an iteration."""
    real, made = facts.real(steps[0]), [facts.artificial(step) for step in steps]
    cards = []
    for place in range(min(SAMPLES, *map(len, made))):
        rows: dict[int, list[Markup]] = {}
        for step, corpus in zip(steps, made, strict=True):
            name = tag(f"b.{step.chain}", str(step.model))
            cell = tag("div", name, said("p", facts.codec.text(corpus[place])))
            rows.setdefault(step.iteration, []).append(cell)
        cards.append(card(facts.codec.text(real[place]), (tag("div.columns", *cells) for cells in rows.values())))
    return cards


def distributions(facts: Facts) -> Markup:
    """Return histograms of the artificial pairs, a row an iteration, with those of real sentences behind them."""
    steps = facts.of_kind(Kind.PAIRS)
    if not steps:
        return missing(_NONE)
    real = facts.evaluated()
    seen = {step.chain for step in steps}
    parts = [legend([*((chain, chain) for chain in CHAINS if chain in seen), ("real", "real")])]
    for iteration in sorted({step.iteration for step in steps}):
        made = {step.chain: facts.sampled(step) for step in steps if step.iteration == iteration}
        parts += _row(facts, iteration, made, real)
    if not real.texts:
        parts.append(missing("No real pairs to compare copying and positions with: they come with an evaluation."))
    return joined(parts)


def _row(facts: Facts, iteration: int, made: Mapping[str, Pairs], real: Pairs) -> list[Markup]:
    corpus = facts.prepared.texts if iteration % 2 else facts.prepared.summaries
    lengths = {
        chain: [len(words) for words in (pairs.texts if iteration % 2 else pairs.summaries)]
        for chain, pairs in made.items()
    }
    copied = {chain: pairs.copied for chain, pairs in made.items()}
    positions = {chain: pairs.positions for chain, pairs in made.items()}
    return [
        tag("h3", f"Iteration {iteration}: artificial {'texts' if iteration % 2 else 'summaries'}"),
        tag(
            "div.panels",
            _lengths("Length in words", lengths, corpus.lengths[spread(len(corpus))].tolist()),
            _shares("Share of words copied", copied, real.copied),
            _shares("Where in the text they stand", positions, real.positions),
        ),
    ]


def _lengths(title: str, made: Mapping[str, Sequence[float]], real: Sequence[float]) -> Markup:
    longest = max(np.percentile(found, 99.5) for found in (real, *made.values()) if len(found))
    width = int(longest) // _BINS + 1
    edges = [float(width * number) for number in range(int(longest) // width + 2)]
    series = _outlines(made, real, edges, "{:.1f} words")
    ticks = axis([0.0, edges[-1]]).ticks
    return panel(title, series, Axis(0, edges[-1], [tick for tick in ticks if tick <= edges[-1]]), _height(series))


def _shares(title: str, made: Mapping[str, Sequence[float]], real: Sequence[float]) -> Markup:
    series = _outlines(made, real, [number / 10 for number in range(11)], "{:.0%}")
    return panel(title, series, Axis(0, 1, (0, 0.5, 1), percent=True), _height(series))


def _outlines(
    made: Mapping[str, Sequence[float]], real: Sequence[float], edges: Sequence[float], mean: str
) -> list[Series]:
    """Return a histogram of each, the real one as an area behind the others; the last bin holds what is past it."""
    series = []
    for name, found in {"real": real, **made}.items():
        if len(found):
            counts = np.histogram(np.clip(found, edges[0], edges[-1]), edges)[0]
            title = f"{name}: mean {mean.format(np.mean(found))}"
            points = stairs(edges, (counts / len(found)).tolist())
            series.append(Series(title, name, points, area=name == "real"))
    return series


def _height(series: Sequence[Series]) -> Axis:
    return axis([share for one in series for _, share in one.points], percent=True, zero=True)
