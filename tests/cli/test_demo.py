from pathlib import Path

import pytest

from tests.cli.commands import Capture, run
from tests.tiny import Corpus


def test_the_demo_goes_from_a_corpus_to_tables_and_ten_summaries(
    corpus: Corpus, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nutgraf import recipe
    from nutgraf.backtranslation import train as training
    from nutgraf.demo import corpus as demo

    small = recipe.override(recipe.load(corpus.recipe), ['plan.initializers=["mu1"]'])
    monkeypatch.setattr(demo, "GENERATED", (150, 150))
    monkeypatch.setattr(demo, "HELD_OUT", 20)
    monkeypatch.setattr(training, "resolve", lambda name, settings, seed, baselines: {"quick": small}[name])
    assert run("demo", "--offline", "--out", tmp_path / "demo", "--threads", "1") == 0
    shown = capsys.readouterr()
    for part in ("Table 2", "Table 3", "mu1-2", "Ten held-out sentences"):
        assert part in shown.out
    assert shown.out.count("Title") == 10
    assert "generates itself" in shown.err
    assert str(tmp_path / "demo" / "run") in shown.err
