"""How much a client may ask for, and how requests are put together."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.errors import NutgrafError

LONGEST_WORD = 1000  # characters; tokenising one endless word takes time that grows with its square
MOST_SUMMARIES = 10  # of one text
LONGEST_SUMMARY = 1000  # words; each model has its own, lower bound


@dataclass(frozen=True)
class Limits:
    """Checked when made; the command line sets each."""

    body: int = 1 << 20  # bytes
    texts: int = 64  # of one request
    words: int = 2000  # of one text
    queue: int = 1024  # texts that wait for the model
    seconds: float = 30.0  # for one request
    batch: int = 32  # texts that are summarized together
    wait: float = 0.005  # seconds without a new request after which a batch leaves

    def __post_init__(self) -> None:
        if self.texts > self.queue:
            raise NutgrafError(
                f"--max-texts {self.texts}, --max-queue {self.queue}: a request of so many texts would never find "
                "room. Raise --max-queue or lower --max-texts"
            )
