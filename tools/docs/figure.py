"""A plan as a figure: one column a chain, time downwards, boxes for steps, lines for what each is made from.

Solid lines are the pairs that a model is trained on, dashed ones the weights that it starts from. Preparation (text,
casing, embeddings), which everything needs, is one bar on top. Colours follow light and dark mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from nutgraf.run.names import CHAINS
from nutgraf.run.plan import Kind, Step

WIDTH, HEIGHT = 200, 46  # of a box
ACROSS, DOWN = 224, 92  # from box to box
MARGIN = 24
_MODELS = {
    Kind.INITIALIZER: "initializer: text → summary",
    Kind.EXPANDER: "expander: summary → text",
    Kind.SUMMARIZER: "summarizer: text → summary",
    Kind.AGREED: "agreement: text → summary",
}
_PAIRS = {False: "summaries of real texts", True: "texts of real summaries"}  # by whether the model expands
_FOUND = "real texts and real summaries"

Place = tuple[int, int]

_STYLE = """
svg { --ink: #16181d; --muted: #626873; --paper: #ffffff; --line: #9aa0aa; --soft: #f1f2f4;
  --pr-thr: #c2571a; --dbae: #0b8a6a; --mu1: #2f62d9; --near: #c2256f; --mixed: #877200; --all: #16181d;
  --agreed: #0e7c9b; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #eceef1; --muted: #a3aab6; --paper: #131519; --line: #7c838f; --soft: #22262c;
    --pr-thr: #f0935a; --dbae: #3ecfa4; --mu1: #7fa6ff; --near: #ff85b8; --mixed: #d3bb4c; --all: #f5f6f8;
    --agreed: #56c7e8; }
}
text { font: 12px system-ui, "Liberation Sans", Arial, sans-serif; fill: var(--muted); text-anchor: middle; }
text.name { font-size: 14px; font-weight: 600; fill: var(--ink); }
text.left { text-anchor: start; }
.paper { fill: var(--paper); }
.box { fill: var(--paper); stroke: var(--line); stroke-width: 1.5; }
.pairs { fill: var(--soft); stroke-width: 0; }
.pr-thr { stroke: var(--pr-thr); } .dbae { stroke: var(--dbae); }
.mu1 { stroke: var(--mu1); } .near { stroke: var(--near); }
.mixed { stroke: var(--mixed); } .all { stroke: var(--all); } .agreed { stroke: var(--agreed); }
.line { fill: none; stroke: var(--line); stroke-width: 1.5; }
.start { stroke-dasharray: 5 4; }
.head { fill: var(--line); }
"""


def draw(steps: Sequence[Step], title: str) -> str:
    """Return the figure of a plan as SVG."""
    chained = [step for step in steps if step.chain in CHAINS and not step.aligned_limit]
    before = [step.name for step in steps if not step.chain]
    columns = [chain for chain in CHAINS if any(step.chain == chain for step in chained)]
    rows = _rows(chained)
    places = {
        step.name: (MARGIN + columns.index(step.chain) * ACROSS, MARGIN + rows[step.name] * DOWN) for step in chained
    }
    width = 2 * MARGIN + (len(columns) - 1) * ACROSS + WIDTH
    height = 2 * MARGIN + (max(rows.values()) + 1) * DOWN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        _rect("paper", 0, 0, width, height),
        _rect("pairs", MARGIN, MARGIN, width - 2 * MARGIN, HEIGHT),
        _text(width // 2, MARGIN + 19, ", ".join(before), "name"),
        _text(width // 2, MARGIN + 36, "from two files that were never paired: full texts and summaries"),
        *(line for step in chained for line in _lines(step, places)),
        *(part for step in chained for part in _box(step, *places[step.name])),
        *_legend(height - MARGIN, any(step.start for step in chained)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _rows(steps: Sequence[Step]) -> dict[str, int]:
    """Return the row of each step: one below the last of what it needs; preparation is row 0."""
    rows: dict[str, int] = {}
    for step in steps:
        rows[step.name] = 1 + max((rows[name] for name in step.needs if name in rows), default=0)
    return rows


def _lines(step: Step, places: Mapping[str, Place]) -> list[str]:
    across, down = places[step.name]
    sources = [name for name in step.needs if name in places]
    if not sources:
        x = across + WIDTH // 2
        return _arrow("line", (x, MARGIN + HEIGHT), (x, down), down - 24)
    lines = []
    for name in sources:
        x, y = places[name]
        start = name == step.start
        between = any(column == across and y < row < down for column, row in places.values())
        if x == across and (start or between):
            style = "line start" if start else "line"
            lines += _detour(style, (x + WIDTH, y + HEIGHT // 2), down + HEIGHT // 2)
        elif between and not start:
            lines += _sideways((x + WIDTH, y + HEIGHT // 2), (across + WIDTH // 2, down))
        else:
            bend = y + HEIGHT + (DOWN - HEIGHT) * (2 if start else 1) // 4
            shift = WIDTH // 2 + (36 if start else 0)
            lines += _arrow("line start" if start else "line", (x + shift, y + HEIGHT), (across + shift, down), bend)
    return lines


def _arrow(style: str, start: Place, end: Place, bend: int) -> list[str]:
    """Go down to the bend, across, and down to the end."""
    line = _path(style, f"M{start[0]} {start[1]}V{bend}H{end[0]}V{end[1] - 5}")
    return [line, _path("head", f"M{end[0] - 4} {end[1] - 8}h8l-4 8z")]


def _detour(style: str, start: Place, down: int) -> list[str]:
    """Go around what lies between two boxes of a column."""
    right = start[0] + (ACROSS - WIDTH) // 2
    line = _path(style, f"M{start[0]} {start[1]}H{right}V{down}H{start[0] + 5}")
    return [line, _path("head", f"M{start[0] + 8} {down - 4}v8l-8 -4z")]


def _sideways(start: Place, end: Place) -> list[str]:
    """Go down beside a column, and across just above the end."""
    right, bend = start[0] + (ACROSS - WIDTH) // 2, end[1] - (DOWN - HEIGHT) // 4
    line = _path("line", f"M{start[0]} {start[1]}H{right}V{bend}H{end[0]}V{end[1] - 5}")
    return [line, _path("head", f"M{end[0] - 4} {end[1] - 8}h8l-4 8z")]


def _box(step: Step, x: int, y: int) -> list[str]:
    return [
        _rect("pairs" if step.kind is Kind.PAIRS else f"box {step.chain}", x, y, WIDTH, HEIGHT),
        _text(x + WIDTH // 2, y + 19, step.name, "name"),
        _text(x + WIDTH // 2, y + 36, _describe(step)),
    ]


def _describe(step: Step) -> str:
    if step.kind is Kind.PAIRS:
        return _FOUND if step.model and step.model.finds else _PAIRS[step.expands]
    return _MODELS[step.kind]


def _legend(y: int, warm: bool) -> list[str]:
    parts = [_path("line", f"M{MARGIN} {y - 4}h32"), _text(MARGIN + 40, y, "is applied, or is trained on", "left")]
    if warm:
        parts.append(_path("line start", f"M{MARGIN + 228} {y - 4}h32"))
        parts.append(_text(MARGIN + 268, y, "starts from these weights", "left"))
    return parts


def _rect(style: str, x: int, y: int, width: int, height: int) -> str:
    return f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'


def _path(style: str, d: str) -> str:
    return f'<path class="{style}" d="{d}"/>'


def _text(x: int, y: int, content: str, style: str = "note") -> str:
    return f'<text class="{style}" x="{x}" y="{y}">{escape(content)}</text>'
