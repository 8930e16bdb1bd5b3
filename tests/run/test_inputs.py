import sys
from itertools import chain
from pathlib import Path

import pytest

from nutgraf.errors import InputError
from nutgraf.run import inputs
from nutgraf.run.inputs import (
    Part,
    as_files,
    cut_source,
    read_again,
    read_pairs_again,
    read_pairs_source,
    read_source,
)
from tests.text.test_hub import FakeDatasets


def test_lists_generators_and_columns_become_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", FakeDatasets())
    (tmp_path / "file").write_text("a  b\nc d\n")
    with as_files(["a  b", "", "c\nd "], (word for word in ("e", "f")), "hf:news/en:text", tmp_path / "file") as files:
        made = [Path(file) for file in files if file]
        assert [file.read_text("utf-8") for file in made] == [
            "a  b\n\nc d\n",
            "e\nf\n",
            "two lines\nZoë\n",
            "a  b\nc d\n",
        ]
        assert [file.name for file in made] == ["python.txt", "python.txt", "hf-news-en-text.txt", "file"]
        # The same lines are the same input, wherever they come from.
        assert read_source(str(made[0])).digest == read_source(str(made[3])).digest
    assert [file.exists() for file in made] == [False, False, False, True]


def test_what_is_no_text_is_named() -> None:
    with pytest.raises(InputError, match="text 1: expected a string, not NoneType"), as_files(["a", None]):  # type: ignore[list-item]
        pass
    with pytest.raises(InputError, match="one file only"), as_files("-", "-"):
        pass


def test_lines_that_changed_since_their_digest_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("one\ntwo\nthree\n")
    source = read_source(str(path))
    assert list(read_again(source)) == ["one", "two", "three"]
    assert list(read_again(source, 2)) == ["one", "two"]
    path.write_text("one\ntwo\nfour\n")
    for most in (0, 2):  # also if the line that changed is not wanted
        with pytest.raises(InputError, match=r"texts\.txt: changed while"):
            list(read_again(source, most))


def test_pairs_that_changed_since_their_digest_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tc\n\nd\te\n")
    source, pairs = read_pairs_source(str(path))
    assert source == read_source(str(path))
    assert pairs == read_pairs_again(source) == [("a b", "c"), ("d", "e")]
    assert read_pairs_again(source, 1) == pairs[:1]
    path.write_text("a b\tc\n\nd\tf\n")
    with pytest.raises(InputError, match=r"pairs\.tsv: changed while"):
        read_pairs_again(source, 1)


def test_the_parts_of_a_large_file_are_its_lines_each_with_a_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "PART_BYTES", 100)
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line number {n}\n" for n in range(50)) + "\n" * 200)
    source = read_source(str(path))
    parts = cut_source("texts", source)
    assert len(parts) > 5
    assert [*chain(*(read_again(part.source, span=part.span) for part in parts))] == [*read_again(source)]
    assert (sum(part.source.lines for part in parts), parts[-1].source.lines) == (50, 0)
    # A part of a file that has changed is refused by who reads it, and a changed file by who cuts it.
    path.write_text(path.read_text().replace("number 49", "number 94"))
    *same, changed = [part for part in parts if part.source.lines]
    assert len([*read_again(same[0].source, span=same[0].span)]) == same[0].source.lines
    with pytest.raises(InputError, match="changed while the run was under way"):
        list(read_again(changed.source, span=changed.span))
    with pytest.raises(InputError, match="changed while the run was under way: 50 lines"):
        cut_source("texts", source)


def test_a_small_file_and_the_first_lines_of_one_are_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo\nthree\n")
    assert cut_source("texts", read_source(str(path))) == [Part("texts", read_source(str(path)))]
    monkeypatch.setattr(inputs, "PART_BYTES", 5)
    first = read_source(str(path), 2)
    assert cut_source("texts", first) == [Part("texts", first)]
