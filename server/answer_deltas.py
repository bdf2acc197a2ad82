"""From the events of an answer to the deltas of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from server.call_writer import CallWriter
from server.schemas.chat_response import Delta
from server.tool_calls.events import ArgumentsDelta, CallStarted, Event, ReasoningDelta, TextDelta


class DeltaWriter:
    """Writes the deltas of one answer; `custom_names` are the tools whose calls carry text."""

    def __init__(self, custom_names: Iterable[str] = ()) -> None:
        self._calls = CallWriter(custom_names)

    def write(self, events: Iterable[Event]) -> Iterator[Delta]:
        for event in events:
            if isinstance(event, TextDelta):
                yield Delta(content=event.text)
            elif isinstance(event, ReasoningDelta):
                yield Delta(reasoning_content=event.text, reasoning=event.text)
            elif isinstance(event, CallStarted):
                yield Delta(tool_calls=[self._calls.start(event)])
            elif isinstance(event, ArgumentsDelta):
                part = self._calls.add(event)
                if part is not None:
                    yield Delta(tool_calls=[part])
