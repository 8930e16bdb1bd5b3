import sys
from pathlib import Path

import pytest

from nutgraf.errors import InputError
from nutgraf.run.inputs import as_files, read_again, read_pairs_again, read_pairs_source, read_source
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
