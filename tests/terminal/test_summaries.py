from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nutgraf import recipe as recipes
from nutgraf.errors import InputError
from nutgraf.models.proposals import Score
from nutgraf.summarizing.documents import DocumentLine, DocumentSummary
from nutgraf.summarizing.results import DEFAULTS, Summary, SummaryOptions, SummaryResult
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.terminal.summaries import Printer, is_text, list_summaries, print_document, read_arguments

Capture = pytest.CaptureFixture[str]
LEAD = Summarizer.lead(2, recipes.Text(max_text_words=5))
LONG = "Sales rose again. Profit fell again."  # 8 words for the model, of which it reads 4


def test_an_argument_is_a_text_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("one two\n\nthree four\n")
    Path("two words").write_text("of a file\n")
    assert [is_text(one) for one in ("a.txt", "two words", "-", "Sales rose", "", " ", "x y " * 5000)] == [
        *(False, False, False),
        *(True, True, True, True),
    ]
    blocks = list(read_arguments(["Sales\nrose ", "a.txt", "", "two words"]))
    assert blocks == [["Sales rose"], ["one two", "", "three four"], [""], ["of a file"]]
    with pytest.raises(InputError, match="an argument, character 5: not UTF-8"):
        list(read_arguments(["caf \udce9"]))  # as Python decodes Latin-1
    with pytest.raises(InputError, match=r"b\.txt: no such file .*A text has two words or more"):
        is_text("b.txt")


def test_a_block_is_answered_before_the_next_is_read(capsys: Capture) -> None:
    printed = []

    def blocks() -> Iterator[list[str]]:
        for block in (["One two three"], ["Four five six", ""]):
            printed.append(capsys.readouterr().out)
            yield block

    Printer(LEAD, DEFAULTS).print_all(blocks())
    assert [*printed, capsys.readouterr().out] == ["", "One two\n", "Four five\n\n"]


def test_what_is_read_of_a_long_text_is_said_and_of_many_their_number(capsys: Capture) -> None:
    Printer(LEAD, DEFAULTS, numbered=False).print_all(iter([[LONG]]))
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("Sales rose\n", "read the first 3 of 6 words; --per-sentence reads all\n")
    Printer(LEAD, DEFAULTS).print_all(iter([["Short one", LONG], [LONG] * 4]))
    assert capsys.readouterr().err.splitlines() == [
        *(f"text {number}: read the first 3 of 6 words; --per-sentence reads all" for number in (2, 3, 4)),
        "only the beginning was read of 5 of 6 texts; --per-sentence reads all",
    ]


def test_every_sentence_has_the_number_of_its_text(capsys: Capture) -> None:
    Printer(LEAD, DEFAULTS, per_sentence=True).print_all(iter([[LONG, ""], ["Nine " * 9 + "end."]]))
    shown = capsys.readouterr()
    assert shown.out == "1\t1\tSales rose\n1\t2\tProfit fell\n2\t1\t\n3\t1\tNine Nine\n"
    assert shown.err == "text 3, sentence 1: read the first 5 of 10 words\n"


def test_as_json(capsys: Capture) -> None:
    Printer(LEAD, DEFAULTS, as_json=True).print_all(iter([[LONG, ""]]))
    first, blank = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"text": LONG, "summary": "Sales rose", "model": "lead-2", "text_words": 6, "read_words": 3}
    assert blank == {"text": "", "summary": "", "model": "lead-2", "text_words": 0, "read_words": 0}
    options = SummaryOptions(n_best=2, explain=True)
    Printer(LEAD, options, per_sentence=True, as_json=True).print_all(iter([["Sales rose again", ""]]))
    first, blank = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["text_number"], first["sentence_number"], first["alternatives"]) == (1, 1, [])
    assert first["source_words"] == ["Sales", "rose", "again"]
    assert [word["text"] for word in first["words"]] == ["Sales", "rose"]
    assert (blank["summary"], blank["alternatives"], blank["source_words"]) == ("", [], [])


def test_alternatives_have_their_scores(capsys: Capture) -> None:
    options = SummaryOptions(n_best=2)
    found = SummaryResult((), (Summary("Profit falls", (), 0.624), Summary("Profit", (), 0.05)))
    assert list_summaries(found, options) == [" 62%  Profit falls", "  5%  Profit"]
    assert list_summaries(found, DEFAULTS) == ["Profit falls"]
    agreed = [Summary("Profit", (), None, score=Score(total, 0.5, 0.5, 0.5)) for total in (-7.521, -12.3)]
    assert list_summaries(SummaryResult((), tuple(agreed)), options) == [" -7.52  Profit", "-12.30  Profit"]
    assert list_summaries(SummaryResult((), (Summary("Profit falls", (), None),)), options) == ["Profit falls"]
    assert list_summaries(SummaryResult((), ()), options) == [""]
    Printer(LEAD, options).print_all(iter([["One two three", "Four five six"]]))
    assert capsys.readouterr().out == "One two\n\nFour five\n"  # a blank line between the lists of two texts
    Printer(LEAD, options, per_sentence=True).print_all(iter([["One two three", "Four five six"]]))
    assert capsys.readouterr().out == "1\t1\tOne two\n2\t1\tFour five\n"


def test_a_document(capsys: Capture) -> None:
    found = DocumentSummary(DocumentLine("Head", "Head line.", 2), (DocumentLine("Point", "Point one.", 3),))
    print_document("a.md", found, "all-2", 2, as_json=False)
    shown = capsys.readouterr()
    assert shown.out == "Head\n- Point\n"
    assert shown.err.startswith("a.md: 1 of 2 lines")
    print_document("a.md", found, "all-2", 1, as_json=True)
    shown = capsys.readouterr()
    assert shown.err == ""
    assert json.loads(shown.out) == {
        "document": "a.md",
        "model": "all-2",
        "summary": "Head",
        "sentence": "Head line.",
        "sentence_number": 2,
        "bullets": [{"summary": "Point", "sentence": "Point one.", "sentence_number": 3}],
    }
