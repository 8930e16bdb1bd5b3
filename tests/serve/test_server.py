"""The command, with a real run and real signals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from nutgraf import cli
from nutgraf.errors import NutgrafError, RunError
from nutgraf.run.folder import Run
from nutgraf.serve.models import Models
from nutgraf.serve.server import KEY, listen, read_key
from nutgraf.summarizing.export import write
from nutgraf.summarizing.results import SummaryResult
from nutgraf.summarizing.summarizer import Summarizer
from tests.serve.serving import URL, running

TEXTS = ["Tarvolin Corp said on Monday that sales rose 5 percent.", "A fire in Port Belano killed 3 people on Friday."]
OPTIONS: list[dict[str, object]] = [{}, {"n_best": 3}, {"explain": True}, {"n_best": 3, "explain": True}]
CPU = torch.device("cpu")


@contextmanager
def command(run: Run, *more: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Run `nutgraf serve` on a free port; yield the process, its address and what it printed."""
    arguments = [sys.executable, "-m", "nutgraf.cli", "serve", "--model", str(run.folder), "--port", "0", *more]
    environment = {name: value for name, value in os.environ.items() if name != KEY} | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr
        try:
            lines = [process.stderr.readline()]
            while not (found := re.search(r"http://\S+", lines[-1])):
                lines.append(process.stderr.readline())
                assert lines[-1], f"the server did not start: {lines}"
            yield process, found[0].rstrip("/"), "".join(lines)
        finally:
            process.kill()


def _await_queue(url: str, pending: Sequence[Future[httpx.Response]]) -> None:
    """Return when texts wait in the queue, or when a request was answered already."""
    while "nutgraf_queue_texts 0.0\n" in httpx.get(f"{url}/metrics", timeout=60).text:
        if any(one.done() for one in pending):
            return


def test_sigterm_finishes_running_requests(finished: Run) -> None:
    asked = {"texts": TEXTS * 8, "model": "all-2"}
    options = "--threads", "1", "--wait-ms", "500"
    with command(finished, *options) as (process, url, printed), ThreadPoolExecutor(1) as pool:
        assert re.search(r"^Models: .*mu1-2, all-2; default all-2 \(.*not evaluated yet\)$", printed, re.MULTILINE)
        pending = pool.submit(httpx.post, url + URL, json=asked, timeout=120)
        _await_queue(url, [pending])
        process.send_signal(signal.SIGTERM)
        assert len(pending.result().json()["summaries"]) == 16
        assert process.wait() == -signal.SIGTERM


def test_one_request_does_not_block_the_others_and_sigterm_is_bounded(finished: Run) -> None:
    hostile = {"texts": ["word " * 80] * 64, "min_words": 255, "max_words": 255, "n_best": 10, "explain": True}
    options = "--threads", "1", "--timeout", "3", "--max-work", "100000000"
    with command(finished, *options) as (process, url, _), ThreadPoolExecutor(4) as pool:
        assert httpx.post(url + URL, json=hostile, timeout=60).status_code == 504
        assert httpx.post(url + URL, json={"text": TEXTS[0]}, timeout=60).status_code == 200  # the work was stopped
        pending = [pool.submit(httpx.post, url + URL, json=hostile, timeout=60) for _ in range(3)]
        _await_queue(url, pending)
        process.send_signal(signal.SIGTERM)
        assert process.wait(3 + 5 + 5) == -signal.SIGTERM  # the time limit, and what the docs promise beyond it
        for one in pending:
            assert one.exception() or one.result().status_code in (200, 503, 504)


