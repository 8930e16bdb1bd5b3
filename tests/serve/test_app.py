from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Timer

import httpx
import pytest

from nutgraf.serve import app
from nutgraf.serve.access import Access
from nutgraf.serve.limits import LONGEST_WORD, Limits
from nutgraf.serve.log import LOGGER, JsonFormatter
from tests.serve.serving import URL, Agrees, Echo, echo, models, running, wait_for

LIMITS = Limits(body=2000, texts=3, words=20, work=60)


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
    assert answer(explain=True) == {"summary": summary, **explanation, "source_words": ["One", "two"], "skipped": []}
    assert answer(explain=True, n_best=3) == {
        "summary": summary,
        **explanation,
        "source_words": ["One", "two"],
        "skipped": [],
        "alternatives": [{"summary": other, **explanation} for other in others],
    }
    assert answer(faithful=True) == {"summary": "a faithful|None|None|One two"}


def test_what_several_models_agree_on_has_a_score_where_there_are_several_or_it_is_explained() -> None:
    with running(models(Agrees("agreed-2"))) as client:

        def answer(**options: object) -> dict[str, object]:
            found = client.post(URL, json={"text": "One two", **options}).json()["summaries"][0]
            assert isinstance(found, dict)
            return found

        score = {"total": -2.5, "agreement": 0.75, "fluency": 0.25, "expected": None, "content": 0.016, "breaks": None}
        assert "score" not in answer()
        several = answer(n_best=2)
        assert (several["score"], "probability" in several) == (score, False)
        assert several["alternatives"] == [
            {"summary": "agreed-2|None|None|One two 2", "score": score | {"total": -3.5}}
        ]
        explained = answer(explain=True)
        assert (explained["score"], explained["probability"]) == (score, None)


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
        (b'{"texts": ["x", "y"], "max_words": 4, "n_best": 8}', 422, "too_much_work"),
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
    assert check_error(client.get("/static/%00"), 404, "not_found")
    assert check_error(client.get("/static/" + "x" * 5000), 404, "not_found")
    assert check_error(
        client.options("/v1/models", headers={"Origin": "http://evil.example"}), 405, "method_not_allowed"
    )
    assert check_error(client.get(URL), 405, "method_not_allowed")
    for path in ("/v1/models/", "/static"):  # no redirect, which would repeat the Host header
        assert check_error(client.get(path), 404, "not_found")
    assert check_error(client.post(URL, content=b'{"text": "x"}'), 415, "unsupported_media_type")


