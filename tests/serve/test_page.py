"""The page: its headers and that nothing can be injected. `test_browser.py` uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from nutgraf.serve.app import STATIC
from tests.serve.serving import echo, models, running

FILES = sorted(STATIC.iterdir())


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with running(models(echo("mu1-0"), echo("all-2"))) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/static/page.js", "/static/style.css", "/nowhere"])
def test_security_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_everything_that_the_page_names_is_served(client: httpx.Client) -> None:
    page = client.get("/").text
    named = re.findall(r'(?:href|src)="(/[^"]*)"', page)
    assert {"/static/style.css", "/static/page.js", "/docs"} <= set(named)
    for path in named:
        assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_comes_from_another_host(path: Path) -> None:
    text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text)


def test_nothing_can_be_injected() -> None:
    script = (STATIC / "page.js").read_text("utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert way not in script
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
    assert set(schema["paths"]) == {"/v1/summarize", "/v1/models", "/metrics", "/healthz"}
    for path in schema["paths"]:
        assert path in docs
    for field in ("text", "texts", "model", "max_words", "min_words", "n_best", "explain", "faithful"):
        assert f"<code>{field}</code>" in docs
    assert "<script" not in docs
