"""Who may write to a store: the one run that could create the object claim.json there.

A store knows nothing of processes. A run removes its claim when it ends, but one that is killed, or whose machine is
gone, leaves it; the next one then has to say that it takes the store. A run that has lost its store in this way
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

from nutgraf.errors import RunError
from nutgraf.store import Store

CLAIM = "claim.json"


class Holder:
    """A run that writes to a store."""

    def __init__(self, store: Store):
        self.store = store
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        facts = {"host": socket.gethostname(), "process": os.getpid(), "since": since, "token": secrets.token_hex(16)}
        self._claim = json.dumps(facts).encode()

    def claim(self, take: bool = False) -> None:
        """Claim the store; with `take`, from whoever holds it. A RunError names another holder."""
        if take:
            self.store.remove(CLAIM)
        # If an answer is lost, the client repeats its request, and is refused by its own claim.
        if not self.store.create(CLAIM, self._claim) and not self._holds():
            raise RunError(
                f"--store {self.store.url}: {self._name_holder()} trains with it. Wait for that run; if it was killed, "
                "add --take-store to the same command"
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

    def _holds(self) -> bool:
        return self.store.read(CLAIM) == self._claim

    def _name_holder(self) -> str:
        try:
            facts = json.loads(self.store.read(CLAIM) or b"")
            return f"process {facts['process']} on {facts['host']}, since {facts['since']},"[:200]
        except (ValueError, LookupError, TypeError, RecursionError):
            return "a run that left no name"


@contextmanager
def hold(store: Store, take: bool = False) -> Iterator[Holder]:
    """Hold a store; it is released at the end, unless the process is killed or the store is gone."""
    holder = Holder(store)
    holder.claim(take)
    try:
        yield holder
    finally:
        with suppress(RunError):  # an error that ended the run matters more, and `take` helps the next one
            holder.release()
