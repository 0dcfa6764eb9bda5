"""What the server counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

TEXT = CONTENT_TYPE_PLAIN_0_0_4
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Requests, texts, batches and places; nothing of what records hold."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("textsplice_requests", "Requests.", labels, registry=self.registry)
        self.seconds = Histogram(
            "textsplice_request_seconds",
            "Time of a request.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.texts = Counter("textsplice_texts", "Texts by status.", ("status",), registry=self.registry)
        self.batches = Histogram(
            "textsplice_batch_rows",
            "Records searched at once.",
            buckets=(1, 2, 4, 8, 16, 32, 64),
            registry=self.registry,
        )
        self.abandoned = Counter(
            "textsplice_abandoned", "Requests whose client went away.", registry=self.registry
        )
        self.stopped = Counter(
            "textsplice_stopped", "Searches that nobody waited for to the end.", registry=self.registry
        )
        self.waiting = Gauge("textsplice_waiting", "Requests that have a place.", registry=self.registry)
        self.approved = Gauge("textsplice_approved_texts", "Approved texts.", registry=self.registry)

    def watch(self, waiting: Callable[[], float]) -> None:
        """Asks for the number of places that are taken whenever it is scraped."""
        self.waiting.set_function(waiting)

    def text(self) -> bytes:
        """All of it in the text format."""
        return generate_latest(self.registry)
