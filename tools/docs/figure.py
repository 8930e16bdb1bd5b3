"""A plan as a figure: one column a chain, time downwards, boxes for steps, lines for what each is made from.

Solid lines are the pairs that a model is trained on, dashed ones the weights that it goes on from. Preparation (text,
casing, embeddings), which everything needs, is one bar on top. Text is text; colours follow light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as Tree

from nutgraf.recipe import INITIALIZERS
from nutgraf.run.plan import ALL, Kind, Step

COLUMNS = (*INITIALIZERS, ALL)
WIDTH, HEIGHT = 200, 46  # of a box
ACROSS, DOWN = 224, 92  # from box to box
MARGIN = 24
_SAID = {
    Kind.INITIALIZER: "initializer: text → summary",
    Kind.EXPANDER: "expander: summary → text",
    Kind.SUMMARIZER: "summarizer: text → summary",
}
_MADE = ("summaries of real texts", "texts of real summaries")  # artificial pairs, of even and of odd iterations
_STYLE = """
svg { --ink: #16181d; --muted: #626873; --paper: #ffffff; --line: #9aa0aa; --soft: #f1f2f4;
  --pr-thr: #c2571a; --dbae: #0b8a6a; --mu1: #2f62d9; --all: #16181d; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #eceef1; --muted: #a3aab6; --paper: #131519; --line: #7c838f; --soft: #22262c;
    --pr-thr: #f0935a; --dbae: #3ecfa4; --mu1: #7fa6ff; --all: #f5f6f8; }
}
text { font: 12px system-ui, "Liberation Sans", Arial, sans-serif; fill: var(--muted); text-anchor: middle; }
text.name { font-size: 14px; font-weight: 600; fill: var(--ink); }
text.left { text-anchor: start; }
.paper { fill: var(--paper); }
.box { fill: var(--paper); stroke-width: 1.5; }
.pairs { fill: var(--soft); stroke-width: 0; }
.pr-thr { stroke: var(--pr-thr); } .dbae { stroke: var(--dbae); }
.mu1 { stroke: var(--mu1); } .all { stroke: var(--all); }
.line { fill: none; stroke: var(--line); stroke-width: 1.5; }
.start { stroke-dasharray: 5 4; }
.head { fill: var(--line); }
"""


def drawn(steps: Sequence[Step], title: str) -> str:
    """Return the figure of a plan as SVG."""
    chained = [step for step in steps if step.chain in COLUMNS and not step.aligned_limit]
    before = [step.name for step in steps if not step.chain]
    columns = [chain for chain in COLUMNS if any(step.chain == chain for step in chained)]
    rows = _rows(chained)
    places = {
        step.name: (MARGIN + columns.index(step.chain) * ACROSS, MARGIN + rows[step.name] * DOWN) for step in chained
    }
    width = 2 * MARGIN + (len(columns) - 1) * ACROSS + WIDTH
    height = 2 * MARGIN + (max(rows.values()) + 1) * DOWN
    svg = Tree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}"})
    svg.set("role", "img")
    Tree.SubElement(svg, "title").text = title
    Tree.SubElement(svg, "style").text = _STYLE
    _add(svg, "rect.paper", width=width, height=height)
    _add(svg, "rect.pairs", x=MARGIN, y=MARGIN, width=width - 2 * MARGIN, height=HEIGHT, rx=6)
    _write(svg, width // 2, MARGIN + 19, ", ".join(before), "name")
    _write(svg, width // 2, MARGIN + 36, "from two files that share no pair: full texts and summaries")
    for step in chained:
        _add_lines(svg, step, places)
    for step in chained:
        _add_box(svg, step, *places[step.name])
    _add_legend(svg, height - MARGIN, any(step.start for step in chained))
    Tree.indent(svg)
    return Tree.tostring(svg, encoding="unicode") + "\n"


def _rows(steps: Sequence[Step]) -> dict[str, int]:
    """Return the row of each step: one below the last of what it needs; preparation is row 0."""
    rows: dict[str, int] = {}
    for step in steps:
        rows[step.name] = 1 + max((rows[name] for name in step.needs if name in rows), default=0)
    return rows


def _add_lines(svg: Tree.Element, step: Step, places: Mapping[str, tuple[int, int]]) -> None:
    across, down = places[step.name]
    sources = [name for name in step.needs if name in places]
    if not sources:
        _add_line(svg, (across + WIDTH // 2, MARGIN + HEIGHT), (across + WIDTH // 2, down), down - 24, "line")
    for name in sources:
        x, y = places[name]
        dashed = name == step.start
        bend = y + HEIGHT + (DOWN - HEIGHT) * (2 if dashed else 1) // 4
        shift = WIDTH // 2 + (36 if dashed else 0)
        kind = "line.start" if dashed else "line"
        if x == across and dashed:  # what lies between the two is gone round
            _add_detour(svg, (x + WIDTH, y + HEIGHT // 2), down + HEIGHT // 2)
        else:
            _add_line(svg, (x + shift, y + HEIGHT), (across + shift, down), bend, kind)


def _add_line(svg: Tree.Element, start: tuple[int, int], end: tuple[int, int], bend: int, kind: str) -> None:
    """Go down to the bend, across, and down to the end."""
    path = f"M{start[0]} {start[1]}V{bend}H{end[0]}V{end[1] - 5}"
    _add(svg, f"path.{kind}", d=path)
    _add(svg, "path.head", d=f"M{end[0] - 4} {end[1] - 8}h8l-4 8z")


def _add_detour(svg: Tree.Element, start: tuple[int, int], down: int) -> None:
    right = start[0] + (ACROSS - WIDTH) // 2
    _add(svg, "path.line.start", d=f"M{start[0]} {start[1]}H{right}V{down}H{start[0] + 5}")
    _add(svg, "path.head", d=f"M{start[0] + 8} {down - 4}v8l-8 -4z")


def _add_box(svg: Tree.Element, step: Step, x: int, y: int) -> None:
    shape = "pairs" if step.kind is Kind.PAIRS else f"box.{step.chain}"
    _add(svg, f"rect.{shape}", x=x, y=y, width=WIDTH, height=HEIGHT, rx=6)
    _write(svg, x + WIDTH // 2, y + 19, step.name, "name")
    _write(svg, x + WIDTH // 2, y + 36, _SAID.get(step.kind) or _MADE[step.iteration % 2])


def _add_legend(svg: Tree.Element, y: int, warm: bool) -> None:
    _add(svg, "path.line", d=f"M{MARGIN} {y - 4}h32")
    _write(svg, MARGIN + 40, y, "is applied, or is trained on", "left")
    if warm:
        _add(svg, "path.line.start", d=f"M{MARGIN + 228} {y - 4}h32")
        _write(svg, MARGIN + 268, y, "goes on from these weights", "left")


def _write(svg: Tree.Element, x: int, y: int, content: str, style: str = "") -> None:
    element = _add(svg, f"text.{style}" if style else "text", x=x, y=y)
    element.text = content


def _add(svg: Tree.Element, selector: str, **at: object) -> Tree.Element:
    """Add an element: `path.line.start` is a path of the classes line and start."""
    name, *classes = selector.split(".")
    given = {"class": " ".join(classes)} if classes else {}
    return Tree.SubElement(svg, name, given | {key: str(value) for key, value in at.items()})
