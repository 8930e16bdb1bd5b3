"""Fetches an export from a store, such as s3://bucket/export, to this user's cache.

Its manifest is read each time. The manifest's digest names the folder in the cache, so an export is fetched once, and
again when it has changed. What is fetched, and what is in the cache, is compared with the manifest's checksums. Old
exports stay in the cache until somebody removes them.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import remove, replacing
from nutgraf.run import manifest
from nutgraf.run.folder import RUN
from nutgraf.run.manifest import MANIFEST, DamagedError
from nutgraf.run.stored import fetch_file
from nutgraf.store import Store, is_folder
from nutgraf.summarizing.export import EXPORT


def fetch_export(url: str) -> Path:
    """Fetch an export unless it is in the cache; return its folder there, or that of the model of it that is named."""
    store, name = _find(url)
    content = store.read(MANIFEST) or b""
    record = manifest.parse(content, store.place(MANIFEST))
    if EXPORT not in record.files:
        raise RunError(f"{url}: no export is there: its manifest has no {EXPORT}")
    folder = _cache() / hashlib.sha256(content).hexdigest()[:32]
    if not _is_whole(folder, record):
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove(folder)
        try:
            with replacing(folder, folder=True) as partial:
                for file, expected in record.files.items():
                    fetch_file(store, file, partial / file, expected)
                (partial / MANIFEST).write_bytes(content)
        except OSError:
            if not _is_whole(folder, record):  # else another process has just fetched it
                raise
    return folder / name


def _find(url: str) -> tuple[Store, str]:
    """Return the store of an export, and the name of a model of it; empty if the URL names none."""
    store = Store(url, "--model")
    above, _, name = store.url.rpartition("/")
    if store.size(MANIFEST) is not None:
        return store, ""
    if store.size(RUN) is not None:
        raise RunError(
            f"{url}: a run. Only exports are fetched from a store: copy the run to a folder, write one with "
            "`nutgraf export`, and copy that to the store"
        )
    if is_folder(above) and (outer := Store(above, "--model")).size(MANIFEST) is not None:
        return outer, name
    raise RunError(f"{url}: no export is there: {MANIFEST} is missing. `nutgraf export` writes one to a folder")


def _is_whole(folder: Path, record: manifest.Manifest) -> bool:
    try:
        manifest.verify(folder, record)
    except DamagedError:
        return False
    return manifest.read(folder) == record


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nutgraf" / "exports"
