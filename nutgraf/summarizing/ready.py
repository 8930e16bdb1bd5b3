"""Models that come with the package: each is an export, in a folder of its own below nutgraf/ready/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nutgraf.errors import NutgrafError, RunError
from nutgraf.run.folder import RUN, Run
from nutgraf.store import is_url
from nutgraf.summarizing.export import EXPORT, Export

READY = Path(__file__).parent.parent / "ready"
DEFAULT = "news"  # the one to use where no model is named


def list_ready() -> list[str]:
    """Return the names of the models that come with the package; the default is the first."""
    names = (file.parent.name for file in READY.glob(f"*/{EXPORT}"))
    return sorted(names, key=lambda name: (name != DEFAULT, name))


def is_model_folder(folder: Path) -> bool:
    """Whether a folder is one of a run or of an export."""
    try:
        return (folder / RUN).exists() or (folder / EXPORT).exists()
    except OSError as error:  # such as a name that is too long
        raise RunError(f"{str(folder)[:80]}: cannot be a folder: {error.strerror}") from error


def find_model(model: str | Path | None = None) -> Path:
    """Return the folder that is meant: of a run, of an export or, by its name, of a model that comes with the package.

    A folder goes before a name: where there is a run in ./news, "news" is that run. None is the default ready model. An
    export in a store, s3://bucket/export, is fetched first.
    """
    if isinstance(model, str) and is_url(model):
        from nutgraf.summarizing.fetching import fetch_export

        return fetch_export(model)
    names = list_ready()
    if model is None:
        if DEFAULT not in names:
            raise RunError(
                "no model was named, and none comes with this installation. Name a run folder or an export: --model "
                'run/ on the command line, Summarizer.load("run/") in Python. `nutgraf train` makes one'
            )
        return READY / DEFAULT
    path = Path(model)
    first = path.parts[0] if path.parts else ""
    if first in names and not is_model_folder(Path(first)):
        return READY / path
    if len(path.parts) == 1 and not path.exists() and not is_model_folder(path.parent):
        ready = f"Models that come with nutgraf: {', '.join(names) or 'none'}"
        raise RunError(f"{path}: no such folder, and no model of that name (from {Path.cwd()}). {ready}")
    return path


@dataclass(frozen=True)
class ModelFolder:
    """What `nutgraf models` says of a run or an export."""

    name: str  # what to give to --model
    kind: str  # "ready", "run" or "export"
    summarizers: tuple[str, ...]
    default: str  # the one to use where none is named; empty where none is done
    note: str  # why it is that one, or what is wrong with the folder


def list_models(folder: Path) -> list[ModelFolder]:
    """Return the models that come with the package, then the folder if it is a run or an export, or those in it."""
    if not folder.is_dir():
        raise RunError(f"{folder}: no such folder (from {Path.cwd()})")
    found = [folder] if is_model_folder(folder) else sorted(filter(is_model_folder, folder.iterdir()))
    ready = [_describe(READY / name, name, "ready") for name in list_ready()]
    return ready + [_describe(one, str(one), "export" if (one / EXPORT).exists() else "run") for one in found]


def _describe(folder: Path, name: str, kind: str) -> ModelFolder:
    try:
        opened = Run.open(folder) if kind == "run" else Export.open(folder)
        best = opened.best()
    except NutgrafError as error:
        return ModelFolder(name, kind, (), "", str(error))
    default, note = (best.name, best.reason) if best else ("", "no summarizer is done yet")
    return ModelFolder(name, kind, tuple(opened.summarizers()), default, note)
