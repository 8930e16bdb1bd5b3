"""How much a client may ask for, how many may connect and for how long, and how requests are batched."""

from __future__ import annotations

from dataclasses import dataclass

from nutgraf.errors import NutgrafError

LONGEST_WORD = 1000  # characters
MOST_SUMMARIES = 10  # of one text
LONGEST_SUMMARY = 1000  # words; each model has its own, lower limit
HELD_BYTES = 64 << 20  # of all bodies that wait or are worked on


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
    work: int = (
        1 << 16
    )  # of a request: texts (16 at least) x words of a summary x hypotheses, see Summarizer.count_work
    connections: int = 1024  # open at the same time
    header_seconds: float = 10.0  # to send the headers of a request, from the connection or the last answer on
    idle_seconds: int = 5  # without a byte between two requests of a connection

    def __post_init__(self) -> None:
        if self.texts > self.queue:
            raise NutgrafError(
                f"--max-texts {self.texts}: expected at most --max-queue, which is {self.queue}. "
                "Raise --max-queue or lower --max-texts"
            )

    @property
    def client_queue(self) -> int:
        """Texts of one client that may wait: half of the queue, or one whole request."""
        return max(self.texts, -(-self.queue // 2))
