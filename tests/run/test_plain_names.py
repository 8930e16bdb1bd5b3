"""The names for people: one for every model, and no two models of a run share one."""

import pytest

from nutgraf.recipe import BASELINES, INITIALIZERS
from nutgraf.run.plain_names import BEST, COMPARISON, OTHERS, TOGETHER, present

NAMES = [
    *(f"{chain}-{iteration}" for chain in (*INITIALIZERS, *BASELINES) for iteration in (0, 2, 4)),
    *(
        "mixed-2",
        "mixed-4",
        "all-2a",
        "all-2b",
        "all-2",
        "all-4a",
        "all-4",
        "agreed-2",
        "agreed-4",
        "all-2+500",
        "all-2+10000",
        "seq2seq",
        "mass-0+500",
        "mass-0+all",
        "fsc-0+500",
        "adversarial-0+500",
        "adversarial-0+all",
    ),
]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("mu1-0", "Cuts only"),
        ("near-0", "Found"),
        ("mu1-2", "Learned from cuts"),
        ("mu1-4", "Learned from cuts, loop 2"),
        ("all-2", "Learned from all chains"),
        ("all-2b", "Teacher B"),
        ("agreed-2", "Agreed on by two"),
        ("all-2+10000", "Tuned on 10,000 real pairs"),
        ("seq2seq", "Taught by real pairs"),
        ("hc-0", "Searches for words"),
        ("hc-2", "Learned from hc's"),
        ("mass-0+10000", "Fills gaps first, 10,000 real pairs"),
        ("adversarial-0+all", "Fools a critic, all real pairs"),
        ("mine", "mine"),
    ],
)
def test_titles(name: str, title: str) -> None:
    assert present(name).title == title
    assert present(name, name).title == (title if name == "mine" else BEST)


def test_no_two_models_share_a_title_and_each_is_described() -> None:
    titles = [present(name, "all-2").title for name in NAMES]
    assert len(set(titles)) == len(NAMES)
    assert titles.count(BEST) == 1
    assert all(present(name).description for name in NAMES)


def test_families_and_loops() -> None:
    assert (present("mu1-0").family, present("mu1-0").loop) == ("Cutting", 0)
    assert (present("mu1-4").family, present("mu1-4").loop) == ("Cutting", 2)
    assert {present(name).family for name in ("hc-0", "hc-2")} == {OTHERS}
    assert {present(name).family for name in ("mixed-2", "all-2a", "all-2", "agreed-2")} == {TOGETHER}
    assert {present(name).family for name in ("seq2seq", "all-2+500")} == {COMPARISON}


def test_descriptions() -> None:
    assert present("near-0").description == "finds the nearest real summary"
    assert present("mu1-4").description.endswith("by a model that had seen cuts")
    assert present("all-4+10000").description.endswith(", then from 10,000 texts with their real summaries")
    assert present("all-2a").description == "one of the models that all-2 learned from"
