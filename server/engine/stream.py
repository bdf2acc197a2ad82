"""The asyncio end of one request: deltas arrive from the engine's thread and leave as an async iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType

from server.engine.request import TextDelta


class TextStream:
    """Async iterator of `TextDelta`; the last delta has a finish reason.

    Closing it (`aclose`, `async with`, or `cancel`) before that ends the request within one engine step.
    Deltas that are waiting when the consumer comes back are handed over one by one, in order.
    """

    def __init__(self, request_id: str, on_cancel: Callable[[], None]) -> None:
        self.request_id = request_id
        self.loop = asyncio.get_running_loop()
        self._on_cancel = on_cancel
        self._deltas: deque[TextDelta] = deque()
        self._wakeup = asyncio.Event()
        self._exhausted = False
        self._finished = False

    def push(self, delta: TextDelta) -> None:
        """Called in the stream's event loop."""
        self._deltas.append(delta)
        self._finished = self._finished or delta.finish_reason is not None
        self._wakeup.set()

    def cancel(self) -> None:
        """End the request; safe to call at any time, more than once, and from any thread."""
        self._exhausted = True
        if not self._finished:
            self._on_cancel()
        try:
            self.loop.call_soon_threadsafe(self._wakeup.set)
        except RuntimeError:  # the event loop is closed: nobody waits any more
            return

    def __aiter__(self) -> TextStream:
        return self

    async def __anext__(self) -> TextDelta:
        while not self._deltas and not self._exhausted:
            self._wakeup.clear()
            try:
                await self._wakeup.wait()
            except asyncio.CancelledError:
                self.cancel()
                raise
        if self._exhausted:
            raise StopAsyncIteration
        delta = self._deltas.popleft()
        self._exhausted = delta.finish_reason is not None
        return delta

    async def aclose(self) -> None:
        self.cancel()

    async def __aenter__(self) -> TextStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
