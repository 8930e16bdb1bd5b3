from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import threading
from itertools import islice
from pathlib import Path

import pytest

from nutgraf.errors import InputError
from nutgraf.text.reading import WHOLE, check_unaligned, cut_file, read_blocks, read_lines, read_pairs, read_whole


def written(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_plain_gz_xz_and_standard_input_give_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "Ford's profit\nZoë pays €3\n".encode()
    expected = ["Ford's profit", "Zoë pays €3"]
    assert list(read_lines(written(tmp_path / "a.txt", content))) == expected
    assert list(read_lines(written(tmp_path / "a.txt.gz", gzip.compress(content)))) == expected
    assert list(read_lines(written(tmp_path / "a.txt.xz", lzma.compress(content)))) == expected
    piped(monkeypatch, content)
    assert list(read_lines("-")) == expected


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "one\u2028two\x0bthree\x85four\rfive\r\nsix\u00a0seven\teight\n\n  \nlast")
    assert list(read_lines(path)) == ["one two three four five", "six seven eight", "last"]


def test_the_byte_order_mark_and_invisible_characters_are_dropped(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"\xef\xbb\xbfone\nt\xc2\xadw\xe2\x80\x8bo\n")
    assert list(read_lines(path)) == ["one", "two"]


def test_a_limit_may_be_larger_than_any_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert [*read_lines(str(tmp_path / "a.txt"), 10**30)] == ["one", "two"]
    assert [*read_pairs(str(tmp_path / "a.tsv"), 10**30)] == [("a", "b")]


def test_the_limit_counts_lines_that_are_not_blank(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path / "a.txt", "a\n\nb\nc\n"), limit=2)) == ["a", "b"]


def test_lines_come_as_a_stream(tmp_path: Path) -> None:
    # The bad byte comes later than what is asked for, so it is not reached.
    path = written(tmp_path / "a.txt", b"one\n" * 10_000 + b"\xff\n")
    assert list(islice(read_lines(path), 3)) == ["one"] * 3
    with pytest.raises(InputError, match="line 10001, byte 1"):
        list(read_lines(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n  \n\t\n", "empty, or blank lines only"),
        (b"fine\nso\0me\n", r"line 2, byte 3 is zero: a binary file"),
        (b"fine\nfine\ncaf\xe9 prices\n", r"line 3, byte 4 is 0xe9: not UTF-8.*iconv -f latin1 -t utf-8"),
        (b"x" * (1 << 20) + b"\n", "line 1: longer than"),
        (gzip.compress(b"text\n", mtime=0), r"gzip data: give it the ending .gz"),
        (lzma.compress(b"text\n"), r"xz data: give it the ending .xz"),
        (b"PK\x03\x04rest", "zip archive"),
    ],
)
def test_what_is_not_text_is_named_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path / "bad.txt", content)
    with pytest.raises(InputError, match=message) as error:
        list(read_lines(path))
    assert "bad.txt" in str(error.value)


