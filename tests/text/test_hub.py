from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from nutgraf.errors import InputError, MissingExtraError
from nutgraf.text.hub import is_column, read_column


class Table:
    """A dataset: columns by name."""

    def __init__(self, **columns: list[object]):
        self.columns = columns

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    def __getitem__(self, name: str) -> list[object]:
        return self.columns[name]


class FakeDatasets(ModuleType):
    """The library, with the datasets news (two configurations) and owner/news."""

    def __init__(self) -> None:
        super().__init__("datasets")
        self.__spec__ = ModuleSpec("datasets", None)
        self.saved: object = Table(text=["of a folder"])

    def load_dataset(self, path: str, name: str | None, *, split: str) -> Table:
        known: dict[tuple[str, str | None], list[object]] = {
            ("news", "en"): ["two\nlines", "Zoë"],
            ("owner/news", None): ["of an owner"],
            ("owner/news", "en"): ["of a configuration", 3],
        }
        if (path, name) not in known or split != "train":
            raise FileNotFoundError(f"Dataset '{path}' doesn't exist")
        return Table(text=known[path, name], title=["x"])

    def load_from_disk(self, path: str) -> object:
        return self.saved


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeDatasets:
    fake = FakeDatasets()
    monkeypatch.setitem(sys.modules, "datasets", fake)
    return fake


@pytest.mark.usefixtures("library")
def test_columns_by_the_name_of_the_dataset_and_its_configuration() -> None:
    assert is_column("hf:news/en:text")
    assert not is_column("news.txt")
    assert list(read_column("hf:news/en:text")) == ["two\nlines", "Zoë"]
    assert list(read_column("hf:owner/news:text")) == ["of an owner"]
    assert next(read_column("hf:owner/news/en:text")) == "of a configuration"


def test_a_dataset_made_on_disk(library: FakeDatasets, tmp_path: Path) -> None:
    (tmp_path / "state.json").touch()
    assert list(read_column(f"hf:{tmp_path}:text")) == ["of a folder"]
    library.saved = {"train": Table(text=["of its split"])}
    assert list(read_column(f"hf:{tmp_path}:text")) == ["of its split"]
    library.saved = {"test": Table(text=["x"])}
    with pytest.raises(InputError, match=r"the split train cannot be read \(no such split\. There are: test"):
        next(read_column(f"hf:{tmp_path}:text"))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("hf:news", "expected hf:name:column"),
        ("hf:news:", "expected hf:name:column"),
        ("hf:news/en:body", "no column body. There are: text, title"),
        ("hf:olds/en:text", r"'olds/en' doesn't exist; Dataset 'olds' doesn't exist"),
        ("hf:./nowhere:text", "no such folder"),
        ("hf:owner/news/en:text", "row 1: expected a text, not int"),
    ],
)
def test_mistakes_are_explained(path: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        list(read_column(path))
    assert str(error.value).startswith(path)


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"hf:news:text needs the Hugging Face extra: pip install '\.\[hf\]'"):
        list(read_column("hf:news:text"))
