"""A real server in a thread, with summarizers that need no training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

import httpx

from nutgraf.run.folder import Choice
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

    def answer(self, texts: Sequence[str], options: SummaryOptions) -> list[SummaryResult]:
        """With `explain`, a summary's words are one copied, one new and a number; alternatives end in their rank."""
        self.batches.append(list(texts))
        self.begun.set()
        self.go.wait(60)
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


def echo(name: str = "a") -> Echo:
    """Return one that answers at once."""
    model = Echo(name)
    model.go.set()
    return model


def models(*summarizers: Echo) -> Models:
    by_name: dict[str, ServedModel] = {model.name: model for model in summarizers}
    return Models(Choice(summarizers[0].name, "the first"), by_name, best=summarizers[0].name)


@contextmanager
def running(served: Models, limits: Limits | None = None, key: str | None = None) -> Iterator[httpx.Client]:
    """Serve on a free port; ends like SIGTERM."""
    with (
        serve_in_thread(served, limits or Limits(), key) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        client.get("/healthz")
        yield client
