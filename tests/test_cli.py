import json
import os
import re
import select
import subprocess
import sys
from dataclasses import asdict
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import PIPE

import pytest
import typer

from nutgraf import cli
from nutgraf.run.folder import Run
from nutgraf.summarizing import ready
from nutgraf.summarizing.export import write
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.terminal.console import err, out
from nutgraf.terminal.explanation import explain
from nutgraf.text.reading import read_lines, read_pairs
from tests.tiny import Corpus, checksums

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 300)


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(argument) for argument in arguments])
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def train(corpus: Corpus, out: Path, *more: str) -> int:
    return run("train", "--texts", corpus.texts, "--summaries", corpus.summaries, "--out", out,
               "--recipe", corpus.recipe, "--threads", "1", *more)  # fmt: skip


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
    assert run(*compare, "--models", "all-2") == 2
    assert "--compare and --models" in capsys.readouterr().err


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
        (["--stop-after", "mu1-8"], "mu1-8"),
        (["--texts-limit", "-3"], "--texts-limit"),
        (["--set", "plan.iterations=3"], "multiple of 2"),
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


def test_summarize_gives_the_same_strings_as_python(
    finished: Run, corpus: Corpus, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(read_lines(corpus.texts, 5))
    expected = Summarizer.load(finished.folder, "mu1-2")([*texts[:2], "", *texts[2:]], max_words=6)
    given = "\n".join([*texts[:2], "", *texts[2:]]) + "\n"
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode())))
    assert run("summarize", "--model", finished.folder / "mu1-2", "--max-words", "6", "--threads", "1") == 0
    assert capsys.readouterr().out.split("\n")[:-1] == expected
    assert expected[2] == ""
    assert run("summarize", corpus.texts, "--model", finished.folder, "--json", "--threads", "1") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    words = len(texts[0].split())
    assert first == {
        "text": texts[0],
        "summary": Summarizer.load(finished.folder)(texts[0]),
        "model": "all-2",
        "text_words": words,
        "read_words": words,
    }


def test_explanations_alternatives_and_faith_as_data(
    finished: Run, corpus: Corpus, tmp_path: Path, capsys: Capture
) -> None:
    texts = [*read_lines(corpus.texts, 3), ""]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    options = ("--json", "--threads", "1", "--faithful", "--max-words", "6")
    asked = ("summarize", tmp_path / "texts.txt", "--model", finished.folder, *options)
    assert run(*asked, "--explain", "--n-best", "3") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    summarizer = Summarizer.load(finished.folder)
    assert [row["summary"] for row in rows] == summarizer(texts, 6, faithful=True)
    for row, found in zip(rows[:-1], summarizer.explain(texts[:-1], 6, faithful=True, n_best=3), strict=True):
        best, *others = found.summaries
        assert row == {
            "text": row["text"],
            "summary": best.text,
            "model": "all-2",
            "text_words": row["text_words"],
            "read_words": row["read_words"],
            "probability": best.probability,
            "words": [asdict(word) for word in best.words],
            "alternatives": [
                {"summary": o.text, "probability": o.probability, "words": [asdict(word) for word in o.words]}
                for o in others
            ],
            "source_words": list(found.source),
        }
    assert run(*asked, "--n-best", "2") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(first) == ["text", "summary", "model", "text_words", "read_words", "probability", "alternatives"]
    assert [list(other) for other in first["alternatives"]] == [["summary", "probability"]]


