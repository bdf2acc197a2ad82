"""Server-sent events as a response that stops when its reader leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.disconnect import ClientDisconnectedError, until_disconnect

DONE = "data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


def event(data: str) -> str:
    """One event; `data` is JSON and so never contains a raw newline."""
    return f"data: {data}\n\n"


class EventStreamResponse(Response):
    """Sends `events` one by one; `on_close` is called exactly once, however the response ends.

    After `keep_alive_s` seconds without an event a comment is sent, so that nobody on the way takes the
    connection for dead; 0 is never.

    `on_close` is separate from the generator because a generator that was never started runs no
    ``finally`` block when it is closed.
    """

    media_type = "text/event-stream"

    def __init__(
        self, events: AsyncGenerator[str, None], *, on_close: Callable[[], None], keep_alive_s: float = 0.0
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._on_close = on_close
        self._keep_alive_s = keep_alive_s
        self._last_sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(ClientDisconnectedError):
                await until_disconnect(receive, self._send(send))
        finally:
            self._on_close()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._events) as events:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            keeper = asyncio.ensure_future(self._keep_alive(send)) if self._keep_alive_s else None
            try:
                async for text in events:
                    self._last_sent = time.monotonic()
                    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
            finally:
                if keeper is not None:
                    keeper.cancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _keep_alive(self, send: Send) -> None:
        """One task for the whole stream: events themselves need no timer."""
        self._last_sent = time.monotonic()
        while True:
            await asyncio.sleep(self._last_sent + self._keep_alive_s - time.monotonic())
            if time.monotonic() - self._last_sent >= self._keep_alive_s:
                self._last_sent = time.monotonic()
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
