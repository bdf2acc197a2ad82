"""Events of a whole answer, whatever the pieces in which it came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from server.tool_calls.events import ArgumentsDelta, CallEnded, CallStarted, Event, TextDelta, merged
from server.tool_calls.parser import ToolCallParser


def parse(format: ToolCallFormat, pieces: Iterable[str], tools: Iterable[dict[str, Any]] = ()) -> list[Event]:
    """The events, neighbouring texts of one kind put together."""
    parser = ToolCallParser(format, tools)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.finish()])


def text_of(events: Iterable[Event]) -> str:
    """What is meant for the user."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls_of(events: Iterable[Event]) -> list[tuple[str, str, bool]]:
    """Name, arguments and whether it has ended, of every call."""
    calls: list[tuple[str, str, bool]] = []
    for event in events:
        if isinstance(event, CallStarted):
            assert event.index == len(calls)
            calls.append((event.name, "", False))
        elif isinstance(event, ArgumentsDelta):
            name, arguments, ended = calls[event.index]
            assert not ended
            calls[event.index] = (name, arguments + event.text, False)
        elif isinstance(event, CallEnded):
            calls[event.index] = (*calls[event.index][:2], True)
    return calls
