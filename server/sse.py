"""Server-sent events as a response that stops when its reader leaves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.disconnect import ClientDisconnectedError, until_disconnect

DONE = "data: [DONE]\n\n"


def event(data: str) -> str:
    """One event; `data` is JSON and so never contains a raw newline."""
    return f"data: {data}\n\n"


class EventStreamResponse(Response):
    """Sends `events` one by one; `on_close` is called exactly once, however the response ends.

    `on_close` is separate from the generator because a generator that was never started runs no
    ``finally`` block when it is closed.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str, None], *, on_close: Callable[[], None]) -> None:
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._on_close = on_close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(ClientDisconnectedError):
                await until_disconnect(receive, self._send(send))
        finally:
            self._on_close()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._events) as events:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for text in events:
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
