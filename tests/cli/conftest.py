import pytest

from nutgraf.terminal.console import err, out


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 300)