def test_explanations_and_alternatives_to_read(finished: Run, corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    text = next(read_lines(corpus.texts, 1))
    (tmp_path / "texts.txt").write_text(f"{text}\n\n")
    asked = ("summarize", tmp_path / "texts.txt", "--model", finished.folder, "--threads", "1", "--n-best", "3")
    found = Summarizer.load(finished.folder).explain([text], n_best=3)[0]
    assert run(*asked) == 0
    lines = [f"{summary.probability:4.0%}  {summary.text}" for summary in found.summaries]
    assert capsys.readouterr().out == "\n".join([*lines, "", "", ""])  # an empty line, then the blank text's own
    assert run(*asked, "--explain") == 0
    explained, blank = capsys.readouterr().out.split("\n\n", 1)
    assert explained == explain(found).plain
    assert blank.strip() == ""


def test_every_sentence_on_its_own(finished: Run, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "texts.txt").write_text("Sales rose 5 percent. A fire killed 3 people.\n\nProfit fell.\n")
    parts = ["Sales rose 5 percent.", "A fire killed 3 people.", "", "Profit fell."]
    asked = ("summarize", tmp_path / "texts.txt", "--model", finished.folder, "--threads", "1", "--per-sentence")
    expected = Summarizer.load(finished.folder)(parts)
    assert run(*asked) == 0
    columns = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    numbers = [["1", "1"], ["1", "2"], ["2", "1"], ["3", "1"]]
    assert columns == [[*number, summary] for number, summary in zip(numbers, expected, strict=True)]
    assert run(*asked, "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["text_number"], row["sentence_number"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (3, 1)]
    assert [(row["text"], row["summary"]) for row in rows] == list(zip(parts, expected, strict=True))


def test_texts_as_arguments_and_beside_files(
    finished: Run, corpus: Corpus, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(read_lines(corpus.texts, 3))
    (tmp_path / "texts.txt").write_text(f"{texts[2]}\n")
    expected = Summarizer.load(finished.folder)(texts)
    monkeypatch.setattr(sys, "stdin", None)  # a closed one is not looked at
    asked = ("--model", finished.folder, "--threads", "1")
    assert run("summarise", *asked, texts[0], texts[1], tmp_path / "texts.txt") == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines() == expected
    assert shown.err == ""
    assert run("summarize", *asked, " ".join(texts * 9)) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert re.fullmatch(r"read the first \d+ of \d+ words; --per-sentence reads all\n", shown.err)
    assert run("summarize", *asked, "missing.txt") == 2
    assert "missing.txt: no such file" in capsys.readouterr().err


def test_the_ready_model_is_used_where_none_is_named(
    finished: Run, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Profit at the bank fell 5 percent on Monday."
    monkeypatch.setattr(ready, "READY", tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    for command in (("summarize", text), ("serve", "--port", "0")):
        assert run(*command) == 2
        assert "no model was named, and none comes with this installation" in capsys.readouterr().err
    assert run("models") == 0
    assert "no models here" in capsys.readouterr().err
    write(finished, tmp_path / "package" / "news")
    assert run("summarize", text) == run("summarize", text, "--model", "news") == 0
    assert capsys.readouterr().out.splitlines() == [Summarizer.load(tmp_path / "package" / "news")(text)] * 2
    assert run("models") == 0
    assert "news" in capsys.readouterr().out
    assert run("models", finished.folder, "--json") == 0
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)] == ["ready", "run"]


def test_documents(finished: Run, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = ["The council voted to close two pools in June.", "Swimmers will protest at the town hall."]
    (tmp_path / "a.md").write_text("# Head\n\n" + " ".join(sentences))
    asked = ("summarize", "--model", finished.folder, "--threads", "1", "--document")
    summarizer = Summarizer.load(finished.folder)
    assert run(*asked, tmp_path / "a.md", tmp_path / "a.md") == 0
    assert capsys.readouterr().out.splitlines() == [summarizer(sentences[0])] * 2
    page = f"<html><p>{sentences[1]}</p></html>"
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(page.encode())))
    assert run(*asked, "--bullets", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["summary"], found["sentence"], found["bullets"]) == (summarizer(sentences[1]), sentences[1], [])
    for wrong in ("--per-sentence", "--explain", "--n-best=2"):
        assert run(*asked, wrong, tmp_path / "a.md") == 2
        assert "--document: prints one headline" in capsys.readouterr().err
    assert run(*asked[:-1], "--bullets", "2", tmp_path / "a.md") == 2
    assert "--bullets: needs --document" in capsys.readouterr().err


COMMAND = (sys.executable, "-c", "import nutgraf.cli; nutgraf.cli.main()", "summarize", "--threads", "1", "--model")


def test_a_slow_pipe_is_answered_line_by_line(finished: Run) -> None:
    texts = ["Profit fell on Monday at the bank.", "A fire killed 3 people in the town."]
    expected = Summarizer.load(finished.folder)(texts)
    with subprocess.Popen([*COMMAND, finished.folder], stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as process:
        assert process.stdin
        assert process.stdout
        for text, summary in zip(texts, expected, strict=True):
            process.stdin.write(f"{text}\n")
            assert process.stdout.readline() == f"{summary}\n"  # while the pipe stays open
        process.stdin.close()
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_a_person_gets_a_prompt_and_an_answer_to_every_line(finished: Run) -> None:
    import pty

    texts = ["Profit fell on Monday at the bank.", "A fire killed 3 people in the town."]
    expected = Summarizer.load(finished.folder)(texts)
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, finished.folder], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = read_prompts(ours, "", 1)
        assert "Model all-2" in shown
        assert "Ctrl-D ends" in shown
        for number, (text, summary) in enumerate(zip(texts, expected, strict=True), 2):
            os.write(ours, f"{text}\n".encode())
            shown = read_prompts(ours, shown, number)
            assert f"\n{summary}\r\n" in shown
        os.write(ours, b"\x04")  # Ctrl-D
    os.close(ours)
    assert process.returncode == 0


def read_prompts(terminal: int, shown: str, count: int) -> str:
    """Read on until the terminal has shown this many prompts."""
    while shown.count("> ") < count:
        assert select.select([terminal], [], [], 120)[0], shown
        shown += os.read(terminal, 4096).decode()
    return shown


def test_near_explains_its_summary(with_near: Run, corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    text = next(read_lines(corpus.texts, 1))
    (tmp_path / "texts.txt").write_text(f"{text}\n")
    assert run("summarize", tmp_path / "texts.txt", "--model", with_near.folder / "near-0", "--explain") == 0
    found = Summarizer.load(with_near.folder, "near-0").explain([text])[0]
    printed = capsys.readouterr().out
    assert printed.strip() == explain(found).plain
    assert f"nearness     {found.summaries[0].nearness:.2f}" in printed


def test_samples_have_no_found_texts(with_near: Run, capsys: Capture) -> None:
    assert run("samples", with_near.folder, "--count", "1", "--json", "--threads", "1") == 0
    (sample,) = json.loads(capsys.readouterr().out)["expansions"]
    assert [name for name, _ in sample["made"]] == ["pr-thr-1", "dbae-1", "mu1-1", "near-1"]


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


def test_recipe_prints_what_it_reads(tmp_path: Path, capsys: Capture) -> None:
    assert run("recipe", "quick", "--set", "plan.iterations=4") == 0
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out)
    assert run("recipe", tmp_path / "mine.toml") == 0
    assert capsys.readouterr().out == (tmp_path / "mine.toml").read_text()
    assert "iterations = 4" in (tmp_path / "mine.toml").read_text()


def test_the_demo_goes_from_a_corpus_to_tables_and_ten_summaries(
    corpus: Corpus, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nutgraf import recipe
    from nutgraf.backtranslation import train as training
    from nutgraf.demo import corpus as demo

    small = recipe.override(recipe.load(corpus.recipe), ['plan.initializers=["mu1"]'])
    monkeypatch.setattr(demo, "GENERATED", (150, 150))
    monkeypatch.setattr(demo, "HELD_OUT", 20)
    monkeypatch.setattr(training, "resolve", lambda name, settings, seed: {"quick": small}[name])
    assert run("demo", "--offline", "--out", tmp_path / "demo", "--threads", "1") == 0
    shown = capsys.readouterr()
    for part in ("Table 2", "Table 3", "mu1-2", "Ten held-out sentences"):
        assert part in shown.out
    assert shown.out.count("Title") == 10
    assert "generates itself" in shown.err
    assert str(tmp_path / "demo" / "run") in shown.err


def test_one_file_may_come_through_a_pipe(
    corpus: Corpus, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(Path(corpus.texts).read_bytes())))
    assert train(corpus, tmp_path / "run", "--texts", "-", "--stop-after", "text") == 0
    assert checksums(tmp_path / "run").items() <= checksums(finished.folder).items()
    assert train(corpus, tmp_path / "other", "--texts", "-", "--summaries", "-") == 2


def test_every_option_is_explained() -> None:
    for name, command in vars(typer.main.get_command(cli.app))["commands"].items():
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name}"
