"""What happened so far, in the text format of Prometheus: five metrics need no library."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from threading import Lock

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts of values up to each bound, with their number and sum."""

    def __init__(self, bounds: Sequence[float]):
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> list[str]:
        """Return the samples, as Prometheus wants them: each bucket holds the smaller ones, too."""
        totals = list(accumulate(self._counts))
        bounds = [*map(str, self._bounds), "+Inf"]
        buckets = [f'{name}_bucket{{le="{bound}"}} {total}' for bound, total in zip(bounds, totals, strict=True)]
        return [*buckets, f"{name}_sum {self._sum}", f"{name}_count {totals[-1]}"]


class Metrics:
    """Counted by the app's thread and the models' thread, hence the lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._texts: Counter[str] = Counter()
        self._seconds = Histogram(_SECONDS)
        self._sizes = Histogram(_SIZES)

    def request(self, path: str, status: int) -> None:
        """Count an answer."""
        with self._lock:
            self._requests[path, status] += 1

    def latency(self, seconds: float) -> None:
        """Count how long a request for summaries took."""
        with self._lock:
            self._seconds.add(seconds)

    def batch(self, model: str, texts: int) -> None:
        """Count texts that were summarized together."""
        with self._lock:
            self._texts[model] += texts
            self._sizes.add(texts)

    def text(self, waiting: int) -> str:
        """Return the whole page; `waiting` is the queue's length now."""
        with self._lock:
            requests = [
                f'nutgraf_requests_total{{path="{path}",status="{status}"}} {count}'
                for (path, status), count in sorted(self._requests.items())
            ]
            texts = [f'nutgraf_texts_total{{model="{name}"}} {count}' for name, count in sorted(self._texts.items())]
            return "".join(
                (
                    _metric("nutgraf_requests_total", "counter", "Answers, by path and status.", requests),
                    _metric("nutgraf_texts_total", "counter", "Texts summarized, by model.", texts),
                    _metric("nutgraf_queue_texts", "gauge", "Texts waiting.", [f"nutgraf_queue_texts {waiting}"]),
                    _metric(
                        "nutgraf_batch_texts",
                        "histogram",
                        "Texts summarized together.",
                        self._sizes.lines("nutgraf_batch_texts"),
                    ),
                    _metric(
                        "nutgraf_request_seconds",
                        "histogram",
                        "Time of a request for summaries, from its first byte to its answer.",
                        self._seconds.lines("nutgraf_request_seconds"),
                    ),
                )
            )


def _metric(name: str, kind: str, told: str, samples: Iterable[str]) -> str:
    return "\n".join((f"# HELP {name} {told}", f"# TYPE {name} {kind}", *samples)) + "\n"
