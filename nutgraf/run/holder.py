"""Who may write to a store: the one run that could create the object claim.json there.

A store knows nothing of processes. A run removes its claim when it ends, but one that is killed leaves it. The run
folder has a copy of the claim, so that the next run there, which has the folder's lock, knows that the holder is dead.
Where the folder is gone, the next run has to say that it takes the store. A run that has lost its store in this way
finds out before it writes.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from nutgraf.errors import RunError
from nutgraf.files import read_bytes, write_atomically
from nutgraf.store import Store

CLAIM = "claim.json"
COPY = ".claim"  # of the claim, in the run folder


class Holder:
    """A run that writes to a store, and whose folder is locked."""

    def __init__(self, store: Store, folder: Path):
        self.store, self._copy = store, folder / COPY
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        facts = {"host": socket.gethostname(), "process": os.getpid(), "since": since, "token": secrets.token_hex(16)}
        self._claim = json.dumps(facts).encode()

    def claim(self, take: bool = False) -> None:
        """Claim the store; with `take`, from whoever holds it. A RunError names another holder."""
        if take or self._left_behind():
            self.store.remove(CLAIM)
        write_atomically(self._copy, self._claim)
        # If an answer is lost, the client repeats its request, and is refused by its own claim.
        if not self.store.create(CLAIM, self._claim) and not self._holds():
            raise RunError(
                f"--store {self.store.url}: {self._name_holder()} trains with it. Wait for that run; if it was killed, "
                "and its folder is gone, add --take-store to the same command"
            )
        if self.store.create(CLAIM, self._claim):
            self.store.remove(CLAIM)
            raise RunError(
                f"--store {self.store.url}: its server ignores If-None-Match, so that two runs could write there at "
                "once. Use one that has conditional writes"
            )

    def check(self) -> None:
        """Raise a RunError if another run has taken the store."""
        if not self._holds():
            raise RunError(
                f"--store {self.store.url}: {self._name_holder()} has taken it from this run, which writes no more"
            )

    def release(self) -> None:
        """Let another run claim the store."""
        if self._holds():
            self.store.remove(CLAIM)

    def _left_behind(self) -> bool:
        """Whether a run in this folder, which must have ended, still has the claim."""
        return self._copy.exists() and self.store.read(CLAIM) == read_bytes(self._copy)

    def _holds(self) -> bool:
        return self.store.read(CLAIM) == self._claim

    def _name_holder(self) -> str:
        try:
            facts = json.loads(self.store.read(CLAIM) or b"")
            return f"process {facts['process']} on {facts['host']}, since {facts['since']},"[:200]
        except (ValueError, LookupError, TypeError, RecursionError):
            return "a run that left no name"


@contextmanager
def hold(store: Store, folder: Path, take: bool = False) -> Iterator[Holder]:
    """Hold a store for a locked folder; it is released at the end, unless the process is killed or the store gone."""
    holder = Holder(store, folder)
    holder.claim(take)
    try:
        yield holder
    finally:
        with suppress(RunError):  # an error that ended the run matters more, and `take` helps the next one
            holder.release()
