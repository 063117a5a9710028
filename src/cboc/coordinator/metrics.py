"""Metrics for an operator: counts and times for Prometheus, and what the log says of a message.

Neither contains a design, a site or a study: an address is written as its pattern, /v2/turns/{turn}/mix.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Engine, func, select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cboc.coordinator.database import sites, studies, transaction

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
METHODS = ("GET", "HEAD", "POST", "PUT")
log = logging.getLogger("cboc.coordinator")


class Metrics:
    """The counts of one process, and of the database behind it."""

    def __init__(self, engine: Engine) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "address", "status")
        self._messages = Counter("cboc_messages", "Messages answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "cboc_message_seconds", "Time to an answer.", labels[:2], buckets=SECONDS, registry=self._registry
        )
        self._registry.register(Holdings(engine))

    def note(self, method: str, address: str, status: int, seconds: float) -> None:
        """Count one answer, and log it."""
        self._messages.labels(method, address, str(status)).inc()
        self._seconds.labels(method, address).observe(seconds)
        log.info("message", extra={"of": {"method": method, "address": address, "status": status, "s": seconds}})

    def page(self) -> bytes:
        """Return all counts in the text format of Prometheus."""
        return generate_latest(self._registry)


class Holdings(Collector):
    """Counts what the database holds, on request: the same from every process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with transaction(self._engine, is_reading=True) as connection:
            many, closed = connection.execute(select(func.count(), func.sum(studies.c.closed))).one()
            joined = connection.execute(select(func.count()).where(sites.c.token.is_not(None))).scalar_one()
        yield GaugeMetricFamily("cboc_studies", "Studies.", value=many)
        yield GaugeMetricFamily(
            "cboc_rounds_closed", "Rounds closed, or proposals at the free pace.", value=closed or 0
        )
        yield GaugeMetricFamily("cboc_sites_joined", "Sites with a token.", value=joined)

    def describe(self) -> list[GaugeMetricFamily]:
        """Describe nothing, because nothing is counted before it is asked for."""
        return []


class Measured:
    """Notes every answer of an application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, began = 500, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "-"  # methods made up by strangers are not kept
            address = getattr(scope.get("route"), "path", "-")
            self.metrics.note(method, address, status, time.perf_counter() - began)
