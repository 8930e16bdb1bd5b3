from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from rich.console import Console

from nutgraf.demo.newswire import newswire
from nutgraf.errors import InputError
from nutgraf.evaluation.scores import bootstrap, compare, copied_share, repeated_share, score
from nutgraf.evaluation.tables import NARROW, WIDTH, ComparisonTable, tables
from nutgraf.run.evaluations import Row

STORIES = newswire(200, seed=11)
SOURCES = [lead for lead, _ in STORIES]
REFERENCES = [headline for _, headline in STORIES]


def _lead(words: int) -> list[str]:
    return [" ".join(lead.split()[:words]) for lead in SOURCES]


def _row(name: str, words: int = 8, aligned: int = 0) -> Row:
    return score(name, _lead(words), SOURCES, REFERENCES, seed=1, aligned=aligned)


def test_copied_share_by_hand() -> None:
    # "b" twice of three words; then none of one.
    assert copied_share([["b", "b", "x"], ["y"]], [["a", "b"], ["a"]]) == 2 / 4
    assert copied_share([[]], [["a"]]) == 0


def test_repeated_share_by_hand() -> None:
    # ab bc ca ab bc: two of five seen before; the other output has none of two.
    assert repeated_share([list("abcabc"), list("abd")]) == 2 / 7
    assert repeated_share([["a"], []]) == 0


def test_row_by_hand() -> None:
    row = score(
        "mu1-0",
        ["the Bank cut rates", "bank cut bank cut"],
        ["the bank has cut its rates", "banks"],
        ["bank cuts its rates again", "x"],
        seed=1,
    )
    assert row.r1.mean == pytest.approx(100 / 3)  # 2/3 and 0
    assert row.r2.mean == pytest.approx(100 / 7)
    assert row.rl.mean == pytest.approx(100 / 3)
    assert (row.words, row.pairs, row.aligned) == (4, 2, 0)
    assert row.copied == 4 / 8
    assert row.repeated == 1 / 6
    assert row.signature.startswith("rouge-score ")


def test_intervals_hold_the_mean_and_repeat_with_the_seed() -> None:
    row = _row("Lead-8")
    for estimate in (row.r1, row.r2, row.rl):
        assert estimate.low < estimate.mean < estimate.high
    assert _row("Lead-8") == row
    other = score("Lead-8", _lead(8), SOURCES, REFERENCES, seed=2)
    assert other.r1.mean == row.r1.mean
    assert other.r1.low != row.r1.low


def test_bootstrap_interval_is_that_of_a_normal_mean() -> None:
    scores = np.random.default_rng(0).normal(50, 10, size=(2500, 1))
    (estimate,) = bootstrap(scores, seed=3)
    half = 1.96 * scores.std() / 50
    assert estimate.mean == scores.mean()
    assert estimate.low == pytest.approx(scores.mean() - half, abs=0.06)
    assert estimate.high == pytest.approx(scores.mean() + half, abs=0.06)


def test_no_pairs_is_an_error_that_says_what_to_give() -> None:
    with pytest.raises(InputError, match="all-2: no pairs to evaluate on"):
        score("all-2", [], [], [], seed=1)
    with pytest.raises(InputError, match="no pairs to compare"):
        compare([], [], [], seed=1)


def test_compare_tells_better_from_worse_and_equal() -> None:
    better = compare(REFERENCES, _lead(8), REFERENCES, seed=1)
    assert better.r1.by.low > 0
    assert better.r1.p == 1 / 1001
    worse = compare(_lead(8), REFERENCES, REFERENCES, seed=1)
    assert worse.rl.p == 1
    assert worse.rl.by.mean == -better.rl.by.mean
    same = compare(_lead(8), _lead(8), REFERENCES, seed=1)
    assert (same.r2.by.mean, same.r2.p) == (0, 1)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [
        _row("seq2seq", 20, aligned=85_506),
        _row("Lead-8"),
        _row("pr-thr-0", 6),
        _row("mu1-0", 10),
        _row("mu1-2", 9),
        replace(_row("all-2", 12), bits=1.234, unsupported=1.0, contradicted=0.125),
        _row("all-2 + 10K", 14, aligned=10_000),
    ]


def test_rows_go_to_the_tables_of_the_paper(rows: list[Row]) -> None:
    initial, full = tables(rows)
    assert [[row.name for row in group] for group in initial.groups] == [["Lead-8"], ["pr-thr-0", "mu1-0"]]
    assert [[row.name for row in group] for group in full.groups] == [["mu1-2", "all-2"], ["all-2 + 10K", "seq2seq"]]
    assert "Sup." in full.columns
    assert "Sup." not in initial.columns
    assert tables([]) == []
    assert [table.title[:7] for table in tables(rows[:1])] == ["Table 3"]


def test_near_is_an_initializer_and_mixed_a_full_system(rows: list[Row]) -> None:
    initial, full = tables(
        [replace(rows[0], name=name, aligned=0) for name in ("near-0", "near-2", "mixed-2", "all-2")]
    )
    assert [row.name for row in initial.rows] == ["near-0"]
    assert [row.name for row in full.rows] == ["near-2", "mixed-2", "all-2"]


