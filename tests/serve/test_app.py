from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Timer

import httpx
import pytest

from nutgraf.serve.limits import LONGEST_WORD, Limits
from tests.serve.serving import URL, Echo, echo, models, running

LIMITS = Limits(body=2000, texts=3, words=20)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running(models(echo("a"), echo("b")), LIMITS) as client:
        yield client


def check_error(response: httpx.Response, status: int, code: str) -> str:
    """Check that the response is this error, in the form of all errors, and return its message."""
    assert response.status_code == status, response.text
    body = response.json()
    assert list(body) == ["error"]
    assert list(body["error"]) == ["code", "message"]
    assert body["error"]["code"] == code
    assert "Traceback" not in response.text
    return str(body["error"]["message"])


def test_one_text_and_several(client: httpx.Client) -> None:
    answer = client.post(URL, json={"text": "One."})
    assert answer.status_code == 200
    assert answer.json() == {"model": "a", "summaries": [{"summary": "a|None|None|One."}]}
    several = client.post(URL, json={"texts": ["1", "2"], "model": "b", "max_words": 7, "min_words": 2})
    assert several.json() == {"model": "b", "summaries": [{"summary": "b|7|2|1"}, {"summary": "b|7|2|2"}]}


def test_alternatives_explanations_and_faithful_summaries_on_request(client: httpx.Client) -> None:
    def answer(**options: object) -> object:
        return client.post(URL, json={"text": "One two", **options}).json()["summaries"][0]

    words = [
        {"text": "One", "copied": True, "source": 0, "probability": 0.5, "unsupported": False},
        {"text": "news", "copied": False, "source": None, "probability": None, "unsupported": False},
        {"text": "42", "copied": False, "source": 0, "probability": 0.25, "unsupported": True},
    ]
    summary = "a|None|None|One two"
    explanation = {"words": words, "probability": 0.5}
    others = [f"{summary} 2", f"{summary} 3"]
    assert answer(n_best=1, explain=False) == {"summary": summary}
    assert answer(n_best=3) == {"summary": summary, "alternatives": [{"summary": other} for other in others]}
    assert answer(explain=True) == {"summary": summary, **explanation, "source_words": ["One", "two"]}
    assert answer(explain=True, n_best=3) == {
        "summary": summary,
        **explanation,
        "source_words": ["One", "two"],
        "alternatives": [{"summary": other, **explanation} for other in others],
    }
    assert answer(faithful=True) == {"summary": "a faithful|None|None|One two"}


def test_models_health_and_metrics(client: httpx.Client) -> None:
    listed = client.get("/v1/models").json()
    assert (listed["default"], [model["name"] for model in listed["models"]]) == ("a", ["a", "b"])
    assert listed["default_reason"] == "the first"
    assert listed["models"][1] == {"name": "b", "title": "b", "description": "", "family": "b", "loop": 0}
    assert client.get("/healthz").json() == {"status": "ok"}
    client.post(URL, json={"texts": ["1", "2"], "model": "b"})
    client.get("/nowhere/else")
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    for part in (
        'nutgraf_requests_total{path="/v1/summarize",status="200"}',
        'nutgraf_requests_total{path="other",status="404"}',
        'nutgraf_texts_total{model="b"}',
        "nutgraf_queue_texts 0.0\n",
        'nutgraf_batch_texts_bucket{le="2.0"}',
        'nutgraf_request_seconds_bucket{le="+Inf"}',
    ):
        assert part in metrics.text


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"{", 400, "invalid_json"),
        (b'{"text": "\xff\xfe"}', 400, "invalid_json"),
        (b'{"text": "\\ud800"}', 400, "invalid_json"),
        (b"[" * 1500, 400, "invalid_json"),
        (b'{"texts": ' + b"[" * 900 + b"]" * 900 + b"}", 400, "invalid_json"),
        (b"null", 422, "invalid_request"),
        (b"[]", 422, "invalid_request"),
        (b"{}", 422, "invalid_request"),
        (b'{"text": 5}', 422, "invalid_request"),
        (b'{"text": null}', 422, "invalid_request"),
        (b'{"texts": "not a list"}', 422, "invalid_request"),
        (b'{"texts": []}', 422, "invalid_request"),
        (b'{"texts": ["x", null]}', 422, "invalid_request"),
        (b'{"text": "x", "texts": ["y"]}', 422, "invalid_request"),
        (b'{"text": "x", "max_words": NaN}', 422, "invalid_request"),
        (b'{"text": "x", "max_words": "5"}', 422, "invalid_request"),
        (b'{"text": "x", "max_words": true}', 422, "invalid_request"),
        (b'{"text": "x", "max_words": 0}', 422, "invalid_request"),
        (b'{"text": "x", "max_words": 1' + b"0" * 400 + b"}", 422, "invalid_request"),
        (b'{"text": "x", "max_words": 3, "min_words": 4}', 422, "invalid_request"),
        (b'{"text": "x", "max_word": 3}', 422, "invalid_request"),
        (b'{"text": ""}', 422, "empty_text"),
        (b'{"texts": ["x", " \\n"]}', 422, "empty_text"),
        (b'{"text": "x", "model": "c"}', 422, "unknown_model"),
        (b'{"text": "x", "model": "../../etc"}', 422, "unknown_model"),
        (b'{"text": "x", "n_best": 0}', 422, "invalid_request"),
        (b'{"text": "x", "n_best": 11}', 422, "invalid_request"),
        (b'{"text": "x", "n_best": 2.5}', 422, "invalid_request"),
        (b'{"text": "x", "explain": 1}', 422, "invalid_request"),
        (b'{"text": "x", "faithful": "yes"}', 422, "invalid_request"),
        (b'{"texts": ["1", "2", "3", "4"]}', 422, "too_many_texts"),
        (json.dumps({"text": "x " * 21}).encode(), 422, "text_too_long"),
        (json.dumps({"text": "x" * (LONGEST_WORD + 1)}).encode(), 422, "text_too_long"),
        (json.dumps({"text": "x" * 2000}).encode(), 413, "body_too_large"),
    ],
)
def test_a_bad_request_gets_an_error_that_says_why(client: httpx.Client, body: bytes, status: int, code: str) -> None:
    response = client.post(URL, content=body, headers={"Content-Type": "application/json"})
    assert check_error(response, status, code)


