"""docs/ says what the source says: generated files are generated again and compared, links and names looked up."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

import nutgraf
from nutgraf import recipe
from nutgraf.run.plan import make_plan
from tools.docs import generate
from tools.docs.figure import draw

ROOT = Path(nutgraf.__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("name", ["reference.md", "plan-paper.svg", "plan-cpu.svg"])
def test_the_generated_files_are_fresh(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == generate()[name], "stale: run `make docs`"


def test_every_recipe_key_is_described_in_the_reference() -> None:
    page = generate()["reference.md"]
    values = asdict(recipe.load("cpu"))
    keys = [f"{section}.{key}" for section, table in values.items() if section != "seed" for key in table]
    assert len(keys) > 90
    for key in ["seed", *keys]:
        assert re.search(rf"^\| `{re.escape(key)}` \|(?: [^|]+ \|){{3}} .*\w+ .*\|$", page, re.MULTILINE), key


def test_signatures_comments_and_docstrings_are_in_the_reference() -> None:
    page = generate()["reference.md"]
    assert "def train(\n    texts: Lines,\n    summaries: Lines,\n" in page
    assert "| `copied` | `bool` | stands in the text |" in page
    assert "| `nutgraf.RunError` | NutgrafError | A run folder that " in page
    assert "```\n>>> summarizer = Summarizer.load" in page


def test_every_public_name_is_in_the_reference() -> None:
    page = generate()["reference.md"]
    for name in nutgraf.__all__:
        assert f"nutgraf.{name}" in page


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("chains", [recipe.PAPER_INITIALIZERS, recipe.INITIALIZERS, ("near",)])
def test_a_figure_has_every_step_and_every_line(warm: bool, chains: tuple[str, ...]) -> None:
    steps = make_plan(recipe.Plan(chains, iterations=4, warm_start=warm))
    svg = Tree.fromstring(draw(steps, "A plan"))
    shown = [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    chained = [step for step in steps if step.chain]
    assert set(shown) >= {step.name for step in chained}
    names = {step.name for step in chained}
    heads = [element for element in svg.iter() if element.get("class") == "head"]
    assert len(heads) == sum(max(1, len(names & set(step.needs))) for step in chained)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text("utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), link
        assert not heading or heading in list_anchors(target), f"{link}#{heading}"


def list_anchors(page: Path) -> set[str]:
    """The names that a page of Markdown gives its headings: lower case, hyphens for blanks, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_and_option_in_the_docs_exists(page: Path) -> None:
    reference = (DOCS / "reference.md").read_text("utf-8")
    for line in re.findall(r"^ {4}(?:\S+=\S+ )?nutgraf .*", page.read_text("utf-8"), re.MULTILINE):
        command = line.split("nutgraf ", 1)[1].split()[0]
        section = reference.split(f"### nutgraf {command}\n", 1)[1].split("\n### ", 1)[0]
        for option in re.findall(r" (--[a-z][a-z0-9-]*)", line):
            assert f"`{option}`" in section, f"nutgraf {command} {option}"


def test_every_recipe_key_in_the_docs_exists() -> None:
    reference = (DOCS / "reference.md").read_text("utf-8")
    for page in PAGES:
        for key in re.findall(r"--set ([a-z_0-9]+\.[a-z_0-9]+)=", page.read_text("utf-8")):
            assert f"`{key}`" in reference, f"{page.name}: {key}"
