"""Columns of Hugging Face `datasets` as lines: `hf:name:column`, `hf:name/config:column`, `hf:folder:column`.

A folder is one that `save_to_disk` wrote, or one with data files (CSV, JSON, Parquet). The split is `train`. The
library is an extra, and imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from nutgraf.errors import InputError
from nutgraf.extras import need_extra

PREFIX = "hf:"
SPLIT = "train"
_SAVED = ("state.json", "dataset_dict.json")  # one of these is where `save_to_disk` wrote


def is_column(path: str) -> bool:
    """Whether this names a column of a dataset, not a file."""
    return path.startswith(PREFIX)


def read_column(path: str) -> Iterator[str]:
    """Yield the texts of a column, such as `hf:name/config:column`."""
    name, _, column = path.removeprefix(PREFIX).rpartition(":")
    if not name or not column:
        raise InputError(f"{path}: expected hf:name:column, hf:name/config:column or hf:folder:column")
    need_extra("hf", path)
    dataset = _load(path, name)
    if column not in dataset.column_names:
        raise InputError(f"{path}: no column {column}. There are: {', '.join(dataset.column_names)}")
    for number, text in enumerate(dataset[column]):
        if not isinstance(text, str):
            raise InputError(f"{path}, row {number}: expected a text, not {type(text).__name__}")
        yield text


def _load(path: str, name: str) -> Any:
    """Return the training split. "a/b" is the dataset b of a or, where there is none, the configuration b of a."""
    import datasets

    if Path(name).is_dir():
        return _load_folder(path, name)
    if name.startswith(("/", "./", "../")):
        _refuse(path, f"no such folder, from {Path.cwd()}")
    first, _, last = name.rpartition("/")
    tries = [(first, last)] if name.count("/") > 1 else [(name, None), (first, last)] if first else [(name, None)]
    reasons = []
    for dataset, config in tries:
        try:
            return datasets.load_dataset(dataset, config, split=SPLIT)
        except Exception as error:  # no such dataset, configuration or split; no network; damaged files
            reasons.append(str(error))
    return _refuse(path, "; ".join(reasons))


def _load_folder(path: str, name: str) -> Any:
    """Return the training split of what `save_to_disk` wrote or, where that wrote nothing, of data files."""
    import datasets

    saved = any((Path(name) / file).exists() for file in _SAVED)
    try:
        found = datasets.load_from_disk(name) if saved else datasets.load_dataset(name, None, split=SPLIT)
    except Exception as error:  # the library and the readers of its formats raise errors of many kinds
        _refuse(path, str(error))
    if isinstance(found, dict) and SPLIT not in found:
        _refuse(path, f"no such split. There are: {', '.join(found)}")
    return found[SPLIT] if isinstance(found, dict) else found


def _refuse(path: str, reason: str) -> NoReturn:
    raise InputError(f"{path}: the split {SPLIT} cannot be read ({reason})")
