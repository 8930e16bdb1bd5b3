"""The copy of a run in a store: run.json, recipe.toml, and the finished steps, so that a machine may be lost.

A step counts as stored when its manifest is there, which is written last. What is fetched is compared with the
manifest's checksums. Checkpoints, evaluations and the report stay in the run folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nutgraf.errors import RunError
from nutgraf.files import flush, read_bytes, remove, replacing, sha256
from nutgraf.run import manifest
from nutgraf.run.folder import RECIPE, RUN, STEPS, Run
from nutgraf.run.holder import Holder, hold
from nutgraf.run.manifest import MANIFEST, DamagedError
from nutgraf.run.plan import Step
from nutgraf.store import Store


class StoredRun:
    """A store that this process holds."""

    def __init__(self, holder: Holder):
        self.holder, self.store = holder, holder.store

    def join(self, asked: Run) -> Run:
        """Return what is asked together with what the stored run has; a RunError if that is another run."""
        stored = self._read_run()
        return stored.extend(asked, self._find_steps(), "--store", self.store.url) if stored else asked

    def begin(self, run: Run, steps: Sequence[Step], warn: Callable[[str], None]) -> None:
        """Fetch the steps that the run folder lacks, and store what the run is."""
        there, keys = self._find_steps(), run.keys(steps)
        for step in steps:
            if step.name in there and not run.is_done(step.name):
                try:
                    self._fetch_step(run.step_folder(step.name), keys[step.name])
                except DamagedError as error:
                    self.store.remove(_manifest_of(step.name))
                    warn(f"{error}. The step {step.name} is redone")
        for name in (RECIPE, RUN):
            self.store.send(run.folder / name, name)

    def keep(self, folder: Path) -> None:
        """Store a finished step, unless it is stored: its files first, its manifest last."""
        content, last = read_bytes(folder / MANIFEST), _manifest_of(folder.name)
        if self.store.read(last) == content:
            return
        self.holder.check()
        self.store.remove(last)
        for name in manifest.parse(content, str(folder / MANIFEST)).files:
            self.store.send(folder / name, f"{STEPS}/{folder.name}/{name}")
        self.holder.check()
        self.store.write(last, content)

    def _find_steps(self) -> set[str]:
        """Return the names of the steps that are stored."""
        found = (name.split("/") for name in self.store.names(STEPS))
        return {parts[1] for parts in found if parts[0] == STEPS and parts[2:] == [MANIFEST]}

    def _read_run(self) -> Run | None:
        """Return the stored run; None where nothing is stored."""
        contents = {name: self.store.read(name) for name in (RUN, RECIPE)}
        if contents[RUN] is None:
            return None
        with TemporaryDirectory(prefix="nutgraf-") as folder:
            for name, content in contents.items():
                if content is not None:
                    (Path(folder) / name).write_bytes(content)
            try:
                return Run.open(Path(folder))
            except RunError as error:
                raise RunError(str(error).replace(folder, self.store.url).replace("--out", "--store")) from error

    def _fetch_step(self, folder: Path, key: str) -> None:
        """Fetch a step if it has this key; a DamagedError names an object that is not what was written."""
        last = _manifest_of(folder.name)
        content = self.store.read(last) or b""
        record = manifest.parse(content, self.store.place(last))
        if record.key != key:
            return
        folder.parent.mkdir(exist_ok=True)
        with replacing(folder, folder=True) as partial:
            for name, expected in record.files.items():
                fetch_file(self.store, f"{STEPS}/{folder.name}/{name}", partial / name, expected)
            (partial / MANIFEST).write_bytes(content)
            flush(partial / MANIFEST)
            remove(folder)  # what a run that was killed had begun


def fetch_file(store: Store, name: str, path: Path, expected: manifest.File) -> None:
    """Copy an object to a file; a DamagedError names an object that is not what a manifest says."""

    def fetch() -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        store.fetch(name, path)
        flush(path)
        return sha256(path)

    manifest.compare(store.place(name), expected, store.size(name), fetch)


@contextmanager
def use_store(url: str | None, folder: Path, take: bool = False) -> Iterator[StoredRun | None]:
    """Yield the store of this URL, held for a locked run folder until the end; None where there is no URL."""
    if url is None:
        yield None
        return
    with hold(Store(url), folder, take) as holder:
        yield StoredRun(holder)


def _manifest_of(step: str) -> str:
    return f"{STEPS}/{step}/{MANIFEST}"
