"""The page: its headers and that nothing can be injected. `test_browser.py` uses it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import fields
from html import unescape
from pathlib import Path

import httpx
import pytest

from nutgraf.models.proposals import Score
from nutgraf.serve.app import STATIC
from nutgraf.serve.docs import REQUEST, RESPONSE, SCORE
from nutgraf.serve.schema import SummarizeRequest, SummarizeResponse
from tests.serve.serving import echo, models, running

FILES = sorted(STATIC.iterdir())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running(models(echo("mu1-0"), echo("all-2"))) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/static/page.js", "/static/style.css", "/nowhere"])
def test_security_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_everything_that_the_page_names_is_served(client: httpx.Client) -> None:
    page = client.get("/").text
    named = re.findall(r'(?:href|src)="(/[^"]*)"', page)
    assert {"/static/style.css", "/static/page.js", "/docs"} <= set(named)
    for path in named:
        assert client.get(path).status_code == 200
    for script in SCRIPTS:
        assert client.get(f"/static/{script.name}").headers["content-type"].startswith("text/javascript")
        for module in re.findall(r'from "\./([^"]+)"', script.read_text("utf-8")):
            assert (STATIC / module).exists()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_comes_from_another_host(path: Path) -> None:
    text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_writes_no_markup(script: Path) -> None:
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert way not in script.read_text("utf-8")


def test_the_page_has_no_scripts_and_styles_of_its_own() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?! src=)|\son\w+=|style=", page)


def test_every_input_has_a_label() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    for name in re.findall(r'<(?:textarea|input|select) id="(\w+)"', page):
        assert f'for="{name}"' in page
    assert 'aria-live="polite"' in page
    assert 'role="alert"' in page


def test_the_docs_follow_the_schema(client: httpx.Client) -> None:
    docs, schema = client.get("/docs").text, client.get("/openapi.json").json()
    assert set(schema["paths"]) == {"/v1/summarize", "/v1/models", "/metrics", "/healthz", "/readyz"}
    for path in schema["paths"]:
        assert path in docs
    for field in ("text", "texts", "model", "max_words", "min_words", "n_best", "explain", "faithful"):
        assert f"<code>{field}</code>" in docs
    assert "<script" not in docs


def test_the_docs_show_this_server_and_an_answer_that_follows_the_schema(client: httpx.Client) -> None:
    docs = unescape(client.get("/docs").text)
    assert f"curl {str(client.base_url).rstrip('/')}/v1/summarize " in docs
    assert REQUEST in docs
    assert RESPONSE in docs
    assert SCORE in docs
    assert set(json.loads(f"{{{SCORE}}}")["score"]) == {field.name for field in fields(Score)}


def test_the_answer_in_the_docs_is_consistent() -> None:
    wanted = SummarizeRequest.model_validate_json(REQUEST)
    (found,) = SummarizeResponse.model_validate_json(RESPONSE.replace("[...]", "[]")).summaries
    assert found.summary == " ".join(word.text for word in found.words)
    assert len(found.words) == wanted.max_words
    assert 1 + len(found.alternatives) == wanted.n_best
    assert wanted.text == "".join([" ".join(found.source_words[:-1]), found.source_words[-1]])
    assert [word.copied for word in found.words] == [word.text in found.source_words for word in found.words]
    copied = [word for word in found.words if word.copied]
    assert [found.source_words[word.source or 0] for word in copied] == [word.text for word in copied]
    probabilities = [word.probability or 0.0 for word in found.words]
    assert found.probability == round(math.prod(probabilities) ** (1 / len(probabilities)), 2)
