"""Traces reach a collector that speaks OTLP over HTTP."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from server.app import create_app
from server.settings import ServerSettings
from server.tracing import TracingError, install_tracing
from tests.server.fakes import fake_backend
from tests.server.running_server import running_server


class Collector(BaseHTTPRequestHandler):
    received: list[bytes]

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        return


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    received: list[bytes] = []
    handler = type("Handler", (Collector,), {"received": received})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


def spans_of(received: list[bytes]) -> list[Span]:
    return [
        span
        for body in received
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def attributes_of(span: Span) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}


def test_a_span_for_each_request(collector: tuple[str, list[bytes]]) -> None:
    endpoint, received = collector
    app = create_app(
        ServerSettings(otlp_endpoint=endpoint, access_log=False), open_backend=lambda _: fake_backend()
    )
    with running_server(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        client.get("/v1/models", headers={"X-Request-Id": "mine"})
        client.get("/health")
    [span] = spans_of(received)
    assert span.name == "GET /v1/models"
    assert attributes_of(span)["syntagma.request_id"] == "mine"


def test_a_refused_request_is_found_by_its_id(collector: tuple[str, list[bytes]]) -> None:
    endpoint, received = collector
    settings = ServerSettings(otlp_endpoint=endpoint, access_log=False, api_key=["secret"])
    app = create_app(settings, open_backend=lambda _: fake_backend())
    with running_server(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        assert client.get("/v1/models", headers={"X-Request-Id": "mine"}).status_code == 401
    [span] = spans_of(received)
    assert attributes_of(span)["syntagma.request_id"] == "mine"


def test_without_the_packages_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.instrumentation.fastapi", None)
    with pytest.raises(TracingError, match=r"syntagma\[tracing\]"):
        install_tracing(FastAPI(), "http://127.0.0.1:1")
