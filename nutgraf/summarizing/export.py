"""An export: one folder with only what serving needs of a run's summarizers.

    export.json                the format, the summarizers, how their weights are packed
    lexicon.txt                the words that the models know; others get numbers as they come, and can be copied, too
    casing.tsv, settings.json  how words are written, texts read and summaries sought (see language)
    <name>/                    the weights, in half precision, or int8 and less; in memory they are float32 again
    agreed-N/                  whose proposals it chooses from; these models are there, too, if only for it
    mu1-0/                     as agreed-N needs it: the words that the others know, its encoder multiplied out
    manifest.json              checksums, versions, and the digests of the steps that it was made from

Other initializers, which are there to begin from and to compare with, are not exported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError

from nutgraf.errors import InputError, RunError
from nutgraf.files import read_json, refuse_links, replacing
from nutgraf.models.members import Members
from nutgraf.models.mu1 import Mu1
from nutgraf.models.weights import PACKS, Weights
from nutgraf.run import manifest as records
from nutgraf.run.folder import Choice, Run
from nutgraf.run.names import AGREED, ModelName, latest
from nutgraf.run.systems import is_seq2seq
from nutgraf.summarizing.language import Language

FORMAT = 2
EXPORT = "export.json"


@dataclass(frozen=True)
class Export:
    """An export that is whole."""

    folder: Path
    names: tuple[str, ...]
    default: Choice
    language: Language

    @classmethod
    def open(cls, folder: Path) -> Export:
        """Compare all files with their checksums, and read all but the models."""
        try:
            refuse_links(folder)
            record = records.read(folder)
            if record is None:
                raise records.DamagedError(f"{folder / records.MANIFEST}: missing")
            records.verify(folder, record)
        except records.DamagedError as error:
            raise RunError(f"{error}. Run `nutgraf export` again") from error
        try:
            table = read_json(folder / EXPORT)
            if table["format"] != FORMAT:
                raise ValueError(f"format {table['format']!r}, expected {FORMAT}")
            names, default = _check_names(table["models"]), Choice(**table["default"])
            if default.name not in names or not default.reason.isprintable():
                raise ValueError("the default is none of the models")
            return cls(folder, names, default, Language.load(folder))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            version = record.versions.get("nutgraf")
            raise RunError(
                f"{folder}: exported by another version, nutgraf {version} ({error}). Run `nutgraf export` again"
            ) from error

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def summarizers(self) -> list[str]:
        """Return the summarizers, in the order of the paper's tables."""
        return list(self.names)

    def best(self) -> Choice:
        """Return the summarizer to use where none is named, and why it is this one."""
        return self.default

    def intact(self, name: str) -> Path:
        """Return the folder of a model; all files were compared with their checksums when the export was opened."""
        return self.folder / name


def _can_export(name: ModelName) -> bool:
    return name.summarizes and is_seq2seq(name)


def _check_names(names: Any) -> tuple[str, ...]:
    """Return the names of summarizers, one at least, as nutgraf writes them; anything else is a ValueError."""
    parsed = [ModelName.parse(name) for name in names]
    if not parsed or [str(name) for name in parsed] != names or any(not _can_export(name) for name in parsed):
        raise ValueError("models that are no summarizers")
    return tuple(names)


def write(run: Run, out: Path, names: Sequence[str] = (), weights: str = "half") -> Export:
    """Export summarizers of a run, or the best one, to a new folder: it is there whole, or not at all."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out}: not an empty folder. Name one that does not exist yet")
    chosen, default = _choose(run, names)
    try:
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with replacing(out.absolute(), folder=True) as folder:
            _fill(folder, run, chosen, default, weights)
    except (OSError, SafetensorError) as error:
        raise RunError(f"{out}: the export cannot be written ({error})") from error
    return Export.open(out)


def _choose(run: Run, names: Sequence[str]) -> tuple[list[str], Choice]:
    """Return the summarizers that are meant, in the order of the paper's tables, and the one to use by default."""
    best = None if names else run.best()
    wanted = names or ([best.name] if best else [])
    done = [name for name in run.summarizers() if is_seq2seq(ModelName.parse(name))]
    there = f"There are: {', '.join(done) or f'none yet, see `nutgraf status {run.folder}`'}"
    for name in wanted:
        if (parsed := ModelName.find(name)) and not is_seq2seq(parsed):
            raise RunError(f"{run.folder}: {name} is an initializer, and only seq2seq models are exported. {there}")
        if name not in done:
            raise RunError(f"{run.folder}: no summarizer {name} that is done. {there}")
    if not wanted:
        raise RunError(f"{run.folder}: no summarizer to export. {there}")
    default = best or _choose_default(run, wanted)
    return [name for name in done if name in wanted], default


def _choose_default(run: Run, names: Sequence[str]) -> Choice:
    """Return the best of the run, if it is one of those exported, else the last of them."""
    with suppress(RunError):  # the run's best may be damaged: others can be exported all the same
        best = run.best()
        if best and best.name in names:
            return best
    return Choice(latest(names) or names[0], "the last one of those exported")


def _fill(folder: Path, run: Run, names: Sequence[str], default: Choice, weights: str) -> None:
    agreed = {name: Members.load(run.intact(name)) for name in names if ModelName.parse(name).chain == AGREED}
    alone = [name for name in names if name not in agreed]
    wanted = dict.fromkeys([*alone, *(member for members in agreed.values() for member in members.names)])
    models = {name: Weights.load(run.intact(name)) for name in wanted}
    cutters = {members.cutter: Mu1.load(run.intact(members.cutter)) for members in agreed.values() if members.cutter}
    parts = [*agreed, *wanted, *cutters]
    made = {name: record.digest for name in parts if (record := records.read(run.step_folder(name)))}
    save_models(folder, models, Language.of(run), default, weights, made, agreed, names, cutters)


def save_models(
    folder: Path,
    models: Mapping[str, Weights],
    language: Language,
    default: Choice,
    weights: str = "half",
    made: Mapping[str, str] | None = None,
    agreed: Mapping[str, Members] | None = None,
    names: Sequence[str] = (),
    cutters: Mapping[str, Mu1] | None = None,
) -> None:
    """Write the files of an export into a folder; `made` are the digests of the steps that it is made from.

    `agreed` are the summarizers that others are members of, `cutters` those of them that are no seq2seq models, and
    `names` those that are listed (none: all models).
    """
    ids = [vocab.ids for model in models.values() for vocab in (model.source, model.target)]
    kept = np.unique(np.concatenate(ids))  # sorted, so that the special words stay first
    known = {name: cutter.knowing(kept) for name, cutter in (cutters or {}).items()}
    every: dict[str, Weights | Mu1] = {**models, **known}
    for name, model in every.items():
        (folder / name).mkdir()
        model.only(kept).save(folder / name, PACKS[weights])
    for name, members in (agreed or {}).items():
        (folder / name).mkdir()
        members.only(kept).save(folder / name)
    language.only(kept).save(folder)
    table = {"format": FORMAT, "models": list(names or models), "default": asdict(default), "weights": weights}
    (folder / EXPORT).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    records.finish(folder, "export", made or {}, 0.0, name="export")  # the folder has another name yet
