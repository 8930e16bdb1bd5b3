"""The page: its headers, that nothing can be injected, and, where there is a browser, that it works."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from nutgraf.serve.app import STATIC
from nutgraf.summarizer import Explained, Wishes
from tests.serve.serving import Echo, echo, explained, models, running

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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


def browsed(url: str, profile: Path) -> str:
    """Let a browser run a page; return what became of it."""
    assert BROWSER
    found = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
         "--virtual-time-budget=20000", "--dump-dom", url],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return found.stdout


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_browser_runs_the_page(client: httpx.Client, tmp_path: Path) -> None:
    found = browsed(str(client.base_url), tmp_path)
    assert "<option>all-2</option>" in found
    assert "mu:1" in found


class Teller(Echo):
    """Says what `serving.explained` explains."""

    def answer(self, texts: Sequence[str], wishes: Wishes) -> list[Explained]:
        return [explained(text, f"{text.split()[0]} news 42", wishes.n_best) for text in texts]


TRY = """
const until = (found, then) => {
  const timer = setInterval(() => {
    if (!document.querySelector(found)) return;
    clearInterval(timer);
    then();
  }, 20);
};
until("#model option", () => {
  document.getElementById("text").value = "<b>Fire</b> in town";
  document.getElementById("form").requestSubmit();
  until("#summary [data-word]", () => document.querySelector("#summary [data-word]").dispatchEvent(new Event("focus")));
});
"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_browser_shows_what_a_summary_rests_on(tmp_path: Path) -> None:
    page = (STATIC / "index.html").read_text("utf-8").replace("</head>", '<script src="try.js" defer></script></head>')
    (tmp_path / "page.html").write_text(page, "utf-8")
    (tmp_path / "try.js").write_text(TRY, "utf-8")
    with running(models(Teller("all-2")), tried=tmp_path) as client:
        found = browsed(f"{client.base_url}/try/page.html", tmp_path / "profile")
    fire = "&lt;b&gt;Fire&lt;/b&gt;"
    assert re.search(rf'<span class="kept"[^>]* aria-describedby="note-0 how">{fire}</span>', found)
    assert re.search(r'<mark [^>]*aria-describedby="note-1">news</mark>', found)
    assert re.search(r'<mark class="unsupported"[^>]*>42</mark>', found)
    assert '<span id="note-0">copied from the text, probability 50%</span>' in found
    assert re.search(rf'<span class="kept lit" data-place="0">{fire}</span>', found)
    assert "<strong>42</strong> is a number that is not in the text." in found
    assert len(re.findall(r"<li>(?!<strong>)", found)) == 3  # alternatives
