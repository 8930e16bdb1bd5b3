"""How much a client may ask for, and how requests are batched."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.errors import NutgrafError

LONGEST_WORD = 1000  # characters; the time to tokenise a word grows with its square
MOST_SUMMARIES = 10  # of one text
LONGEST_SUMMARY = 1000  # words; each model has its own, lower limit


@dataclass(frozen=True)
class Limits:
    """Each is an option of `nutgraf serve`."""

    body: int = 1 << 20  # bytes of a request's body
    texts: int = 64  # in a request
    words: int = 2000  # in a text
    queue: int = 1024  # texts that may wait
    seconds: float = 30.0  # to answer a request
    batch: int = 32  # texts that are summarized together
    wait: float = 0.005  # seconds to wait for a further request before a batch is computed

    def __post_init__(self) -> None:
        if self.texts > self.queue:
            raise NutgrafError(
                f"--max-texts {self.texts}: expected at most --max-queue, which is {self.queue}. "
                "Raise --max-queue or lower --max-texts"
            )
