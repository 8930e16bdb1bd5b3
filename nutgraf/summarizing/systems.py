"""A summarizer that is loaded where it is used: in this process, or by a worker that opens the same folder."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path

from nutgraf.errors import NutgrafError, RunError
from nutgraf.hardware import Hardware, set_threads
from nutgraf.run import manifest
from nutgraf.run.folder import Run
from nutgraf.run.names import lead_words
from nutgraf.summarizing.export import EXPORT, Export
from nutgraf.summarizing.loading import language_of
from nutgraf.summarizing.summarizer import Summarizer

_KEPT = 2  # models that a worker keeps, of systems whose texts it summarizes by turns


class System:
    """A summarizer of a run or export, or a Lead. Sent to another process, it is the path of the folder."""

    def __init__(self, place: Run | Export, name: str, hardware: Hardware, light: bool = False):
        self.place, self.name, self.hardware, self.light = place, name, hardware, light

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Path, str, Hardware, bool, str]]:
        return open_system, (self.place.folder.absolute(), self.name, self.hardware, self.light, self.digest)

    @property
    def digest(self) -> str:
        """The digest of the files that it is loaded from; empty for a Lead, which has none."""
        folder = self.place.folder if isinstance(self.place, Export) else self.place.step_folder(self.name)
        record = None if lead_words(self.name) else manifest.read(folder)
        return record.digest if record else ""

    @cached_property
    def summarizer(self) -> Summarizer:
        """The summarizer, loaded when it is first used."""
        if words := lead_words(self.name):
            return Summarizer.lead(words, language_of(self.place).text)
        return Summarizer.of(self.place, self.name, self.hardware.device, light=self.light)

    def release(self) -> None:
        """Let go of the summarizer, and of its memory; used again, it is loaded again."""
        self.__dict__.pop("summarizer", None)


@lru_cache(_KEPT)
def open_system(folder: Path, name: str, hardware: Hardware, light: bool, digest: str) -> System:
    """Open a folder in a worker, which keeps the model for the next task; it must be the one that the driver has."""
    set_threads(hardware.threads) if light else hardware.use()
    try:
        system = System(Export.open(folder) if (folder / EXPORT).exists() else Run.open(folder), name, hardware, light)
    except NutgrafError as error:
        raise RunError(f"--cluster: {socket.gethostname()}: {error}") from error
    if system.digest != digest:
        raise RunError(f"--cluster: {socket.gethostname()}: {folder} holds another {name} there than here")
    return system
