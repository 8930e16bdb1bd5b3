import sys
from pathlib import Path

import pytest

from nutgraf.errors import InputError
from nutgraf.run.inputs import as_files, read_source
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