def test_too_much_work_is_refused_before_it_starts(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_texts, asked = Summarizer.answer, list[int]()

    def count(self: Summarizer, texts: Sequence[str], *more: Any) -> list[SummaryResult]:
        asked.append(len(texts))
        return answer_texts(self, texts, *more)

    monkeypatch.setattr(Summarizer, "answer", count)
    with running(Models.load(finished.folder, ("all-2",), CPU)) as client:
        asked.clear()  # of texts to warm up with
        hostile = {"text": "word " * 80, "min_words": 240, "max_words": 240, "n_best": 10, "explain": True}
        answer = client.post(URL, json=hostile)
        assert answer.status_code == 422
        assert answer.json()["error"]["code"] == "too_much_work"
        assert asked == []
        assert client.post(URL, json={"texts": TEXTS * 32, "max_words": 10, "min_words": 5}).status_code == 200
        assert asked == [64]


def test_the_same_strings_as_from_python(finished: Run) -> None:
    served = Models.load(finished.folder, (), CPU)
    with running(served) as client:
        assert client.get("/v1/models").json()["default"] == "all-2"
        for name in ("mu1-0", "all-2"):
            summarizer = Summarizer.load(finished.folder, name)
            for faithful in (None, True):
                asked: dict[str, object] = {"texts": TEXTS, "model": name, "max_words": 6, "faithful": faithful}
                for options in OPTIONS:
                    answer = client.post(URL, json={**asked, **options}).json()
                    expected = summarizer(TEXTS, 6, faithful=faithful)
                    assert [summary["summary"] for summary in answer["summaries"]] == expected
                explained = summarizer.explain(TEXTS, 6, faithful=faithful, n_best=3)
                for body, result in zip(answer["summaries"], explained, strict=True):
                    assert body["source_words"] == list(result.source)
                    for one, other in zip((body, *body["alternatives"]), result.summaries, strict=True):
                        assert (one["summary"], one["probability"]) == (other.text, other.probability)
                        assert one["words"] == [asdict(word) for word in other.words]
        beyond = client.post(URL, json={"text": TEXTS[0], "max_words": 999})
        assert beyond.status_code == 422
        assert "expected 1 <= min_words <= max_words" in beyond.json()["error"]["message"]


def test_which_models_are_served(finished: Run) -> None:
    assert list(Models.load(finished.folder, (), CPU).by_name) == finished.summarizers()
    assert list(Models.load(finished.folder / "mu1-2", (), CPU).by_name) == ["mu1-2"]
    assert list(Models.load(finished.folder, ("mu1-0", "dbae-0"), CPU).by_name) == ["mu1-0", "dbae-0"]
    for name in ("no-such", "mu1-1", "text"):  # an expander would answer, with longer texts
        with pytest.raises(RunError, match=f"no summarizer {name}"):
            Models.load(finished.folder, (name,), CPU)


def test_the_default_model_and_why(finished: Run) -> None:
    def default(path: Path, *names: str) -> tuple[str, str]:
        chosen = Models.load(path, names, CPU).default
        return chosen.name, chosen.reason

    assert default(finished.folder) == ("all-2", "the last one trained; it is not evaluated yet")
    assert default(finished.folder, "mu1-0", "dbae-0") == ("mu1-0", "the run's best model is not served")
    assert default(finished.folder / "mu1-2") == ("mu1-2", "the only model served")
    assert default(finished.folder / "mu1-2", "all-2", "mu1-2") == ("mu1-2", "the model that --model names")


# What training and evaluation need, and serving does not.
TRAINING = (
    "gensim", "ot", "rouge_score", "matplotlib", "sklearn", "nutgraf.backtranslation", "nutgraf.evaluation",
    "nutgraf.report", "nutgraf.learning.loop", "nutgraf.models.dbae", "nutgraf.models.moment_matching",
    "nutgraf.models.pr_thr",
)  # fmt: skip
SERVE = """
import sys, torch, nutgraf.cli
from pathlib import Path
from nutgraf.serve.models import Models
from nutgraf.serve.server import make_app
from nutgraf.serve.limits import Limits
from nutgraf.summarizing.results import SummaryOptions
for folder in sys.argv[1:]:
    models = Models.load(Path(folder), ["mu1-2", "all-2"], torch.device("cpu"))
    make_app(models, Limits())
    models.by_name["all-2"].answer(["A fire killed 3 people ."], SummaryOptions(explain=True, n_best=2))
print(*sys.modules, sep="\\n")
"""


def test_serving_imports_nothing_of_training(finished: Run, tmp_path: Path) -> None:
    write(finished, tmp_path / "export", ["mu1-2", "all-2"])
    command = [sys.executable, "-c", SERVE, str(finished.folder), str(tmp_path / "export")]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "nutgraf.serve.app" in loaded
    assert [name for name in TRAINING if name in loaded] == []


def test_the_models_have_names_for_people(finished: Run) -> None:
    def titles(path: Path) -> dict[str, str]:
        with running(Models.load(path, (), CPU)) as client:
            return {model["name"]: model["title"] for model in client.get("/v1/models").json()["models"]}

    found = titles(finished.folder)
    assert list(found) == finished.summarizers()
    assert (found["all-2"], found["mu1-0"], found["mu1-2"]) == ("Best", "Cuts only", "Learned from cuts")
    assert titles(finished.folder / "mu1-2") == {"mu1-2": "Learned from cuts"}  # alone, it is not the best
    assert titles(finished.folder / "all-2") == {"all-2": "Best"}


def test_a_port_in_use_is_an_error_that_helps(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        with pytest.raises(SystemExit) as stopped:
            cli.main(["serve", "--model", str(finished.folder), "--port", port])
    assert stopped.value.code == 2
    assert f"--port {port}" in capsys.readouterr().err


def test_an_empty_key_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "")
    with pytest.raises(NutgrafError, match=KEY):
        read_key()
    monkeypatch.setenv(KEY, "k3y")
    assert read_key() == "k3y"
    monkeypatch.delenv(KEY)
    assert read_key() is None
