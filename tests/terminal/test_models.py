import pytest

from nutgraf.summarizing.ready import ModelFolder
from nutgraf.terminal.console import err, out
from nutgraf.terminal.models import show_models


def test_models_are_shown_with_what_to_give_to_the_option(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 200)
    show_models([ModelFolder("news", "ready", ("mu1-2", "all-2"), "all-2", "the best [by far]")])
    printed = capsys.readouterr().out
    for part in ("--model", "news", "ready", "mu1-2, all-2", "the best [by far]"):
        assert part in printed
    show_models([])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no models here" in shown.err
