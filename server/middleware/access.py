"""One line in the log and one count in the metrics for every answer."""

from __future__ import annotations

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.metrics import HttpMetrics

_log = structlog.get_logger("syntagma.access")
# What probes and scrapers ask for all the time.
_QUIET = frozenset({"/health", "/ping", "/metrics"})
_NO_RESPONSE = 499


class AccessMiddleware:
    """`logs`: whether answers are logged, beside being counted."""

    def __init__(self, app: ASGIApp, *, metrics: HttpMetrics, logs: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = _NO_RESPONSE

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note_status)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, duration: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        handler = getattr(scope.get("route"), "path", "unknown")
        self._metrics.answered(method, handler, status, duration)
        if self._logs and not (status < 400 and scope["path"] in _QUIET):
            _log.info(
                "answered",
                method=method,
                path=scope["path"][:_LONGEST_PATH],
                status=status,
                seconds=round(duration, 4),
                client=_client(scope),
                **scope.get("state", {}).get("log_fields", {}),
            )


_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
_LONGEST_PATH = 200


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "unknown"
