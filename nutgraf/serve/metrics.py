"""Counts and times for Prometheus; each app has its own, so that one process can hold several."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The metrics of one app; any thread may change them."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.requests = Counter("nutgraf_requests", "Answers, by path and status.", ("path", "status"), registry=own)
        self.texts = Counter("nutgraf_texts", "Texts summarized, by model.", ("model",), registry=own)
        self.queue = Gauge("nutgraf_queue_texts", "Texts waiting.", registry=own)
        self.batch = Histogram("nutgraf_batch_texts", "Texts summarized together.", buckets=_SIZES, registry=own)
        self.seconds = Histogram(
            "nutgraf_request_seconds", "Time to answer a request for summaries.", buckets=_SECONDS, registry=own
        )

    def write(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics in the format that an Accept header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type