def test_a_body_of_unknown_length_is_limited(client: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 500

    response = client.post(URL, content=chunks(), headers={"Content-Type": "application/json"})
    assert check_error(response, 413, "body_too_large")


def test_an_internal_error_keeps_its_details_in_the_log_and_the_server_goes_on(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.post(URL, json={"text": "fail"}, headers={"X-Request-ID": "a.b-1"})
    message = check_error(answer, 500, "internal")
    assert "secret" not in message
    assert message.endswith("request a.b-1")
    assert client.post(URL, json={"text": "fine"}).status_code == 200
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    line = json.loads(JsonFormatter().format(record))
    assert (line["event"], line["request"], line["error"]) == ("internal error", "a.b-1", "RuntimeError")
    assert line["where"][-1].endswith(" answer")
    assert "secret" not in json.dumps(line)  # an exception may quote a text


def test_every_answer_has_an_id_and_the_log_has_no_text_and_no_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", LOGGER.name)
    sent = {"Authorization": "Bearer s3same"}
    with running(models(echo()), access=Access(key="s3same")) as client:
        given = client.post(URL + "?private=1", json={"text": "private"}, headers={**sent, "X-Request-ID": "mine"})
        other = client.post(URL, json={"text": "private"}, headers={**sent, "X-Request-ID": "bad id!"})
        client.get("/private?private", headers={"Authorization": "Bearer private"})
    assert given.headers["X-Request-ID"] == "mine"
    assert re.fullmatch("[0-9a-f]{16}", other.headers["X-Request-ID"])
    lines = [JsonFormatter().format(record) for record in caplog.records if record.name == LOGGER.name]
    assert [(json.loads(line)["path"], json.loads(line)["status"]) for line in lines] == [
        (URL, 200),
        (URL, 200),
        ("other", 404),
    ]
    assert json.loads(lines[0])["request"] == "mine"
    assert "private" not in "".join(lines)
    assert "s3same" not in caplog.text


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
        assert check_error(client.post(URL, json={"text": "next"}), 504, "timeout")
        assert slow.stopped.wait(5)  # the time-out stops the work
        wait_for(lambda: len(slow.batches) == 2)


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
    with running(models(echo()), access=Access(key="right")) as client:
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
        for free in ("/healthz", "/readyz", "/", "/static/page.js"):
            assert client.get(free).status_code == 200
        for page in ("/docs", "/openapi.json"):
            asked = client.get(page)
            assert check_error(asked, 401, "unauthorized")
            assert asked.headers["WWW-Authenticate"].startswith("Basic ")
            assert client.get(page, auth=("anyone", "wrong")).status_code == 401
            assert client.get(page, auth=("anyone", "right")).status_code == 200
            assert client.get(page, headers={"Authorization": "Bearer right"}).status_code == 200
        assert client.get("/v1/models", auth=("anyone", "right")).status_code == 401  # browsers send it unasked


def test_another_name_of_the_host_is_refused() -> None:
    with running(models(echo()), access=Access(hosts=frozenset(("news.example",)))) as client:
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "<script>", "localhost.evil.example"):
            for path in ("/", "/v1/models", "/healthz", "/docs"):
                assert check_error(client.get(path, headers={"Host": host}), 421, "unknown_host")
        for host in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:80", "10.0.0.7:1", "News.example.", ""):
            assert client.get("/v1/models", headers={"Host": host}).status_code == 200


def test_only_a_trusted_proxy_says_who_the_client_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", LOGGER.name)
    for access in (Access(), Access(proxies=("127.0.0.1",))):
        with running(models(echo()), access=access) as client:
            client.get("/v1/models", headers={"X-Forwarded-For": "192.0.2.7"})
    clients = [json.loads(JsonFormatter().format(record))["client"] for record in caplog.records]
    assert clients == ["127.0.0.1", "192.0.2.7"]


def test_no_other_site_may_read_answers_unless_it_is_allowed() -> None:
    asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    for access, allowed in ((Access(), None), (Access(origins=("https://a.example",)), "https://a.example")):
        with running(models(echo()), access=access) as client:
            preflight = client.options(URL, headers=asked)
            assert preflight.headers.get("Access-Control-Allow-Origin") == allowed
            assert (preflight.status_code == 200) == bool(allowed)
            answer = client.post(URL, json={"text": "x"}, headers={"Origin": "https://a.example"})
            assert answer.headers.get("Access-Control-Allow-Origin") == allowed
            other = client.post(URL, json={"text": "x"}, headers={"Origin": "https://b.example"})
            assert "Access-Control-Allow-Origin" not in other.headers


def test_a_request_that_nobody_waits_for_is_dropped_at_once() -> None:
    slow = Echo("slow")
    with running(models(slow), Limits(wait=0)) as client:

        def hang_up(text: str) -> None:
            with pytest.raises(httpx.ReadTimeout), httpx.Client(base_url=client.base_url, timeout=0.3) as own:
                own.post(URL, json={"text": text})

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(hang_up, ["1", "2", "3"]))
        assert slow.stopped.wait(5)  # what was being computed
        wait_for(lambda: "nutgraf_queue_texts 0.0\n" in client.get("/metrics").text)
        slow.go.set()
        assert client.post(URL, json={"text": "4"}).status_code == 200
        assert slow.batches[-1] == ["4"]
        assert 'nutgraf_requests_total{path="/v1/summarize",status="499"} 3.0' in client.get("/metrics").text


def test_ready_is_not_the_same_as_alive() -> None:
    slow = Echo("slow")
    with running(models(slow), Limits(texts=1, queue=1, wait=0)) as client, ThreadPoolExecutor(2) as pool:
        assert client.get("/readyz").json() == {"status": "ready"}
        pending = [pool.submit(httpx.post, client.base_url.join(URL), json={"text": "x"}, timeout=60)]
        assert slow.begun.wait(60)
        pending.append(pool.submit(httpx.post, client.base_url.join(URL), json={"text": "x"}, timeout=60))
        wait_for(lambda: client.get("/readyz").status_code == 503)
        assert check_error(client.get("/readyz"), 503, "not_ready")
        assert client.get("/healthz").status_code == 200
        slow.go.set()
        assert [one.result().status_code for one in pending] == [200, 200]


def test_bodies_under_way_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "HELD_BYTES", 1000)
    with running(models(echo())) as client:
        assert check_error(client.post(URL, json={"text": "x " * 600}), 503, "queue_full")
        for _ in range(3):  # what was held is given back
            assert client.post(URL, json={"text": "x " * 300}).status_code == 200
