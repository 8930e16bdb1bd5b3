import json
import re
from pathlib import Path

from nutgraf.run.folder import Run
from tests.cli.commands import Capture, run, train
from tests.tiny import Corpus


def test_from_raw_text_to_the_tables(corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    assert train(corpus, out, "--set", 'plan.initializers=["mu1", "dbae"]') == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"Summarizers in .*all-2", shown.err)
    assert run("evaluate", out, "--pairs", corpus.pairs, "--threads", "1") == 0
    tables = capsys.readouterr().out
    for name in (
        "Table 2",
        "Lead-8",
        "Lead-12",
        "dbae-0",
        "mu1-0",
        "Table 3",
        "dbae-2",
        "mu1-2",
        "all-2",
        "rouge-score",
    ):
        assert name in tables
    written = json.loads((out / "evaluation" / "pairs.json").read_text())
    assert [row["name"] for row in written["rows"]][:2] == ["Lead-8", "Lead-12"]
    assert len((out / "evaluation" / "pairs" / "all-2.txt").read_text().splitlines()) == 20
    assert "…" not in tables  # nothing is cut off where there is no terminal
    compare = ("evaluate", out, "--pairs", corpus.pairs, "--threads", "1", "--compare", "all-2", "Lead-8")
    assert run(*compare) == 0
    compared = capsys.readouterr().out
    assert "all-2 against Lead-8" in compared
    assert run(*compare, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["compared"], found["pairs"]) == (["all-2", "Lead-8"], 20)
    assert f"{found['rl']['by']['mean']:+.2f}" in compared
    assert run(*compare, "--cluster", "ray", "--device", "cuda") == 2
    assert "--cluster ray: works on processors only" in capsys.readouterr().err
    assert run(*compare, "--models", "all-2") == 2
    assert "--compare and --models" in capsys.readouterr().err


def test_samples(finished: Run, corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    assert run("samples", finished.folder, "--count", "2", "--json", "--threads", "1") == 0
    taken = json.loads(capsys.readouterr().out)
    assert [name for name, _ in taken["expansions"][0]["made"]] == ["pr-thr-1", "dbae-1", "mu1-1"]
    assert [len(taken[part]) for part in ("expansions", "predictions")] == [2, 2]
    own = tmp_path / "own.txt"
    own.write_text("Gelsistia keeps key rate\n")
    arguments = ("--summaries", own, "--texts", corpus.texts, "--count", "1", "--models", "mu1-0", "--models", "all-2")
    assert run("samples", finished.folder, *arguments) == 0
    printed = capsys.readouterr().out
    for part in ("Gelsistia keeps key rate", "mu1-1", "mu1-0", "all-2"):
        assert part in printed


def test_samples_have_no_found_texts(with_near: Run, capsys: Capture) -> None:
    assert run("samples", with_near.folder, "--count", "1", "--json", "--threads", "1") == 0
    (sample,) = json.loads(capsys.readouterr().out)["expansions"]
    assert [name for name, _ in sample["made"]] == ["pr-thr-1", "dbae-1", "mu1-1", "near-1"]
