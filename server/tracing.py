"""Traces of requests for OpenTelemetry, if the configuration names a collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.middleware.request_ids import HEADER

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_NOT_TRACED = "^[^/]*//[^/]*/(health|ping|metrics)$"
_LONGEST_FLUSH_MS = 3000


class TracingError(Exception):
    """Traces were asked for and cannot be made; the message says why."""


class Tracing:
    """Sends a span for every request; `close` sends what is left and ends."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider

    def close(self) -> None:
        """May take a few seconds if the collector does not answer."""
        self._provider.force_flush(_LONGEST_FLUSH_MS)
        self._provider.shutdown()


def install_tracing(app: FastAPI, endpoint: str) -> Tracing:
    """
    Args:
        endpoint: The collector's address for OTLP over HTTP, such as ``http://localhost:4318``.

    Raises:
        TracingError: The packages of the extra "tracing" are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        message = f"otlp_endpoint needs more packages: pip install 'syntagma[tracing]' ({error})"
        raise TracingError(message) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "syntagma"}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=3)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    FastAPIInstrumentor.instrument_app(
        app,
        tracer_provider=provider,
        excluded_urls=_NOT_TRACED,
        exclude_spans=["receive", "send"],
    )
    app.add_middleware(_NameSpans)
    return Tracing(provider)


class _NameSpans:
    """Puts the request's id into its span: that of the answer, so that refused requests have it too."""

    def __init__(self, app: ASGIApp) -> None:
        from opentelemetry.trace import get_current_span

        self._app = app
        self._current_span = get_current_span

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        span = self._current_span()

        async def note_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                request_id = Headers(raw=message["headers"]).get(HEADER)
                if request_id is not None:
                    span.set_attribute("syntagma.request_id", request_id)
            await send(message)

        await self._app(scope, receive, note_id)
