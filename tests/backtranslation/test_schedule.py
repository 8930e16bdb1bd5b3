from collections.abc import Callable
from threading import Barrier, Event, Lock, main_thread
from threading import current_thread as this_thread

import pytest

from nutgraf.backtranslation.schedule import Schedule
from nutgraf.run.plan import Kind, Step


def step(name: str, *needs: str) -> Step:
    return Step(name, Kind.TEXT, needs)


DIAMOND = [step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"), step("e")]


class Recorder:
    """Remembers in which order steps began and ended, and how many threads were taken at once."""

    def __init__(self, widths: dict[str, int]):
        self.widths, self.taken, self.most, self.lock = widths, 0, 0, Lock()
        self.events: list[str] = []

    def __call__(self, step: Step) -> None:
        with self.lock:
            self.taken += self.widths[step.name]
            self.most = max(self.most, self.taken)
            self.events.append(f"{step.name} begins")
        with self.lock:
            self.taken -= self.widths[step.name]
            self.events.append(f"{step.name} ends")


def schedule(steps: list[Step], widths: dict[str, int], threads: int, stop: Event | None = None) -> Schedule:
    return Schedule(steps, lambda step: widths[step.name], lambda: threads, stop or Event())


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("wide", ["", "a", "bd", "abcde"])
def test_each_step_is_done_once_after_its_needs_and_no_more_threads_are_taken_than_there_are(
    threads: int, wide: str
) -> None:
    widths = {name: threads if name in wide else 1 for name in "abcde"}
    recorder = Recorder(widths)
    schedule(DIAMOND, widths, threads)(recorder)
    assert sorted(recorder.events) == sorted(f"{name} {what}" for name in "abcde" for what in ("begins", "ends"))
    assert recorder.most <= threads
    for one in DIAMOND:
        for need in one.needs:
            assert recorder.events.index(f"{need} ends") < recorder.events.index(f"{one.name} begins")


def test_what_takes_all_threads_is_done_in_the_plans_order_by_the_caller() -> None:
    done: list[tuple[str, bool]] = []
    widths = dict.fromkeys("abcde", 2)
    schedule(DIAMOND, widths, 2)(lambda step: done.append((step.name, this_thread() is main_thread())))
    assert done == [(name, True) for name in "abcde"]


def meets(barrier: Barrier, names: str) -> Callable[[Step], None]:
    def do(step: Step) -> None:
        if step.name in names:
            barrier.wait()  # it breaks if they come one after the other

    return do


def test_a_step_does_not_wait_for_others_that_it_does_not_need() -> None:
    widths = dict.fromkeys("abcde", 1)
    schedule(DIAMOND, widths, 3)(meets(Barrier(3, timeout=20), "bce"))


def test_a_step_wider_than_all_threads_is_done_alone() -> None:
    recorder = Recorder(dict.fromkeys("abcde", 5))
    schedule(DIAMOND, recorder.widths, 2)(recorder)
    assert recorder.most == 5
    assert len(recorder.events) == 10


def test_after_an_error_running_steps_end_and_no_other_begins() -> None:
    both, begun, ended = Barrier(2, timeout=20), list[str](), list[str]()

    def do(step: Step) -> None:
        begun.append(step.name)
        if step.name == "b":
            both.wait()
            raise ValueError("b failed")
        if step.name == "c":
            both.wait()
            Event().wait(0.3)
        ended.append(step.name)

    with pytest.raises(ValueError, match="b failed"):
        schedule(DIAMOND[:4], dict.fromkeys("abcd", 1), 2)(do)
    assert set(begun) == {"a", "b", "c"}
    assert ended == ["a", "c"]
