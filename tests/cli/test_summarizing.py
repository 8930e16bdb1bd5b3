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

from nutgraf.run.folder import Run
from nutgraf.summarizing import ready
from nutgraf.summarizing.export import write
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.terminal.explanation import explain
from nutgraf.text.reading import read_lines
from tests.cli.commands import Capture, run
from tests.tiny import Corpus


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


LOOK = """
import json, os, sys
from nutgraf import cli
try:
    cli.main(sys.argv[1:])
finally:
    print(json.dumps({"torch": "torch" in sys.modules, "numpy": "numpy" in sys.modules, **os.environ}), file=sys.stderr)
"""


def test_a_trained_model_summarizes_without_torch_where_torch_is_installed(finished: Run, corpus: Corpus) -> None:
    text = next(read_lines(corpus.texts, 1))

    def look(model: str, **environment: str) -> tuple[str, dict[str, object]]:
        command = [sys.executable, "-c", LOOK, "summarize", text, "--model", str(finished.folder / model)]
        free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=free | environment)
        return found.stdout.rstrip("\n"), json.loads(found.stderr)

    line, seen = look("all-2")
    assert line == Summarizer.load(finished.folder, "all-2")(text)
    assert (seen["torch"], seen["numpy"], seen["OPENBLAS_NUM_THREADS"]) == (False, True, "1")
    _, seen = look("mu1-0", OPENBLAS_NUM_THREADS="3")  # the environment decides
    assert (seen["torch"], seen["OPENBLAS_NUM_THREADS"]) == (False, "3")
    assert look("dbae-0")[1]["torch"]  # this initializer needs it


def test_explanations_alternatives_and_faith_as_data(
    finished: Run, corpus: Corpus, tmp_path: Path, capsys: Capture
) -> None:
    texts = [*read_lines(corpus.texts, 3), ""]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    options = ("--json", "--threads", "1", "--faithful", "--max-words", "6")
    asked = ("summarize", tmp_path / "texts.txt", "--model", finished.folder, *options)
    assert run(*asked, "--explain", "--n-best", "3") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    summarizer = Summarizer.load(finished.folder, light=True)
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
            "skipped": list(found.skipped),
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


def test_near_explains_its_summary(with_near: Run, corpus: Corpus, tmp_path: Path, capsys: Capture) -> None:
    text = next(read_lines(corpus.texts, 1))
    (tmp_path / "texts.txt").write_text(f"{text}\n")
    assert run("summarize", tmp_path / "texts.txt", "--model", with_near.folder / "near-0", "--explain") == 0
    found = Summarizer.load(with_near.folder, "near-0").explain([text])[0]
    printed = capsys.readouterr().out
    assert printed.strip() == explain(found).plain
    assert f"nearness     {found.summaries[0].nearness:.2f}" in printed


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


def test_the_limits_of_a_summary_are_in_the_help_and_hold(capsys: Capture) -> None:
    assert run("summarize", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for option, most in (("--n-best", 50), ("--max-words", 1000), ("--min-words", 1000), ("--bullets", 100)):
        assert re.search(rf"{option} .{{0,140}}?<=x<={most}\b", shown), option
        assert run("summarize", option, str(most + 1), "A text of five words.") == 2
        refused = " ".join(capsys.readouterr().err.split())
        assert f"'{option}'" in refused
        assert str(most) in refused


def test_a_cluster_takes_files_alone(capsys: Capture) -> None:
    for options in (("--document",), ("--device", "cuda")):
        assert run("summarize", "A text of five words", "--cluster", "ray", *options) == 2
        assert "--cluster ray: takes files or a pipe" in capsys.readouterr().err
