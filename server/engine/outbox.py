"""What the loop has to tell: collected during a step, handed to the event loops after it."""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop

from server.engine.request import TextDelta
from server.engine.stream import TextStream

_log = logging.getLogger(__name__)


class Outbox:
    """Deltas on their way from the engine's thread to the streams' event loops."""

    def __init__(self) -> None:
        self._deltas: list[tuple[TextStream, TextDelta]] = []

    def add(self, stream: TextStream, delta: TextDelta) -> None:
        self._deltas.append((stream, delta))

    def send(self) -> None:
        """Hand over everything, with one call for each event loop."""
        by_loop: dict[AbstractEventLoop, list[tuple[TextStream, TextDelta]]] = {}
        for stream, delta in self._deltas:
            by_loop.setdefault(stream.loop, []).append((stream, delta))
        self._deltas = []
        for loop, deltas in by_loop.items():
            send_to(loop, deltas)


def send_to(loop: AbstractEventLoop, deltas: list[tuple[TextStream, TextDelta]]) -> None:
    try:
        loop.call_soon_threadsafe(_push_all, deltas)
    except RuntimeError:  # the loop is closed: nobody listens any more
        _log.debug("dropped %d deltas of a closed event loop", len(deltas))


def _push_all(deltas: list[tuple[TextStream, TextDelta]]) -> None:
    for stream, delta in deltas:
        stream.push(delta)
