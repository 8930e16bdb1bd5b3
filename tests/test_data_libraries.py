"""With the real pandas and datasets, where they are installed: `pip install pandas '.[hf]'`.

tests/text/test_hub.py has the same with a stand-in for datasets, which needs neither.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import nutgraf
from nutgraf.errors import InputError
from nutgraf.run.folder import Run
from nutgraf.summarizing.summarizer import Summarizer
from nutgraf.text.hub import read_column
from nutgraf.text.reading import read_lines, read_pairs
from tests.tiny import Corpus, checksums


@pytest.fixture
def pandas() -> Any:
    pytest.importorskip("pandas")
    return import_module("pandas")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library without a network, and with a cache of its own."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("datasets")
    library = import_module("datasets")
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", tmp_path / "cache" / "datasets")
    library.disable_progress_bars()
    return library


@pytest.fixture
def texts(corpus: Corpus) -> list[str]:
    return [text for text, _ in read_pairs(corpus.pairs)][:5]


@pytest.fixture
def summarizer(finished: Run) -> Summarizer:
    return Summarizer.load(finished.folder, "mu1-2")


def test_a_column_of_pandas_is_mapped(pandas: Any, summarizer: Summarizer, texts: list[str]) -> None:
    frame, expected = pandas.DataFrame({"text": texts}), summarizer(texts)
    assert frame.text.map(summarizer).tolist() == expected
    assert summarizer(frame.text) == summarizer(frame.text.astype("string")) == expected
    with pytest.raises(TypeError, match="expected a text or a list of texts, not"):
        pandas.Series(["a text", None]).map(summarizer)


@pytest.mark.parametrize("processes", [None, 2])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_rows_of_datasets_are_mapped(
    datasets: Any, summarizer: Summarizer, texts: list[str], processes: int | None
) -> None:
    dataset, expected = datasets.Dataset.from_dict({"text": texts}), summarizer(texts)
    batched = dataset.map(lambda rows: {"line": summarizer(rows["text"])}, batched=True, num_proc=processes)
    assert list(batched["line"]) == expected
    assert summarizer(dataset["text"]) == expected
    rows = dataset.to_iterable_dataset()
    assert [*summarizer.stream(row["text"] for row in rows)] == expected


@pytest.mark.filterwarnings("ignore:text\\..*vocabulary")  # a tiny corpus has small vocabularies
def test_datasets_are_trained_on_as_files_are(datasets: Any, corpus: Corpus, finished: Run, tmp_path: Path) -> None:
    texts, summaries = (
        datasets.Dataset.from_dict({"line": [*read_lines(f)]}) for f in (corpus.texts, corpus.summaries)
    )
    texts.save_to_disk(tmp_path / "texts")
    datasets.DatasetDict({"train": summaries}).save_to_disk(tmp_path / "summaries")
    columns = f"hf:{tmp_path / 'texts'}:line", f"hf:{tmp_path / 'summaries'}:line"
    rows = (row["line"] for row in texts.to_iterable_dataset())
    for one, other in (columns, (texts["line"], summaries["line"]), (rows, columns[1])):
        run = nutgraf.train(one, other, tmp_path / "run", recipe=corpus.recipe, stop_after="text", threads=1)
    assert checksums(run.folder)
    assert checksums(run.folder).items() <= checksums(finished.folder).items()


def test_folders_that_cannot_be_read_are_explained(datasets: Any, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "train.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in ("a b", "c d"))
    )
    assert list(read_column(f"hf:{tmp_path}/files:text")) == ["a b", "c d"]
    datasets.DatasetDict({"test": datasets.Dataset.from_dict({"text": ["a"]})}).save_to_disk(tmp_path / "test-only")
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "train.parquet").write_bytes(b"PAR1 no more")
    for folder, reason in (
        ("test-only", "There are: test"),
        ("empty", ""),
        ("damaged", ""),
        ("none", "no such folder"),
    ):
        with pytest.raises(InputError, match=f"the split train cannot be read .*{reason}"):
            next(read_column(f"hf:{tmp_path}/{folder}:text"))
    gaps = datasets.Dataset.from_dict({"text": ["a", None], "number": [1, 2]})
    gaps.save_to_disk(tmp_path / "gaps")
    with pytest.raises(InputError, match="row 1: expected a text, not NoneType"):
        list(read_column(f"hf:{tmp_path}/gaps:text"))
    with pytest.raises(InputError, match=r"no column body\. There are: text, number"):
        list(read_column(f"hf:{tmp_path}/gaps:body"))
