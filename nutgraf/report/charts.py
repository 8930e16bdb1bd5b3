"""Charts as inline SVG: one kind of panel, with lines, areas and intervals, small enough to stand in a row.

Colours and strokes are the style sheet's, by the class of a series, so that a chart follows light, dark and print.
It knows nothing of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nutgraf.report.markup import Markup, tag

WIDTH, HEIGHT = 320, 190
LEFT, RIGHT, TOP, BOTTOM = 36, 10, 8, 24
_TICKS = 4

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Points in the order of x; the style is a class of the style sheet, the title is shown by a resting pointer."""

    title: str
    style: str
    points: Sequence[Point]
    spans: Sequence[tuple[float, float, float]] = ()  # x, low, high
    area: bool = False
    dots: bool = False

    @property
    def seen(self) -> list[Point]:
        """The points that can be drawn."""
        return [point for point in self.points if all(map(math.isfinite, point))]


@dataclass(frozen=True)
class Axis:
    """What a direction shows: from where to where, and the ticks."""

    low: float
    high: float
    ticks: Sequence[float]
    percent: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """Write a tick."""
        return f"{tick:.0%}" if self.percent else f"{tick / 1000:g}K" if abs(tick) >= 10_000 else f"{tick:g}"


def axis(values: Sequence[float], percent: bool = False, zero: bool = False) -> Axis:
    """Return an axis for the values with round ticks; `zero`: it starts at zero."""
    seen = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = (0.0 if zero else min(seen)), max(seen)
    if low == high:
        low, high = (low, low + 1) if zero else (low - 0.5, low + 0.5)
    step = _round((high - low) / _TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * number, 10) for number in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], ticks, percent)


def _round(step: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 ... that is no smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= step * (1 - 1e-9))


def stairs(edges: Sequence[float], shares: Sequence[float]) -> list[Point]:
    """Return the outline of a histogram."""
    outline = [(edges[0], 0.0)]
    for left, right, share in zip(edges, edges[1:], shares, strict=False):
        outline += [(left, share), (right, share)]
    return [*outline, (edges[-1], 0.0)]


def panel(title: str, series: Sequence[Series], x: Axis, y: Axis, note: str = "") -> Markup:
    """Return one chart under its title; the note stands at the title's right."""

    def at(point: Point) -> Point:
        across, up = LEFT + x.share(point[0]) * (WIDTH - LEFT - RIGHT), y.share(point[1]) * (HEIGHT - TOP - BOTTOM)
        return round(across, 1), round(HEIGHT - BOTTOM - up, 1)

    parts = []
    for tick in y.ticks:
        level = at((x.low, tick))[1]
        parts.append(tag("line.grid", at={"x1": LEFT, "x2": WIDTH - RIGHT, "y1": level, "y2": level}))
        parts.append(tag("text.y", y.label(tick), at={"x": LEFT - 6, "y": round(level + 3.5, 1)}))
    for tick in x.ticks:
        parts.append(tag("text.x", x.label(tick), at={"x": at((tick, y.low))[0], "y": HEIGHT - 7}))
    for one in series:
        parts += _drawn(one, [at(point) for point in one.seen], [(at((a, b)), at((a, c))) for a, b, c in one.spans])
    said = f"{title}: {', '.join(one.title for one in series)}"
    drawing = tag("svg", *parts, at={"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "aria-label": said})
    return tag("figure", tag("figcaption", tag("b", title), tag("span", note)), drawing)


def _drawn(series: Series, places: Sequence[Point], spans: Sequence[tuple[Point, Point]]) -> list[Markup]:
    path = "M" + "L".join(f"{across} {down}" for across, down in places) if places else ""
    kind = "area" if series.area else "line"
    drawn = [tag(f"path.{kind}.{series.style}", tag("title", series.title), at={"d": path})] if path else []
    for (across, low), (_, high) in spans:
        drawn.append(tag(f"path.span.{series.style}", at={"d": f"M{across} {low}V{high}"}))
    for across, down in places if series.dots else ():
        drawn.append(tag(f"circle.{series.style}", tag("title", series.title), at={"cx": across, "cy": down, "r": 3}))
    return drawn


def bar(share: float, style: str = "") -> Markup:
    """Return a horizontal bar that fills a share of the room that it is given."""
    width = round(100 * min(max(share, 0.0), 1.0), 2)
    rectangle = tag(f"rect.{style}" if style else "rect", at={"width": width, "height": 10})
    return tag("svg.bar", rectangle, at={"viewBox": "0 0 100 10", "preserveAspectRatio": "none", "aria-hidden": "true"})