def test_a_message_does_not_repeat_the_whole_request(client: httpx.Client) -> None:
    message = check_error(client.post(URL, json={"text": "x", "k" * 1500: 1}), 422, "invalid_request")
    assert len(message) < 500


def test_errors_of_routing_are_json_too(client: httpx.Client) -> None:
    assert check_error(client.get("/nowhere"), 404, "not_found")
    assert check_error(client.get("/static/../app.py"), 404, "not_found")
    assert check_error(client.get("/static/%2e%2e/app.py"), 404, "not_found")
    assert check_error(client.get(URL), 405, "method_not_allowed")
    assert check_error(client.post(URL, content=b'{"text": "x"}'), 415, "unsupported_media_type")


def test_a_body_of_unknown_length_is_limited(client: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 500

    response = client.post(URL, content=chunks(), headers={"Content-Type": "application/json"})
    assert check_error(response, 413, "body_too_large")


def test_an_internal_error_keeps_its_details_in_the_log_and_the_server_goes_on(client: httpx.Client) -> None:
    answer = client.post(URL, json={"text": "fail"})
    assert "secret" not in check_error(answer, 500, "internal")
    assert answer.headers["Connection"] == "close"
    assert client.post(URL, json={"text": "fine"}).status_code == 200


def test_a_full_queue_says_when_to_retry() -> None:
    slow = Echo("slow")
    with running(models(slow), Limits(texts=1, queue=1, wait=0)) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, URL, json={"text": "1"})
        assert slow.begun.wait(60)  # the first is being computed, the second waits, the third finds no room
        second = httpx.Client(base_url=client.base_url, timeout=60)
        with ThreadPoolExecutor(1) as other:
            waiting = other.submit(second.post, URL, json={"text": "2"})
            while "nutgraf_queue_texts 1.0\n" not in client.get("/metrics").text:
                pass
            third = client.post(URL, json={"text": "3"})
            slow.go.set()
            assert waiting.result().status_code == first.result().status_code == 200
        second.close()
    assert check_error(third, 503, "queue_full")
    assert int(third.headers["Retry-After"]) >= 1


def test_a_request_that_takes_too_long_times_out() -> None:
    slow = Echo("slow")
    with running(models(slow), Limits(seconds=0.05, wait=0)) as client:
        assert check_error(client.post(URL, json={"text": "computed"}), 504, "timeout")
        assert check_error(client.post(URL, json={"text": "waiting"}), 504, "timeout")
        slow.go.set()
    assert slow.batches == [["computed"]]  # a request that timed out in the queue is not computed


def test_shutting_down_finishes_running_requests() -> None:
    slow = Echo("slow")
    with ThreadPoolExecutor(1) as pool:
        with running(models(slow)) as client:
            url = client.base_url.join(URL)
            pending = pool.submit(httpx.post, url, json={"text": "last"}, timeout=60)
            assert slow.begun.wait(60)
            Timer(0.2, slow.go.set).start()  # after the server began to shut down
        assert pending.result().json()["summaries"] == [{"summary": "slow|None|None|last"}]


def test_two_apps_in_one_process_count_apart() -> None:
    with running(models(echo())) as one, running(models(echo())) as other:
        one.post(URL, json={"texts": ["1", "2"]})
        assert 'nutgraf_texts_total{model="a"} 2.0\n' in one.get("/metrics").text
        assert "nutgraf_texts_total{" not in other.get("/metrics").text


def test_openmetrics_for_those_who_ask(client: httpx.Client) -> None:
    metrics = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert metrics.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert metrics.text.endswith("# EOF\n")


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz"])
def test_head_answers_like_get_without_a_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))


def test_the_key() -> None:
    with running(models(echo()), key="right") as client:
        for sent in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic right"}):
            for response in (
                client.post(URL, json={"text": "x"}, headers=sent),
                client.get("/v1/models", headers=sent),
                client.get("/metrics", headers=sent),
            ):
                assert check_error(response, 401, "unauthorized")
                assert response.headers["WWW-Authenticate"] == "Bearer"
        wrong = {b"Authorization": "Bearer r\u00efght".encode("latin-1")}
        assert client.get("/v1/models", headers=wrong).status_code == 401
        assert client.post(URL, json={"text": "x"}, headers={"Authorization": "Bearer right"}).status_code == 200
        for free in ("/healthz", "/", "/static/page.js", "/docs", "/openapi.json"):
            assert client.get(free).status_code == 200
