"""The generated part of docs/: the reference of commands, recipe keys and public names, and the figures of the plan.

    python -m tools.docs docs/       writes them; so does `make docs`

source      what a module's source says: the fields of a dataclass with their comments, signatures, docstrings
page        reference.md, from the command line's functions, the recipe's dataclasses and the public names' source
figure      a plan as SVG

A test makes them anew and compares, so that they cannot go stale. Nothing here trains or loads a model.
"""

from __future__ import annotations

from dataclasses import replace

from nutgraf import recipe
from nutgraf.run.plan import make_plan
from tools.docs.figure import drawn
from tools.docs.page import page


def generated() -> dict[str, str]:
    """Return every generated file of docs/ by its name."""
    paper, cpu = (recipe.load(name).plan for name in ("paper", "cpu"))
    return {
        "reference.md": page(),
        "plan-paper.svg": drawn(make_plan(replace(paper, iterations=2)), "The paper's plan, first loop"),
        "plan-cpu.svg": drawn(make_plan(cpu), "The plan of the recipe cpu"),
    }
