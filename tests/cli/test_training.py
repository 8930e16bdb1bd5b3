import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from nutgraf.run.folder import Run
from nutgraf.text.reading import read_pairs
from tests.cli.commands import Capture, run, train
from tests.tiny import Corpus, checksums


def test_a_finished_run_is_kept_and_another_refused(corpus: Corpus, copied: Run, capsys: Capture) -> None:
    before = checksums(copied.folder)
    assert train(corpus, copied.folder) == 0
    assert "done before" in capsys.readouterr().err
    assert train(corpus, copied.folder, "--set", "training.summarizer_steps=13") == 2
    assert re.search(r"training\.summarizer_steps: 12 there, 13 asked for", capsys.readouterr().err)
    assert train(corpus, copied.folder, "--texts-limit", "100") == 2
    assert "--texts" in capsys.readouterr().err
    assert checksums(copied.folder) == before


def test_the_plan_is_printed_and_nothing_is_run(corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    assert train(corpus, tmp_path / "run", "--plan", "--set", "plan.iterations=4") == 0
    printed = capsys.readouterr().out
    assert "all-4" in printed
    assert "estimate" in printed
    assert train(corpus, tmp_path / "run", "--plan", "--json", "--only", "mu1-0") == 0
    steps = json.loads(capsys.readouterr().out)
    assert [step["step"] for step in steps] == ["text", "casing", "embeddings", "mu1-0"]
    assert all(step["estimated_seconds"] >= 0 for step in steps)
    assert not (tmp_path / "run").exists()


def test_a_plan_needs_no_run_folder_and_training_does(corpus: Corpus, capsys: Capture) -> None:
    files = ("--texts", corpus.texts, "--summaries", corpus.summaries, "--recipe", corpus.recipe)
    assert run("train", *files, "--plan") == 0
    assert run("train", *files) == 2
    assert "--out" in capsys.readouterr().err


SUPPOSED = ("--plan", "--cluster", "ray", "--machines", "8", "--cores", "4")


def test_a_plan_for_a_cluster_that_is_not_there(corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    assert train(corpus, tmp_path / "run", *SUPPOSED) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(r"32 workers, which are busy \d+% of the time", printed)
    assert "What the end waits for: text (" in printed
    assert "- 8 machines with 32 cores: 32 workers with 1 thread(s) each" in printed
    many = ("--plan-summaries", "100000000", "--threads", "2", "--json")
    assert train(corpus, tmp_path / "run", *SUPPOSED, *many) == 0
    found = json.loads(capsys.readouterr().out)
    assert "100,000,000 summaries of" in found["assumptions"][1]
    assert "16 workers with 2 thread(s)" in found["assumptions"][0]
    assert found["estimated_seconds"] == max(step["ends"] for step in found["steps"]) > 3600
    assert not (tmp_path / "run").exists()


def test_a_plan_for_more_texts_than_there_are(corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    seconds = []
    for more in ((), ("--plan-texts", "4000000")):
        assert train(corpus, tmp_path / "run", "--plan", "--json", "--only", "mu1-0", *more) == 0
        seconds.append(json.loads(capsys.readouterr().out)[0]["estimated_seconds"])
    assert seconds[1] > 60 > seconds[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--machines", "8"], "need --plan"),
        (["--plan", "--machines", "8"], "needs --cluster"),
        (["--plan", "--cluster", "ray", "--cores", "8"], "needs --machines"),
        ([*SUPPOSED, "--cluster", "dask"], "expected ray"),
        ([*SUPPOSED, "--threads", "5"], "no machine has as many cores"),
    ],
)
def test_what_cannot_be_supposed_is_refused(
    corpus: Corpus, tmp_path: Path, capsys: Capture, options: list[str], message: str
) -> None:
    assert train(corpus, tmp_path / "run", *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


BAD = {
    "empty": b"",
    "blank": b"\n\n \n",
    "one line": b"only this\n",
    "binary": b"\x00\x01\x02\x03\n" * 5,
    "latin-1": b"plain\ncaf\xe9 noir\n",
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("side", ["--texts", "--summaries"])
def test_bad_files_are_explained(corpus: Corpus, tmp_path: Path, capsys: Capture, kind: str, side: str) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(BAD[kind])
    assert train(corpus, tmp_path / "run", side, str(bad)) == 2
    message = capsys.readouterr().err
    assert "bad.txt" in message
    assert "Traceback" not in message
    if kind == "latin-1":
        assert "line 2, byte 4" in message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--set", "training.batches=3"], "did you mean 'batch'"),
        (["--set", "training"], "section.key=value"),
        (["--recipe", "nonsense"], "nonsense"),
        (["--summaries", "TEXTS"], "same file"),
        (["--valid", "TEXTS"], "tab"),
        (["--aligned-limit", "5"], "--aligned"),
        (["--device", "abacus"], "abacus"),
        (["--threads", "-1"], "--threads"),
        (["--threads", "1000000"], "--threads 1000000: expected 0 (all cores) to "),
        (["--stop-after", "mu1-8"], "mu1-8"),
        (["--texts-limit", "-3"], "--texts-limit"),
        (["--set", "plan.iterations=3"], "multiple of 2"),
        (["--with", "hc,mu1"], "--with mu1: none of"),
    ],
)
def test_bad_options_are_explained(
    corpus: Corpus, tmp_path: Path, capsys: Capture, more: list[str], expected: str
) -> None:
    assert train(corpus, tmp_path / "run", *(corpus.texts if part == "TEXTS" else part for part in more)) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_aligned_files_passed_as_unaligned_are_noticed(corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    sides = zip(*read_pairs(corpus.pairs), strict=True)
    for name, side in zip(("a.txt", "b.txt"), sides, strict=True):
        (tmp_path / name).write_text("\n".join(side) + "\n")
    files = ["--texts", str(tmp_path / "a.txt"), "--summaries", str(tmp_path / "b.txt")]
    assert train(corpus, tmp_path / "run", *files, "--stop-after", "text") == 0
    printed = capsys.readouterr().err
    assert "aligned pairs" in printed
    # And a vocabulary that is larger than the corpus.
    assert "text.texts_vocabulary is 300, but there are only" in printed


def test_ctrl_c_says_how_to_go_on(
    corpus: Corpus, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nutgraf.backtranslation.steps import Steps, Task

    def interrupted(self: Steps, task: Task) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Steps, "_embeddings", interrupted)
    assert train(corpus, tmp_path / "run") == 130
    assert "the same command resumes" in capsys.readouterr().err


def test_one_file_may_come_through_a_pipe(
    corpus: Corpus, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(Path(corpus.texts).read_bytes())))
    assert train(corpus, tmp_path / "run", "--texts", "-", "--stop-after", "text") == 0
    assert checksums(tmp_path / "run").items() <= checksums(finished.folder).items()
    assert train(corpus, tmp_path / "other", "--texts", "-", "--summaries", "-") == 2


def test_status(corpus: Corpus, copied: Run, capsys: Capture) -> None:
    (copied.step_folder("mu1-2") / "manifest.json").unlink()
    (copied.step_folder("dbae-2") / "model.json").write_text("x")
    assert run("status", copied.folder, "--json") == 0
    states = {row["step"]: row["state"] for row in json.loads(capsys.readouterr().out)}
    assert states.pop("mu1-2") == "to come"
    assert states.pop("dbae-2") == "damaged"
    assert set(states.values()) == {"done"}
    assert run("status", copied.folder) == 0
    assert "model.json" in capsys.readouterr().out
    assert run("status", corpus.folder) == 2


def test_recipe_prints_what_it_reads(tmp_path: Path, capsys: Capture) -> None:
    assert run("recipe", "quick", "--set", "plan.iterations=4") == 0
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out)
    assert run("recipe", tmp_path / "mine.toml") == 0
    assert capsys.readouterr().out == (tmp_path / "mine.toml").read_text()
    assert "iterations = 4" in (tmp_path / "mine.toml").read_text()
