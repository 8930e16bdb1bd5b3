"""Charts: axes with round ticks, and where each point of a small panel is; the macro `panel` draws them as SVG.

Colours and strokes are the style sheet's, by the class of a series, so that a chart follows light, dark and print.
Nothing here knows about runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 320, 190
LEFT, RIGHT, TOP, BOTTOM = 36, 10, 8, 24
_TICKS = 4

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Points in the order of x; the style is a class of the style sheet, the title is shown on hovering."""

    title: str
    style: str
    points: Sequence[Point]
    spans: Sequence[tuple[float, float, float]] = ()  # x, low, high
    area: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Axis:
    """The range of a direction, and its ticks."""

    low: float
    high: float
    ticks: Sequence[float]
    percent: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """Return a tick as text."""
        return f"{tick:.0%}" if self.percent else f"{tick / 1000:g}K" if abs(tick) >= 10_000 else f"{tick:g}"


@dataclass(frozen=True)
class Panel:
    """One chart; the note is at the right of its title."""

    title: str
    series: Sequence[Series]
    x: Axis
    y: Axis
    note: str = ""
    size: tuple[int, int] = (WIDTH, HEIGHT)

    def across(self, x: float) -> float:
        """Return where a value of x is, from the left."""
        return round(LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT), 1)

    def down(self, y: float) -> float:
        """Return where a value of y is, from the top."""
        return round(HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM), 1)

    def places(self, series: Series) -> list[Point]:
        """Return where the points of a series are, without those that are not numbers."""
        return [(self.across(x), self.down(y)) for x, y in series.points if math.isfinite(x) and math.isfinite(y)]

    def path(self, series: Series) -> str:
        """Return the line through the points of a series; empty where there are none."""
        places = self.places(series)
        return "M" + "L".join(f"{across} {down}" for across, down in places) if places else ""


@dataclass(frozen=True)
class Charts:
    """Rows of panels under one legend."""

    legend: Sequence[tuple[str, str]]  # style and label
    rows: Sequence[tuple[str, Sequence[Panel]]]  # each with its heading, or none
    small: bool = False
    note: str = ""


def make_axis(values: Sequence[float], percent: bool = False, zero: bool = False) -> Axis:
    """Return an axis for the values with round ticks; `zero`: it starts at zero."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = (0.0 if zero else min(finite)), max(finite)
    if low == high:
        low, high = (low, low + 1) if zero else (low - 0.5, low + 0.5)
    least = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * number, 10) for number in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], ticks, percent)


def outline_bins(edges: Sequence[float], shares: Sequence[float]) -> list[Point]:
    """Return the outline of a histogram."""
    tops = [(x, share) for left, right, share in zip(edges, edges[1:], shares, strict=False) for x in (left, right)]
    return [(edges[0], 0.0), *tops, (edges[-1], 0.0)]
