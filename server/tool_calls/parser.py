"""Reads the tool calls out of a model's answer while it is being written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar_core.frontends.structural_tag.models.tool_call_format import Section, ToolCallFormat
from server.tool_calls.argument_types import ArgumentSchema, argument_schema
from server.tool_calls.call_reader import CallReader
from server.tool_calls.events import Event, TextDelta, merged
from server.tool_calls.message_reader import MessageReader
from server.tool_calls.text_source import EndOfTextError, MismatchError, Reading, TextSource


class ToolCallParser:
    """Events of one answer in `format`. Not thread-safe.

    `tools`: the request's tools (`{"type": "function", "function": {…}}`), which say for formats that write
    values without quotes which of them are strings. The text is to be given with the special tokens in it,
    and without the thoughts, unless the format's thoughts are messages. It may be split anywhere: the events
    are the same but for the splits of their texts. What begins like a call and is none is text.

        parser = ToolCallParser(find_tool_call_format(template, "qwen3", ()))
        parser.feed('<tool_call>{"name": "f", "arg')
        parser.feed('uments": {}}</tool_call>') + parser.finish()
    """

    def __init__(self, format: ToolCallFormat, tools: Iterable[Mapping[str, Any]] = ()) -> None:
        self._format = format
        self._tools = {_name(tool): tool for tool in tools}
        self._source = TextSource()
        self._events: list[Event] = []
        self._call_count = 0
        self._reading = self._answer()

    def feed(self, text: str) -> list[Event]:
        """The events that this piece of the answer completes."""
        self._source.add(text)
        return self._advance()

    def finish(self) -> list[Event]:
        """The events of what was held back, when the answer has ended.

        A call whose arguments are cut short has no CallEnded.
        """
        self._source.is_finished = True
        return self._advance()

    def _advance(self) -> list[Event]:
        next(self._reading, None)
        events = merged(self._events)
        self._events.clear()
        return events

    def _schema_of(self, name: str) -> ArgumentSchema:
        return argument_schema(self._tools.get(name))

    def _emit_text(self, text: str) -> None:
        if text:
            self._events.append(TextDelta(text))

    def _answer(self) -> Reading[None]:
        try:
            if self._format.has_messages:
                yield from MessageReader(self._source, self._schema_of, self._events).read()
            else:
                yield from self._free_text()
        except EndOfTextError:
            return

    def _free_text(self) -> Reading[None]:
        trigger = self._format.trigger
        while True:
            found = yield from self._source.until((trigger, *self._format.silent), self._emit_text)
            if found == trigger:
                self._source.at -= len(trigger)
                yield from self._calls()

    def _calls(self) -> Reading[None]:
        """One call, or a section of them; what was begun and is none becomes text."""
        self._source.mark()
        calls_before = self._call_count
        try:
            if self._format.section is None:
                yield from self._call()
            else:
                yield from self._section(self._format.section)
        except MismatchError:
            self._emit_text(self._source.marked_text())
        except EndOfTextError:
            self._source.at = len(self._source.text)
            if self._call_count == calls_before:
                self._emit_text(self._source.marked_text())
            raise
        self._source.forget_mark()

    def _section(self, section: Section) -> Reading[None]:
        yield from self._source.literal(section.begin)
        yield from self._call()
        while not (yield from self._source.next_is(section.end)):
            self._source.mark()
            yield from self._source.literal(section.separator)
            yield from self._call()

    def _call(self) -> Reading[None]:
        call = CallReader(self._source, self._format, self._call_count, self._schema_of, self._events)
        try:
            yield from call.read()
        finally:
            self._call_count += call.has_started


def _name(tool: Mapping[str, Any]) -> str:
    function = tool.get("function", tool)
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""