def test_a_missing_file_and_a_directory_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_lines(str(tmp_path / "none.txt"))
    with pytest.raises(InputError, match="a directory"):
        read_lines(str(tmp_path))


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_damaged_compressed_files(tmp_path: Path, ending: str, pack: object) -> None:
    assert callable(pack)
    whole = pack("".join(f"line number {i}\n" for i in range(2000)).encode())
    with pytest.raises(InputError, match="ends too early"):
        list(read_lines(written(tmp_path / f"cut{ending}", whole[: len(whole) // 2])))
    with pytest.raises(InputError, match="damaged, or not what its ending says"):
        list(read_lines(written(tmp_path / f"plain{ending}", "just some text that was never packed\n")))
    middle = len(whole) // 2
    broken = whole[:middle] + bytes(byte ^ 0xFF for byte in whole[middle : middle + 8]) + whole[middle + 8 :]
    with pytest.raises(InputError):
        list(read_lines(written(tmp_path / f"broken{ending}", broken)))


def test_empty_standard_input_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"\n")
    with pytest.raises(InputError, match="standard input: empty"):
        list(read_lines("-"))


def test_pairs(tmp_path: Path) -> None:
    path = written(tmp_path / "pairs.tsv.gz", gzip.compress(b"a long text\tshort\r\n\nanother one \t two\n"))
    assert read_pairs(path) == [("a long text", "short"), ("another one", "two")]
    assert read_pairs(path, limit=1) == [("a long text", "short")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\nno tab\n", "line 2: 1 columns"),
        ("a\tb\tc\n", "line 1: 3 columns"),
        ("a\tb\n\na\t \n", "line 3: an empty column"),
        ("\n", "empty; expected"),
    ],
)
def test_bad_pairs_are_named_by_their_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pairs(written(tmp_path / "pairs.tsv", content))


def news(tmp_path: Path) -> tuple[str, str]:
    """Twenty texts and the summary of each, in the same order."""
    names = [f"company{i} city{i} product{i}" for i in range(20)]
    texts = "".join(f"the firm {name} said on monday that it will grow\n" for name in names)
    summaries = "".join(f"{name} to grow\n" for name in names)
    return written(tmp_path / "texts.txt", texts), written(tmp_path / "summaries.txt", summaries)


def test_aligned_pairs_passed_as_unaligned_files_are_warned_of(tmp_path: Path) -> None:
    texts, summaries = news(tmp_path)
    (warning,) = check_unaligned(texts, summaries)
    assert "look like aligned pairs" in warning


def test_the_same_summaries_in_another_order_are_no_cause_for_a_warning(tmp_path: Path) -> None:
    texts, summaries = news(tmp_path)
    lines = Path(summaries).read_text().splitlines(keepends=True)
    other = written(tmp_path / "other.txt", "".join(lines[7:] + lines[:7]))
    assert check_unaligned(texts, other) == []


def test_the_same_file_under_another_name_is_refused(tmp_path: Path) -> None:
    texts, _ = news(tmp_path)
    (tmp_path / "link.txt").symlink_to(texts)
    for other in (texts, str(tmp_path / "." / "link.txt")):
        with pytest.raises(InputError, match="the same file"):
            check_unaligned(texts, other)


def test_one_line_or_none_is_refused(tmp_path: Path) -> None:
    texts, summaries = news(tmp_path)
    one = written(tmp_path / "one.txt", "a single line\n\n")
    with pytest.raises(InputError, match=r"one\.txt: only one line"):
        check_unaligned(texts, one)
    with pytest.raises(InputError, match=r"none\.txt: empty"):
        check_unaligned(written(tmp_path / "none.txt", ""), summaries)


def test_standard_input_is_left_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, _ = news(tmp_path)
    piped(monkeypatch, b"one\ntwo\n")
    assert check_unaligned(texts, "-") == []
    assert list(read_lines("-")) == ["one", "two"]
    with pytest.raises(InputError, match="both standard input"):
        check_unaligned("-", "-")


def test_a_named_pipe_is_read_only_once(tmp_path: Path) -> None:
    texts, _ = news(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert check_unaligned(texts, str(pipe)) == []  # would hang if it were opened: nobody writes yet
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo\n",))
    writer.start()
    assert list(read_lines(str(pipe))) == ["one", "two"]
    writer.join()


def test_a_file_is_read_in_full_blocks_with_its_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\n\ntwo\nthree\n\xc2\xa0\nlast")
    assert list(read_blocks(path, 4)) == [["one", "", "two", "three"], [""], ["last"]]  # the last may yet have an end
    assert list(read_blocks(written(tmp_path / "a.gz", gzip.compress(b"one\ntwo\n")), 4)) == [["one", "two"]]
    assert list(read_blocks(written(tmp_path / "empty", b""), 4)) == []
    long = written(tmp_path / "long.txt", b"".join(b"%d %s\n" % (i, b"x" * 999) for i in range(300)))
    assert [line.split()[0] for block in read_blocks(long, 256) for line in block] == [str(i) for i in range(300)]


def test_lines_of_a_slow_pipe_come_one_by_one_and_those_of_a_fast_one_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, sink = os.pipe()
    with os.fdopen(source) as stdin, os.fdopen(sink, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        blocks = read_blocks("-", 256)
        pipe.write(b"one\n")
        assert next(blocks) == ["one"]
        pipe.write(b"two\nthr")
        assert next(blocks) == ["two"]
        pipe.write(b"ee\nfour\n")
        assert next(blocks) == ["three", "four"]
        pipe.write(b"last")
        pipe.close()
        assert next(blocks) == ["last"]
        assert next(blocks, None) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\ncaf\xe9 prices\n", "line 2, byte 4"),
        (b"fine\n" + b"x" * (1 << 20) + b"\n", "line 2: longer than"),
        (b"x" * (1 << 21), "line 1: longer than"),
        (lzma.compress(b"text\n"), "xz data"),
    ],
)
def test_blocks_refuse_what_lines_do(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"bad\.txt.*{message}"):
        list(read_blocks(written(tmp_path / "bad.txt", content), 256))


def test_a_whole_file(tmp_path: Path) -> None:
    assert read_whole(written(tmp_path / "a.txt", b"\xef\xbb\xbfone\n\ntwo\n")) == "one\n\ntwo\n"
    with pytest.raises(InputError, match="line 2, byte 1 is zero"):
        read_whole(written(tmp_path / "b.txt", b"one\n\0"))


@pytest.mark.parametrize("size", [1, 7, 25, 60])
def test_the_spans_of_a_file_are_its_lines(tmp_path: Path, size: int) -> None:
    content = "\ufeffone two\n\n  \nthree\r\nfour five six seven\n\u00e4\u00f6\u00fc\nlast".encode()
    path = written(tmp_path / "lines.txt", content)
    spans = cut_file(path, size)
    found = [[*read_lines(path, span=span)] for span in spans]
    assert [line for lines in found for line in lines] == [*read_lines(path)]
    assert [content[span.start : span.stop] for span in spans] == [
        b"".join(content.splitlines(keepends=True)[span.line - 1 : stop])
        for span, stop in zip(spans, [*(span.line - 1 for span in spans[1:]), None], strict=True)
    ]
    assert len(spans) == {1: 7, 7: 5, 25: 2, 60: 1}[size]


def test_a_line_of_a_span_that_is_not_text_is_named_by_its_number_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "lines.txt", b"one\ntwo\nthree \xff\n")
    with pytest.raises(InputError, match=r"line 3, byte 7 is 0xff"):
        list(read_lines(path, span=cut_file(path, 5)[1]))


def test_a_compressed_file_is_one_span(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 100))
    assert cut_file(str(path), 10) == [WHOLE]
