"""Reads answers that consist of messages with headers (harmony): thoughts, text for the user, calls."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from server.tool_calls.argument_readers import read_arguments
from server.tool_calls.argument_types import ArgumentSchema
from server.tool_calls.events import ArgumentsDelta, CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from server.tool_calls.text_source import MismatchError, Reading, TextSource

_BEGIN_OF_BODY = "<|message|>"
_ENDS = ("<|end|>", "<|return|>", "<|call|>", "<|start|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=functions\.([^\s<]+)")


class MessageReader:
    """The messages of one answer. Their events go to `events`."""

    def __init__(
        self, source: TextSource, schema_of: Callable[[str], ArgumentSchema], events: list[Event]
    ) -> None:
        self._source = source
        self._schema_of = schema_of
        self._events = events
        self._call_count = 0

    def read(self) -> Reading[None]:
        """Read messages until the answer ends."""
        while True:
            header = yield from self._source.collect(_BEGIN_OF_BODY)
            recipient = _RECIPIENT.search(header)
            channel = _CHANNEL.search(header)
            if recipient is not None:
                yield from self._read_call(recipient.group(1))
            elif channel is not None and channel.group(1) == "analysis":
                yield from self._source.until(_ENDS, lambda text: self._events.append(ReasoningDelta(text)))
            else:
                yield from self._source.until(_ENDS, lambda text: self._events.append(TextDelta(text)))

    def _read_call(self, name: str) -> Reading[None]:
        index = self._call_count
        self._call_count += 1
        self._events.append(CallStarted(index, name, None))

        def emit(text: str) -> None:
            self._events.append(ArgumentsDelta(index, text))

        with contextlib.suppress(MismatchError):
            yield from read_arguments(self._source, "json", self._schema_of(name), emit)
        self._events.append(CallEnded(index))
        yield from self._source.until(_ENDS, lambda text: None)
