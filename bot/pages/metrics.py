"""The numbers of a database for Prometheus, read when they are asked for: ``/metrics``, ``/healthz``."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from triage.ledger import Ledger
from triage.ledger.owners import now
from triage.store import Store


class Numbers(Collector):
    """What is counted of one database; nothing is remembered between two looks."""

    def __init__(self, store: Store) -> None:
        self._store, self._ledger = store, Ledger(store)

    def collect(self) -> Iterator[Metric]:
        """Raises StoreError."""
        yield from self._hunts()
        yield from self._queues()

    def _hunts(self) -> Iterator[Metric]:
        bugs = GaugeMetricFamily("graphwarden_bugs", "Bugs, without slips and muted ones.", labels=["backend", "state"])
        for kind, count in self._store.kinds().items():
            bugs.add_metric(list(kind), count)
        results = CounterMetricFamily(
            "graphwarden_results", "Pairs of case and target that hunts recorded.", labels=["status"]
        )
        statuses, cases = self._store.totals()
        for status, count in sorted(statuses.items()):
            results.add_metric([status.value], count)
        hunts = GaugeMetricFamily("graphwarden_campaigns", "Hunts.", labels=["state"])
        ended = [each.finished is not None for each in self._store.campaigns()]
        hunts.add_metric(["finished"], sum(ended))
        hunts.add_metric(["unfinished"], len(ended) - sum(ended))
        yield from (bugs, results, CounterMetricFamily("graphwarden_cases", "Cases that hunts ran.", cases), hunts)

    def _queues(self) -> Iterator[Metric]:
        deliveries = GaugeMetricFamily("graphwarden_deliveries", "Deliveries of GitHub.", labels=["state"])
        for delivered, count in sorted(self._ledger.deliveries.counts().items()):
            deliveries.add_metric([delivered.value], count)
        works = GaugeMetricFamily("graphwarden_work", "Pieces of the bot's work.", labels=["kind", "state"])
        for (kind, state), count in self._ledger.work.counts().items():
            works.add_metric([kind, state.value], count)
        outgoing = GaugeMetricFamily("graphwarden_outgoing", "What the bot says at GitHub.", labels=["state"])
        for said, count in sorted(self._ledger.outbox.counts().items()):
            outgoing.add_metric([said.value], count)
        oldest = self._ledger.deliveries.oldest()
        seconds = max(0.0, (now() - oldest).total_seconds()) if oldest else 0.0
        name, about = "graphwarden_delivery_waiting_seconds", "How long the oldest delivery has waited."
        yield from (deliveries, works, outgoing, GaugeMetricFamily(name, about, seconds))


def router(store: Store) -> APIRouter:
    """The two paths, for whoever watches the process."""
    found = APIRouter(include_in_schema=False)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Numbers(store))

    @found.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @found.get("/healthz")
    def healthz() -> PlainTextResponse:
        store.campaigns()  # raises where the database cannot be read
        return PlainTextResponse("ok")

    return found