def test_other_systems_are_beside_lead_and_what_they_start_is_a_full_system(rows: list[Row]) -> None:
    names = ("Lead-8", "hc-0", "mu1-0", "hc-2", "all-2")
    initial, full = tables([replace(rows[0], name=name, aligned=0) for name in names])
    assert [[row.name for row in group] for group in initial.groups] == [["Lead-8", "hc-0"], ["mu1-0"]]
    assert [row.name for row in full.rows] == ["hc-2", "all-2"]


def test_adversarial_and_translation_are_full_systems_after_the_papers_own(rows: list[Row]) -> None:
    named = {"adversarial-0": 0, "pre-dae-0": 0, "mu1-0": 0, "all-2": 0, "mass-0+all": 900, "fsc-0+10": 10}
    initial, full = tables([replace(rows[0], name=name, aligned=pairs) for name, pairs in named.items()])
    assert [[row.name for row in group] for group in initial.groups] == [["pre-dae-0"], ["mu1-0"]]
    assert [[row.name for row in group] for group in full.groups] == [
        ["all-2", "adversarial-0"],
        ["fsc-0+10", "mass-0+all"],
    ]


def test_best_unsupervised_score_alone_is_bold(rows: list[Row]) -> None:
    low, high = replace(rows[4].r1, mean=30.004), replace(rows[4].r1, mean=40.0)
    all_2 = replace(rows[5], r1=low, r2=low, rl=low)
    mu1_2 = replace(rows[4], r1=replace(low, mean=20.0), r2=high, rl=low)
    supervised = replace(rows[0], r1=replace(low, mean=99.0))
    (table,) = tables([mu1_2, all_2, supervised])
    lines = {line.split("|")[1].strip(): line for line in table.markdown().splitlines() if line.count("|") > 3}
    assert "| 0 | 20.00 (" in lines["mu1-2"]
    assert "| **40.00** (" in lines["mu1-2"]
    assert "| **30.00** (" in lines["all-2"]
    assert lines["all-2"].count("**") == 4  # R-1, and R-L, where both are best
    assert "**" not in lines["seq2seq"]
    assert "| 85.5K |" in lines["seq2seq"]


def test_a_table_says_what_its_scores_are_of(rows: list[Row]) -> None:
    for table in tables(rows):
        markdown = table.markdown()
        assert rows[0].signature in markdown
        assert "200 pairs" in markdown
        assert "words" in markdown
        assert {line.count("|") for line in markdown.splitlines() if "|" in line} == {len(table.columns) + 1}


@pytest.mark.parametrize("width", [NARROW, WIDTH, 140])
def test_rich_table_cuts_nothing_off(rows: list[Row], width: int) -> None:
    for table in tables(rows):
        out = io.StringIO()
        Console(file=out, width=width).print(table.rich(width))
        shown = out.getvalue()
        assert max(map(len, shown.split("\n"))) <= width
        assert "…" not in shown
        assert "[bold]" not in shown
        assert {"bits", "unsup.", "contr."} <= set(shown.split("\n")[1].split())
        assert ("rep." in shown) == (width >= WIDTH)
        for row in table.rows:
            assert row.name in shown
            assert f"{row.r1.mean:.2f}" in shown
            assert (f"({row.r1.low:.1f}–{row.r1.high:.1f})" in shown) == (width >= WIDTH)
        assert ("In brackets" in shown) == (width >= WIDTH)


def test_what_was_not_measured_is_a_dash(rows: list[Row]) -> None:
    table = tables(rows)[1]
    cells = {row.name: table.cells(row, str) for row in table.rows}
    assert cells["all-2"][-3:] == ["1.23", "100.0%", "12.5%"]
    assert cells["mu1-2"][-3:] == ["–", "–", "–"]


def test_a_comparison_shows_differences_intervals_and_p() -> None:
    table = ComparisonTable(("all-2", "Lead-8"), compare(REFERENCES, _lead(8), REFERENCES, seed=1))
    assert table.title == "all-2 against Lead-8"
    by = table.comparison.rl.by
    assert table.lines[-1] == ["R-L", f"+{by.mean:.2f}", f"+{by.low:.2f} to +{by.high:.2f}", "0.001"]
    out = io.StringIO()
    Console(file=out, width=WIDTH).print(table.rich())
    for shown in (out.getvalue(), table.markdown()):
        assert all(cell in shown for line in table.lines for cell in line)
        assert "200 pairs" in shown


def test_tables_are_json(rows: list[Row]) -> None:
    read = json.loads(json.dumps([asdict(table) for table in tables(rows)]))
    assert read[0]["groups"][0][0]["name"] == "Lead-8"
    assert read[0]["groups"][0][0]["r1"]["mean"] == rows[1].r1.mean


def test_rows_scored_on_different_pairs_are_refused(rows: list[Row]) -> None:
    with pytest.raises(ValueError, match="same pairs"):
        tables([rows[0], replace(rows[1], pairs=7)])
