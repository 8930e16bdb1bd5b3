from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from nutgraf.errors import NutgrafError
from nutgraf.serve import batching
from nutgraf.serve.batching import Batcher, BatchKey, ClosedError, QueueFullError
from nutgraf.serve.limits import Limits
from nutgraf.serve.metrics import Metrics
from nutgraf.summarizing.results import SummaryOptions, SummaryResult
from tests.serve.serving import URL, Echo, echo, models, running, wait_for

A, B = BatchKey("a", SummaryOptions()), BatchKey("b", SummaryOptions())
SHORT = BatchKey("a", SummaryOptions(max_words=5))


def best(results: list[SummaryResult]) -> list[str]:
    return [result.summaries[0].text for result in results]


@pytest.fixture
def held() -> Iterator[tuple[Batcher, Echo, Echo]]:
    """A batcher that is busy with one text, so that others wait in the queue."""
    a, b = Echo("a"), echo("b")
    batcher = Batcher(models(a, b), Limits(batch=4, queue=16, texts=8, wait=0), Metrics())
    first = batcher.submit(A, ["first"])
    assert a.begun.wait(60)
    yield batcher, a, b
    a.go.set()
    batcher.close()
    assert first.future.done()


def test_requests_with_the_same_key_are_batched_up_to_the_limit(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, b = held
    requests = [
        batcher.submit(key, texts)
        for key, texts in ((A, ["1"]), (B, ["2"]), (A, ["3", "4"]), (SHORT, ["5"]), (A, ["6", "7"]), (A, ["8"]))
    ]
    a.go.set()
    found = [best(request.future.result()) for request in requests]
    assert a.batches == [["first"], ["1", "3", "4", "8"], ["5"], ["6", "7"]]
    assert b.batches == [["2"]]
    assert found == [
        ["a|None|None|1"],
        ["b|None|None|2"],
        ["a|None|None|3", "a|None|None|4"],
        ["a|5|None|5"],
        ["a|None|None|6", "a|None|None|7"],
        ["a|None|None|8"],
    ]


def test_only_requests_with_equal_options_are_batched(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, _ = held
    options = SummaryOptions(), SummaryOptions(explain=True), SummaryOptions(n_best=2), SummaryOptions(faithful=True)
    keys = [BatchKey("a", one) for one in options]
    requests = [batcher.submit(key, [f"{place}"]) for _ in range(2) for place, key in enumerate(keys)]
    a.go.set()
    found = [request.future.result()[0] for request in requests]
    assert a.batches == [["first"], *([f"{place}"] * 2 for place in range(len(options)))]
    assert [len(one.source) for one in found] == [0, 1, 1, 0] * 2
    assert [len(one.summaries) for one in found] == [1, 1, 2, 1] * 2
    assert [one.summaries[0].text.split("|")[0] for one in found] == ["a", "a", "a", "a faithful"] * 2


def test_a_text_that_fails_fails_no_other(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, _ = held
    good, bad, last = (batcher.submit(A, [text]) for text in ("good", "fail", "last"))
    a.go.set()
    assert best(good.future.result() + last.future.result()) == ["a|None|None|good", "a|None|None|last"]
    with pytest.raises(RuntimeError):
        bad.future.result()


def test_the_queue_is_bounded_and_cancelled_requests_make_room(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, _ = held
    waiting = batcher.submit(A, [str(i) for i in range(8)])
    with pytest.raises(QueueFullError):
        batcher.submit(A, ["one more"])
    assert batcher.count_waiting() == 8
    batcher.drop(waiting)
    assert batcher.count_waiting() == 0
    last = batcher.submit(A, ["last"])
    a.go.set()
    assert best(last.future.result()) == ["a|None|None|last"]
    assert a.batches == [["first"], ["last"]]


def test_clients_take_turns(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, _ = held
    greedy = [batcher.submit(BatchKey("a", SummaryOptions(max_words=i)), [f"greedy {i}"], "greedy") for i in (1, 2, 3)]
    modest = batcher.submit(A, ["modest"], "modest")
    a.go.set()
    for request in (*greedy, modest):
        request.future.result()
    assert a.batches == [["first"], ["greedy 1"], ["modest"], ["greedy 2"], ["greedy 3"]]


def test_no_client_can_fill_the_queue(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, _, _ = held
    for _ in range(8):
        batcher.submit(A, ["x"], "greedy")
    with pytest.raises(QueueFullError):
        batcher.submit(A, ["x"], "greedy")
    assert batcher.count_waiting() == 8
    batcher.submit(A, ["y"], "modest")


def test_a_batch_is_no_more_work_than_a_request_may_be() -> None:
    a = Echo("a")
    batcher = Batcher(models(a), Limits(work=10, wait=0), Metrics())
    batcher.submit(A, ["first"])
    assert a.begun.wait(60)
    requests = [batcher.submit(A, [str(work)], work=work) for work in (6, 5, 4, 3)]
    a.go.set()
    assert [len(request.future.result()) for request in requests] == [1] * 4
    assert a.batches == [["first"], ["6", "4"], ["5", "3"]]
    batcher.close()


def test_work_is_stopped_when_nobody_waits_for_it_and_only_then(held: tuple[Batcher, Echo, Echo]) -> None:
    batcher, a, _ = held
    one, other = (batcher.submit(A, [text]) for text in ("one", "other"))
    a.go.set()
    wait_for(lambda: len(a.batches) == 2)
    a.go.clear()
    again = [batcher.submit(A, [text]) for text in ("3", "4")]
    one.future.result(), other.future.result()
    wait_for(lambda: len(a.batches) == 3)
    batcher.drop(again[0])
    assert not a.stopped.wait(0.1)
    batcher.drop(again[1])
    assert a.stopped.wait(5)
    with pytest.raises(ClosedError):
        again[1].future.result(5)


def test_closing_does_not_wait_for_work_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "GRACE", 0.2)
    endless = Echo("a")
    batcher = Batcher(models(endless), Limits(wait=0), Metrics())
    request = batcher.submit(A, ["x"])
    assert endless.begun.wait(60)
    batcher.close()
    assert endless.stopped.wait(5)
    with pytest.raises(ClosedError):
        request.future.result(5)


def test_closing_finishes_the_queue_and_accepts_no_more() -> None:
    batcher = Batcher(models(echo("a")), Limits(wait=30), Metrics())
    requests = [batcher.submit(A, [str(i)]) for i in range(40)]
    batcher.close()
    assert [best(request.future.result()) for request in requests] == [[f"a|None|None|{i}"] for i in range(40)]
    with pytest.raises(ClosedError):
        batcher.submit(A, ["late"])


def test_a_model_that_loses_a_text_is_an_error() -> None:
    class Loses(Echo):
        def answer(self, *_: object) -> list[SummaryResult]:
            return []

    batcher = Batcher(models(Loses("a")), Limits(), Metrics())
    with pytest.raises(RuntimeError, match="0 summaries of 1 texts"):
        batcher.submit(A, ["x"]).future.result()
    batcher.close()


def test_many_clients_each_get_their_own_answers() -> None:
    a = echo("a")
    with running(models(a, echo("b")), Limits(batch=8)) as client, ThreadPoolExecutor(12) as pool:

        def ask(i: int) -> None:
            texts, name, most = [f"{i}.{k}" for k in range(i % 3 + 1)], "ab"[i % 2], i % 3 + 1
            options = {"max_words": most, "explain": i % 4 == 0, "n_best": i % 3 + 1}
            with httpx.Client(base_url=client.base_url, timeout=60) as own:
                found = own.post(URL, json={"texts": texts, "model": name, **options}).json()["summaries"]
            assert [summary["summary"] for summary in found] == [f"{name}|{most}|None|{text}" for text in texts]
            if options["explain"]:
                assert [summary["source_words"] for summary in found] == [[text] for text in texts]
            if most > 1:
                assert [len(summary["alternatives"]) for summary in found] == [most - 1] * len(texts)

        list(pool.map(ask, range(60)))


def test_limits_that_contradict_each_other_are_an_error() -> None:
    with pytest.raises(NutgrafError, match="--max-queue"):
        Limits(texts=10, queue=9)
