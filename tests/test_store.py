"""Inputs in a store: a real server of S3, on loopback."""

import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from nutgraf.errors import InputError, MissingExtraError
from nutgraf.run import inputs
from nutgraf.run.inputs import as_files, cut_source, read_again, read_inputs, read_pairs_source, read_source
from nutgraf.store import is_url
from nutgraf.text.reading import read_blocks, read_lines, read_whole
from tests.cli.commands import Capture, run
from tests.storing import client, free_port, needs_server, new_bucket, use_s3

pytestmark = needs_server
LINES = "".join(f"Line {i} of a text .\n" for i in range(1_000))


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with use_s3():
        yield


@pytest.fixture
def bucket(server: None) -> str:
    return new_bucket()


def put(url: str, content: bytes | str) -> str:
    client().pipe_file(url, content if isinstance(content, bytes) else content.encode())
    return url


def test_what_names_an_object() -> None:
    assert is_url("s3://bucket/texts.txt")
    assert is_url("gs://bucket/texts.txt")
    assert not any(is_url(path) for path in ("texts.txt", "a/b://c", "-", "hf:name:column", "C://x", "://x", "s3://"))


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_an_object_is_the_same_input_as_the_file(bucket: str, tmp_path: Path, ending: str) -> None:
    (tmp_path / "texts.txt").write_text(LINES)
    raw = LINES.encode()
    packed = {"": raw, ".gz": gzip.compress(raw), ".xz": lzma.compress(raw)}[ending]
    stored = read_source(put(f"{bucket}/texts.txt{ending}", packed))
    assert stored.digest == read_source(str(tmp_path / "texts.txt")).digest
    assert stored.path == stored.absolute().path == f"{bucket}/texts.txt{ending}"
    assert list(read_again(stored)) == LINES.splitlines()
    assert [line for block in read_blocks(stored.path, 7) for line in block] == LINES.splitlines()
    assert read_whole(stored.path) == LINES


def test_a_large_object_is_cut_as_a_file_is(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PART_BYTES", 5_000)
    (tmp_path / "texts.txt").write_text(LINES)
    parts = cut_source("texts", read_source(put(f"{bucket}/texts.txt", LINES)))
    assert [part.span for part in parts] == [
        part.span for part in cut_source("texts", read_source(str(tmp_path / "texts.txt")))
    ]
    assert len(parts) > 2
    assert [line for part in parts for line in read_again(part.source, span=part.span)] == LINES.splitlines()


def test_an_object_that_has_changed_is_found(bucket: str) -> None:
    source = read_source(put(f"{bucket}/texts.txt", LINES))
    put(f"{bucket}/texts.txt", LINES.replace("999", "998"))
    with pytest.raises(InputError, match=r"s3://bucket-\d+/texts\.txt: changed while the run was under way"):
        list(read_again(source))


def test_all_inputs_may_be_objects(bucket: str) -> None:
    texts, summaries = put(f"{bucket}/texts.txt", LINES), put(f"{bucket}/titles.txt", "One title .\nTwo titles .\n")
    pairs = put(f"{bucket}/pairs.tsv", "A text .\tA title .\n")
    found, warnings = read_inputs(texts, summaries, valid=pairs, aligned=pairs)
    assert [found.texts.lines, found.summaries.lines, found.valid and found.valid.lines] == [1_000, 2, 1]
    assert not warnings
    assert read_pairs_source(pairs)[1] == [("A text .", "A title .")]
    with as_files(texts, pairs) as files:
        assert files == [texts, pairs]
    with pytest.raises(InputError, match="the same file"):
        read_inputs(texts, texts)


def test_what_is_no_object_is_named(bucket: str) -> None:
    put(f"{bucket}/folder/texts.txt", LINES)
    for url in (f"{bucket}/missing.txt", "s3://no-such-bucket/texts.txt"):
        with pytest.raises(InputError, match=rf"{url}: no such object, or no such bucket"):
            read_lines(url)
    with pytest.raises(InputError, match="a folder; expected a text file"):
        read_lines(f"{bucket}/folder")
    with pytest.raises(InputError, match="Protocol not known: nosuch"):
        read_lines("nosuch://bucket/texts.txt")
    with pytest.raises(InputError, match="ends too early"):
        list(read_lines(put(f"{bucket}/short.txt.gz", gzip.compress(LINES.encode())[:-9])))


def test_a_store_that_is_gone_is_one_line(server: None, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    client().clear_instance_cache()
    texts = ("--texts", "s3://bucket/a.txt", "--summaries", "s3://bucket/b.txt")
    assert run("train", *texts, "--out", "nowhere") == 2
    client().clear_instance_cache()
    message = capsys.readouterr().err
    assert message.startswith("error: s3://bucket/a.txt: the store cannot be used: Could not connect to the endpoint")
    assert message.count("\n") == 1
    assert not Path("nowhere").exists()


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutgraf.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"s3://bucket/a needs the store extra: pip install '\.\[store\]'"):
        read_lines("s3://bucket/a")
