import time
from io import StringIO

import pytest
from rich.console import Console

from nutgraf.progress import Progress, duration
from nutgraf.run.events import Event, State
from nutgraf.run.plan import Kind, Step
from nutgraf.terminal import progress
from nutgraf.terminal.progress import TrainingDisplay

STEP = Step("mu1-1", Kind.EXPANDER)


def running(done: int) -> Event:
    now = Progress(done, 600, "steps", "loss 4.200")
    return Event(STEP, State.RUNNING, 5, 20, now, 60.0, rate=2.0, step_left=250.0, plan_left=4000.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (99, "99 s"), (100, "2 min"), (3599, "1 h 00 min"), (3900, "1 h 05 min"), (36000, "10 h 00 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_without_a_terminal_there_are_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stream = StringIO()
    with TrainingDisplay(Console(file=stream, width=200)) as shown:
        shown(Event(STEP, State.STARTED, 5, 20, plan_left=4000.0))
        for done in range(100):
            now += 1.0
            shown(running(done))
        shown(Event(STEP, State.REDONE, 5, 20, note="mu1-1/model.json: [damaged]"))
        shown(Event(STEP, State.DONE, 5, 20, seconds=130.0))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 6
    assert lines[1].endswith("30/600 steps, 2.0/s, loss 4.200; step 4 min left, plan 1 h 07 min left")
    assert "[damaged]" in lines[4]
    assert lines[5].endswith("done in 2 min")
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    with TrainingDisplay(Console(file=stream, force_terminal=True, width=150)) as shown:
        shown(Event(STEP, State.STARTED, 5, 20))
        shown(running(300))
        assert shown.live is not None
        shown.live.refresh()
        shown(Event(STEP, State.DONE, 5, 20, seconds=130.0))
    assert "300/600 steps" in stream.getvalue()
    assert "━" in stream.getvalue()


def test_an_evaluation_shows_the_model_and_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr(progress, "err", Console(file=stream, force_terminal=True, width=100))
    with progress.watch_evaluation() as watch:
        watch("mu1-2")(Progress(1000, 2000, "sentences"))
    assert "mu1-2: 1,000/2,000 sentences" in stream.getvalue()
