"""The pairs of a run next to real sentences: some of the artificial ones to read, and histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nutgraf.report.charts import Axis, Charts, Panel, Series, make_axis, outline_bins
from nutgraf.report.facts import Facts, Pairs, spread
from nutgraf.run.names import CHAINS, summarizers
from nutgraf.run.plan import Kind, Step

SAMPLES = 3  # sentences whose artificial counterparts are shown
_BINS = 25  # at most, in a histogram of lengths

Card = tuple[str, list[tuple[Step, str]]]  # a real sentence, and what each model wrote for it
Values = Mapping[str, Sequence[float]]  # by chain; "real" for real sentences


def samples(facts: Facts) -> list[tuple[bool, list[Card]]]:
    """Return what expanders (True), then summarizers (False), wrote for the first sentences of each corpus."""
    found = []
    for expands in (True, False):
        made_by = [step for step in facts.done_steps(Kind.PAIRS) if not (step.model and step.model.finds)]
        if steps := [step for step in made_by if step.expands == expands]:
            real, made = facts.real(steps[0]), [(step, facts.artificial(step)) for step in steps]
            write, places = facts.codec.text, range(min(SAMPLES, *(len(corpus) for _, corpus in made)))
            cards = [(write(real[i]), [(step, write(corpus[i])) for step, corpus in made]) for i in places]
            found.append((expands, cards))
    return found


def distributions(facts: Facts) -> Charts | None:
    """Return histograms of the pairs, a row per iteration, with those of real sentences behind them."""
    steps = facts.done_steps(Kind.PAIRS)
    if not steps:
        return None
    real = facts.real_pairs()
    rows = []
    for iteration in sorted({step.iteration for step in steps}):
        own = [step for step in steps if step.iteration == iteration]
        rows.append((f"Iteration {iteration}: {_describe(own)}", _panels(facts, own, real)))
    chains = {step.chain for step in steps}
    legend = [*((chain, chain) for chain in CHAINS if chain in chains), ("real", "real")]
    note = "No real pairs to compare copying and positions with: an evaluation provides them."
    return Charts(legend, rows, note="" if real.texts else note)


def name_maker(step: Step) -> str:
    """Return who made the pairs of a step: a model, or all those that agreed on them."""
    if step.model and step.model.teacher:
        return " + ".join(summarizers(step.needs))
    return str(step.model)


def _describe(steps: Sequence[Step]) -> str:
    """Return what the steps of pairs of one iteration made."""
    found = [step for step in steps if step.model and step.model.finds]
    if len(found) == len(steps):
        return "real summaries, found by near"
    makers = [name_maker(step) for step in steps if step.model and step.model.teacher]
    agreed = [", agreed on by ", ", then by ".join(makers)] if makers else []
    kind = "artificial texts" if steps[0].expands else "artificial summaries"
    return "".join([kind, *agreed, "; near’s are real ones, found" if found else ""])


def _panels(facts: Facts, steps: Sequence[Step], real: Pairs) -> list[Panel]:
    expands = steps[0].expands
    corpus = facts.prepared.texts if expands else facts.prepared.summaries
    made = {step.chain: facts.sample(step) for step in steps}
    lengths = {"real": corpus.lengths[spread(len(corpus))].tolist()}
    lengths |= {chain: [*map(len, found.texts if expands else found.summaries)] for chain, found in made.items()}
    pairs = {"real": real, **made}
    return [
        _lengths(lengths),
        _shares("Share of words copied", {name: found.copied for name, found in pairs.items()}),
        _shares("Position of copied words in the text", {name: found.positions for name, found in pairs.items()}),
    ]


def _lengths(values: Values) -> Panel:
    longest = int(max(np.percentile(found, 99.5) for found in values.values() if len(found)))
    width = longest // _BINS + 1
    edges = [float(width * number) for number in range(longest // width + 2)]
    ticks = [tick for tick in make_axis([0.0, edges[-1]]).ticks if tick <= edges[-1]]
    return _histogram("Length in words", values, Axis(0, edges[-1], ticks), edges, "{:.1f} words")


def _shares(title: str, values: Values) -> Panel:
    return _histogram(title, values, Axis(0, 1, (0, 0.5, 1), percent=True), [n / 10 for n in range(11)], "{:.0%}")


def _histogram(title: str, values: Values, x: Axis, edges: Sequence[float], mean: str) -> Panel:
    """Return the histograms of all chains, the real one as an area behind them; the last bin holds all beyond it."""
    series = []
    for name, found in values.items():
        if len(found):
            counts = np.histogram(np.clip(found, edges[0], edges[-1]), edges)[0]
            points = outline_bins(edges, (counts / len(found)).tolist())
            series.append(Series(f"{name}: mean {mean.format(np.mean(found))}", name, points, area=name == "real"))
    shares = [share for one in series for _, share in one.points]
    return Panel(title, series, x, make_axis(shares, percent=True, zero=True))
