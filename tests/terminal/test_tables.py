import pytest

from nutgraf.evaluation.samples import Sample
from nutgraf.run.plan import Kind, Step
from nutgraf.run.status import StepState
from nutgraf.terminal import tables
from nutgraf.terminal.console import out

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "_width", 120)


def cells(printed: str, name: str) -> list[str]:
    """The cells of the row that a name starts."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in printed.splitlines() if "│" in line]
    return next(row for row in rows if row[0] == name)


def test_a_plan_has_the_time_of_each_step_and_of_all(capsys: Capture) -> None:
    steps = [(Step("text", Kind.TEXT), 40.0), (Step("embeddings", Kind.EMBEDDINGS, ("text",)), 600.0)]
    tables.show_plan(steps)
    printed = capsys.readouterr().out
    assert cells(printed, "embeddings") == ["embeddings", "text", "10 min"]
    assert "2 steps, about 11 min in all" in printed


def test_a_note_of_the_status_is_not_markup(capsys: Capture) -> None:
    tables.show_status([StepState("text", "done", 130.0), StepState("mu1-0", "damaged", note="model.json: [red]")])
    printed = capsys.readouterr().out
    assert cells(printed, "text") == ["text", "done", "2 min", ""]
    assert cells(printed, "mu1-0") == ["mu1-0", "damaged", "", "model.json: [red]"]


def test_samples_have_the_sentence_and_every_output(capsys: Capture) -> None:
    tables.show_samples("Predictions", "Text", [Sample("Profit [rose].", (("mu1-2", "Profit up"),))])
    printed = capsys.readouterr().out
    assert "Predictions" in printed
    assert cells(printed, "Text") == ["Text", "Profit [rose]."]
    assert cells(printed, "mu1-2") == ["mu1-2", "Profit up"]
    tables.show_samples("Predictions", "Text", [])
    assert capsys.readouterr().out == ""
