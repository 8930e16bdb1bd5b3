"""The server under load: 32 clients whose requests are summarized together, against one client without batching.

A real server on loopback and clients that keep their connections open; both start and stop within a call. Every answer
is compared with the summarizer's own summary of that text alone, so that this is a load test, too.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection

import numpy as np

from nutgraf.bench.material import Case, Material, Work
from nutgraf.recipe import Decoding
from nutgraf.run.folder import Choice
from nutgraf.serve.limits import Limits
from nutgraf.serve.models import Models, ServedModel
from nutgraf.serve.server import serve_in_thread
from nutgraf.summarizing.backends import Searched
from nutgraf.summarizing.summarizer import Summarizer

CLIENTS = 32
BATCHED, UNBATCHED = Limits(), Limits(batch=1, wait=0)  # the defaults, and each text by itself
_HOST = "127.0.0.1"
_SECONDS = 60  # that a client waits for an answer


def serving(text: Material) -> list[Case]:
    """Each request has one text. Both cases take about as long, so that the time to start the server cancels out."""

    def make(clients: int, requests: int, limits: Limits) -> Work:
        model = summarizer(text)
        return partial(ask_all, model, answers(text, model), clients, requests, limits)

    many, one = text.sizes.served, text.sizes.served_alone
    alone = "one client, unbatched"
    return [
        Case(f"{CLIENTS} clients, batched", partial(make, CLIENTS, many, BATCHED), {"requests": many}, against=alone),
        Case(alone, partial(make, 1, one, UNBATCHED), {"requests": one}),
    ]


def summarizer(text: Material) -> Summarizer:
    """Return a summarizer with random weights, whose summaries all have the same length."""
    decoding = fixed_length(text)
    names = np.zeros(len(text.vocab), dtype=bool)  # none: no request asks for faithful output
    model = Searched(text.model(copy=True), decoding.output_words, names)
    return Summarizer("bench", model, text.lexicon, text.recipe.text, decoding)


def fixed_length(text: Material) -> Decoding:
    """Return settings with which every summary has the same length."""
    return replace(text.recipe.decoding, min_words=text.sizes.short, max_words=text.sizes.short)


def answers(text: Material, model: Summarizer) -> dict[str, str]:
    """Return the expected summary of each text, computed without server and without batching."""
    pieces = text.pieces(text.sizes.served_texts, text.sizes.long)
    texts = [" ".join(text.lexicon.decode(piece.tolist())) for piece in pieces]
    return {one: model([one])[0] for one in texts}


def ask_all(model: ServedModel, expected: dict[str, str], clients: int, requests: int, limits: Limits) -> None:
    """Start a server, send it `requests` in all from clients that run at the same time, and stop it."""
    models = Models(Choice("bench", "the only model served"), {"bench": model})
    with serve_in_thread(models, limits) as port, ThreadPoolExecutor(clients) as threads:
        list(threads.map(partial(_ask, port, expected, requests // clients), range(clients)))


def _ask(port: int, expected: dict[str, str], requests: int, first: int) -> None:
    """Send requests one by one over one connection, starting with text `first`; a wrong answer is an error."""
    texts = list(expected)
    with closing(HTTPConnection(_HOST, port, timeout=_SECONDS)) as connection:
        for number in range(first, first + requests):
            text = texts[number % len(texts)]
            body, headers = json.dumps({"text": text}), {"Content-Type": "application/json"}
            connection.request("POST", "/v1/summarize", body, headers)
            response = connection.getresponse()
            answer = response.read().decode()
            if response.status != 200 or json.loads(answer)["summaries"] != [{"summary": expected[text]}]:
                wanted = f"{text!r}: expected {expected[text]!r}"
                raise RuntimeError(f"{wanted}, the server answered {response.status} {answer}")
