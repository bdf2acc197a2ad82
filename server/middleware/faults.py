"""Faults of our own: a traceback in the log, and never in an answer."""

from __future__ import annotations

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import server_fault

_log = structlog.get_logger("syntagma")


class FaultMiddleware:
    """Answers what nobody has caught with a 500; a response that has begun can only be broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def note_beginning(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_beginning)
        except Exception:
            _log.exception("a request failed", path=scope["path"])
            if has_begun:
                raise
            await server_fault().response()(scope, receive, send)
