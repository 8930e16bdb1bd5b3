import pytest

from nutgraf import recipe
from nutgraf.backtranslation import cost
from nutgraf.backtranslation.forecast import GAIN, Forecast, Job, forecast, simulate
from nutgraf.run.plan import Kind, Step, make_plan
from nutgraf.run.sizes import Sizes

SIZES = Sizes(3_800_000, 100_000_000, 30, 9)


def job(name: str, seconds: float, needs: str = "", workers: int = 1, parts: int = 0, joining: float = 0.0) -> Job:
    return Job(Step(name, Kind.TEXT, tuple(needs)), seconds, workers, parts, joining)


def times(found: Forecast) -> dict[str, tuple[float, float]]:
    return {span.step.name: (round(span.begins, 9), round(span.ends, 9)) for span in found.spans}


#   t   10 s                        F   6 s, after t                      A   60 s in 100 parts, after F; joined in 2 s
#   c    3 s                        S  20 s, after t                      B   90 s in 2 parts, after F
#                                   z   4 s, on two workers, after A
PLAN = [
    job("t", 10),
    job("c", 3),
    job("F", 6, "t"),
    job("S", 20, "t"),
    job("A", 60, "F", parts=100, joining=2),
    job("B", 90, "F", parts=2),
    job("z", 4, "A", workers=2),
]


def test_a_toy_plan_on_many_workers_by_hand() -> None:
    """S holds one of nine. A and B could have four each, but B has two parts: 2 for B, 6 for A."""
    found = simulate(PLAN, 9)
    assert times(found) == {
        "t": (0, 10),
        "c": (0, 3),
        "F": (10, 16),
        "S": (10, 30),
        "A": (16, 16 + 60 / 6 + 2),  # 28
        "B": (16, 16 + 90 / 2),  # 61
        "z": (28, 32),
    }
    assert found.seconds == pytest.approx(61)
    assert [span.step.name for span in found.path] == ["t", "F", "B"]
    assert found.busy == pytest.approx((10 + 3 + 6 + 20 + 60 + 90 + 2 * 4) / (9 * 61))


def test_the_same_plan_on_two_workers_by_hand() -> None:
    """At 16, S has one worker, A the other; at 30 B begins beside A, with one each, until A's parts are made."""
    found = simulate(PLAN, 2)
    assert times(found) == {
        "t": (0, 10),
        "c": (0, 3),
        "F": (10, 16),
        "S": (10, 30),
        "A": (16, 78),  # 14 s alone; 46 of 60 left at 30, so its parts are there at 76, and joined at 78
        "B": (30, 30 + 46 + (90 - 46) / 2),  # 98: from 76 on, both workers are its own
        "z": (98, 102),  # it needs both at once
    }


def test_on_one_worker_all_steps_come_one_after_the_other() -> None:
    found = simulate([job("t", 10), job("a", 5, "t", parts=3), job("b", 7, "t"), job("c", 1, "ab")], 1)
    assert times(found) == {"t": (0, 10), "a": (10, 15), "b": (15, 22), "c": (22, 23)}
    assert found.busy == 1


def test_what_the_driver_joins_leaves_the_workers_to_others() -> None:
    found = simulate([job("a", 8, parts=9, joining=10), job("b", 24, parts=9)], 2)
    assert times(found) == {"a": (0, 18), "b": (0, 8 + 16 / 2)}


def test_steps_of_a_plan_become_jobs() -> None:
    settings = recipe.override(
        recipe.load("cpu"),
        ['plan.initializers=["mu1"]', "generation.sentences_per_chain=0", "training.shards=4", "plan.teachers=0"],
    )
    steps = make_plan(settings.plan)
    alone = cost.estimate(steps, settings, SIZES, 1)
    spans = {span.step.name: span for span in forecast(steps, settings, SIZES, 1, 128).spans}
    lasts = {name: span.ends - span.begins for name, span in spans.items()}
    assert lasts["mu1-1"] == pytest.approx(alone["mu1-1"] / GAIN**2)  # by four workers: doubled twice
    assert spans["mu1-1"].workers == pytest.approx(4)
    assert lasts["mu1-1.pairs"] == pytest.approx(alone["mu1-1.pairs"] / 128 + 100_000_000 / cost.JOINED)
    words = 3_800_000 * 30 + 100_000_000 * 9  # 5.5 bytes each: 84 parts of 64 MB
    assert spans["text"].workers < 84
    assert lasts["text"] == pytest.approx(alone["text"] / 84 + words / cost.MERGED_WORDS)
    assert lasts["embeddings"] == pytest.approx(alone["embeddings"])
    blocks = forecast(steps, recipe.override(settings, ["embeddings.blocks=8"]), SIZES, 1, 128).spans
    by_eight = next(span for span in blocks if span.step.name == "embeddings")
    assert by_eight.ends - by_eight.begins == pytest.approx(alone["embeddings"] / 8)
    two = {span.step.name: span for span in forecast(steps, settings, SIZES, 1, 3).spans}
    assert two["mu1-1"].workers == pytest.approx(2)  # a power of two
