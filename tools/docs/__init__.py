"""The generated part of docs/: the reference of commands, recipe keys and public names, and the figures of the plan.

    python -m tools.docs docs/       writes them; so does `make docs`

page        reference.md, from the command line's functions, the recipe's descriptions and the public names' docstrings
figure      a plan as SVG

A test generates them again and compares, so that they cannot go stale. Nothing here trains or loads a model.
"""

from __future__ import annotations

from dataclasses import replace

from nutgraf import recipe
from nutgraf.run.plan import make_plan
from tools.docs.figure import draw
from tools.docs.page import make_page


def generate() -> dict[str, str]:
    """Return every generated file of docs/ by its name."""
    paper, cpu = (recipe.load(name).plan for name in ("paper", "cpu"))
    return {
        "reference.md": make_page(),
        "plan-paper.svg": draw(make_plan(replace(paper, iterations=2)), "The paper's plan, first loop"),
        "plan-cpu.svg": draw(make_plan(cpu), "The plan of the recipe cpu"),
    }
