import json
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
import torch
from rich.console import Console

from nutgraf import cli
from nutgraf.bench import startup
from nutgraf.bench.contests import contests
from nutgraf.bench.material import quick
from nutgraf.bench.measure import Figures, outside_products
from nutgraf.bench.results import Report, ratios, tables

CASES = ("shipped, copy", "shipped, plain", "reference, copy", "reference, plain")


def figures(case: str, against: str, seconds: list[float]) -> Figures:
    """10 sentences and 1e9 operations a call, on a machine that is as fast as fairseq's, then half as fast."""
    limit = [137e9, 137e9, 68.5e9]
    return Figures("sampling 32->10", case, against, 1.0, {"sentences": 1.0}, 1e9, 10, 1e9, seconds, limit)


def test_ratios_are_taken_round_by_round() -> None:
    found = ratios([figures("shipped", "plain", [1.0, 2.0, 4.0]), figures("plain", "", [3.0, 4.0, 20.0])])
    against, fairseq, limit, other = found
    assert (against.ours, against.theirs) == ("shipped", "plain")
    assert (against.median, against.least, against.greatest) == (3, 2, 5)
    # 10, 5 and 2.5 sentences a second; fairseq makes 320, and would make 160 in the last round.
    assert fairseq.theirs == "fairseq, scaled"
    assert fairseq.median == pytest.approx(5 / 320)
    assert [fairseq.least, fairseq.greatest] == pytest.approx([2.5 / 160, 10 / 320])
    assert limit.theirs == "limit"
    assert [limit.median, limit.greatest] == pytest.approx([0.5 / 137, 1 / 137])
    assert (other.ours, other.theirs) == ("plain", "limit")


def test_beside_neighbours_a_fair_share_of_the_speed_is_all_there_is() -> None:
    half = replace(figures("busy", "idle", [2.0, 2.0, 4.0]), share=0.5)
    against = ratios([half, figures("idle", "", [1.0, 1.0, 1.0])])[0]
    assert (against.theirs, against.median, against.least) == ("50% of idle", 1.0, 0.5)


def test_ratios_are_of_rates_where_the_amounts_differ() -> None:
    ours = figures("shipped", "plain", [1.0, 2.0, 4.0])
    theirs = replace(figures("plain", "", [1.0, 2.0, 4.0]), amount=2.0)
    assert ratios([ours, theirs])[0].median == 5


def test_the_tables_have_every_ratio_and_figure() -> None:
    shown = [figures("shipped", "plain", [1.0, 2.0, 4.0]), figures("plain", "", [3.0, 4.0, 20.0])]
    report = Report({"processor": "some", "torch": "2"}, 2, False, 137e9, ratios(shown), shown)
    console = Console(width=200, record=True, file=StringIO())
    for table in tables(report):
        console.print(table)
    text = console.export_text()
    assert "137 GFLOP/s" in text
    assert "2.00 to 5.00" in text
    assert "-50% +100%" in text


def test_what_is_outside_of_products() -> None:
    left = torch.randn(300, 300)
    assert 0 < outside_products(lambda: left.mm(left)) < 1
    assert outside_products(lambda: left.add(left)) == 1


def test_a_smoke_run_gives_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "_run", cache(startup._run))  # each process is started once, not in every round
    with pytest.raises(SystemExit) as stopped:
        cli.main(["bench", "--quick", "--json", "--threads", "1", "--out", str(tmp_path / "bench.json")])
    assert stopped.value.code == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert json.loads((tmp_path / "bench.json").read_text()) == report
    assert {"processor", "system", "torch", "date"} == set(report["machine"])
    assert (report["threads"], report["quick"], report["limit"] > 0) == (1, True, True)
    measured = {(f["contest"], f["case"]) for f in report["figures"]}
    assert measured == {(name, case.name) for name, cases in contests(quick()).items() for case in cases}
    for name in ("training", "sampling", "beam"):
        for way in ("6->3", "3->6"):
            assert f"{name} {way}: 4 cases" in told.err
            assert measured >= {(f"{name} {way}", case) for case in CASES}
    for f in report["figures"]:
        assert len(f["seconds"]) == len(f["limit"]) == 2
        assert all(rate > 0 for rate in f["per_second"].values())
        assert (f["outside"] is not None) == (f["case"] in CASES[:2])
    assert f["case"] == "rouge-score"  # whose memory even a quick run measures
    assert f["megabytes_peak"] >= f["megabytes_before"] > 0
    compared = {(r["contest"], r["ours"], r["theirs"]) for r in report["ratios"]}
    assert ("ROUGE", "shipped", "rouge-score") in compared
    assert ("serving", "32 clients, batched", "one client, unbatched") in compared
    assert ("beam 3->6", "shipped, copy", "reference, copy") in compared
    assert ("training 6->3", "shipped, plain", "limit") in compared
