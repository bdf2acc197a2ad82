"""Collects the events of an answer into one message."""

from __future__ import annotations

from collections.abc import Iterable

from server.call_writer import CallWriter
from server.schemas.chat_response import AssistantAnswer
from server.tool_calls.events import ArgumentsDelta, CallStarted, Event, ReasoningDelta, TextDelta


class AnswerMessage:
    """A message in the making; `custom_names` are the tools whose calls carry text."""

    def __init__(self, custom_names: Iterable[str] = ()) -> None:
        self._content: list[str] = []
        self._thoughts: list[str] = []
        self._writer = CallWriter(custom_names)

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, TextDelta):
                self._content.append(event.text)
            elif isinstance(event, ReasoningDelta):
                self._thoughts.append(event.text)
            elif isinstance(event, CallStarted):
                self._writer.start(event)
            elif isinstance(event, ArgumentsDelta):
                self._writer.add(event)

    def message(self) -> AssistantAnswer:
        content = "".join(self._content)
        thoughts = "".join(self._thoughts) or None
        calls = self._writer.calls or None
        return AssistantAnswer(
            content=None if calls and not content.strip() else content,
            reasoning_content=thoughts,
            reasoning=thoughts,
            tool_calls=calls,
        )
