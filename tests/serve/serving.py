"""A real server in a thread, with summarizers that need no training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Event

import httpx

from nutgraf.models.proposals import Score
from nutgraf.progress import ShouldStop, Stopped, never
from nutgraf.run.folder import Choice
from nutgraf.serve.access import Access
from nutgraf.serve.limits import Limits
from nutgraf.serve.models import Models, ServedModel
from nutgraf.serve.server import serve_in_thread
from nutgraf.summarizing.results import Summary, SummaryOptions, SummaryResult, Word

URL = "/v1/summarize"


@dataclass
class Echo:
    """Answers with its name, the options and the text; holds every answer back until `go`."""

    name: str
    go: Event = field(default_factory=Event)
    begun: Event = field(default_factory=Event)
    batches: list[list[str]] = field(default_factory=list)
    stopped: Event = field(default_factory=Event)

    def count_work(self, texts: int, options: SummaryOptions) -> int:
        """A word of a text is a unit of work."""
        return texts * (options.max_words or 1) * options.n_best

    def answer(
        self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop = never
    ) -> list[SummaryResult]:
        """With `explain`, a summary's words are one copied, one new and a number; alternatives end in their rank."""
        self.batches.append(list(texts))
        self.begun.set()
        while not self.go.wait(0.01):
            if should_stop():
                self.stopped.set()
                raise Stopped
        if "fail" in texts:
            raise RuntimeError("secret of the server")
        name = f"{self.name} faithful" if options.faithful else self.name
        summaries = [f"{name}|{options.max_words}|{options.min_words}|{text}" for text in texts]
        if not options.explain and options.n_best == 1:
            return [SummaryResult((), (Summary(summary, (), None),)) for summary in summaries]
        return [explain(text, summary, options.n_best) for text, summary in zip(texts, summaries, strict=True)]


def explain(text: str, summary: str, n_best: int) -> SummaryResult:
    source = tuple(text.split())
    words = (Word(source[0], True, 0, 0.5, False), Word("news", False, None, None, False))
    ranked = [summary, *(f"{summary} {rank}" for rank in range(2, n_best + 1))]
    return SummaryResult(source, tuple(Summary(one, (*words, Word("42", False, 0, 0.25, True)), 0.5) for one in ranked))


@dataclass
class Agrees(Echo):
    """Answers as an agreed-N does: with a score in place of a probability."""

    def __post_init__(self) -> None:
        self.go.set()

    def answer(
        self, texts: Sequence[str], options: SummaryOptions, should_stop: ShouldStop = never
    ) -> list[SummaryResult]:
        found = super().answer(texts, options, should_stop)
        return [replace(one, summaries=tuple(map(give_score, one.summaries, count()))) for one in found]


def give_score(summary: Summary, place: int) -> Summary:
    if not summary.words:  # neither explained nor one of several
        return summary
    return replace(summary, probability=None, score=Score(-2.5 - place, 0.75, 0.25, content=0.016))


def echo(name: str = "a") -> Echo:
    """Return one that answers at once."""
    model = Echo(name)
    model.go.set()
    return model


def models(*summarizers: Echo) -> Models:
    by_name: dict[str, ServedModel] = {model.name: model for model in summarizers}
    return Models(Choice(summarizers[0].name, "the first"), by_name, best=summarizers[0].name)


def wait_for(reached: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.02)


@contextmanager
def running(served: Models, limits: Limits | None = None, access: Access | None = None) -> Iterator[httpx.Client]:
    """Serve on a free port; ends like SIGTERM."""
    with (
        serve_in_thread(served, limits or Limits(), access) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        client.get("/healthz")
        yield client
