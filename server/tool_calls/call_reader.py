"""Reads one call, part for part as its format describes it."""

from __future__ import annotations

import json

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    CallObject,
    CallPart,
    ToolCallFormat,
)
from server.tool_calls.events import ArgumentsDelta, CallEnded, CallStarted, Event
from server.tool_calls.json_reader import read_string, read_value
from server.tool_calls.text_source import MismatchError, Reading, TextSource

_LONGEST_NAME = 256
_ARGUMENTS_KEYS = frozenset({"arguments", "parameters"})


class CallReader:
    """Call number `index` of an answer. Its events go to `events`, the first once its name is known."""

    def __init__(self, source: TextSource, format: ToolCallFormat, index: int, events: list[Event]) -> None:
        self.has_started = False
        self._source = source
        self._format = format
        self._index = index
        self._events = events
        self._name: str | None = None
        self._id: str | None = None
        self._held_arguments: list[str] = []
        self._has_arguments = False

    def read(self) -> Reading[None]:
        """Read the call. Raises MismatchError where it is none, or goes on as none."""
        try:
            for number, part in enumerate(self._format.call):
                yield from self._read_part(part, number)
        except MismatchError:
            self._end()
            raise
        self._end()

    def _read_part(self, part: CallPart, number: int) -> Reading[None]:
        if isinstance(part, str):
            yield from self._source.literal(part)
        elif isinstance(part, CallObject):
            yield from self._read_object(part)
        elif part is CallField.NAME:
            self._name = yield from self._read_name(self._format.call[number + 1])
        elif part is CallField.ARGUMENTS:
            self._start()
            yield from self._read_arguments()
        else:
            yield from self._read_id(part)

    def _read_name(self, following: CallPart) -> Reading[str]:
        """The text before what follows it."""
        ends = (following.split()[0],) if isinstance(following, str) else ("<", "{")
        while not (ends_at := [at for end in ends if (at := self._source.find(end)) >= 0]):
            if len(self._source.text) - self._source.at > _LONGEST_NAME:
                raise MismatchError("a name")
            yield from self._source.more()
        name = self._source.text[self._source.at : min(ends_at)].strip()
        if not 0 < len(name) <= _LONGEST_NAME:
            raise MismatchError("a name")
        self._source.at = min(ends_at)
        return name

    def _read_id(self, part: CallField) -> Reading[None]:
        digits = ""
        while (character := (yield from self._source.peek())).isalnum() and len(digits) < _LONGEST_NAME:
            digits += character
            self._source.at += 1
        if not digits:
            raise MismatchError(part.value)
        template = self._format.call_id
        if template is not None:
            self._id = template.format(name=self._name, index=digits)

    def _read_object(self, keys: CallObject) -> Reading[None]:
        yield from self._source.literal("{")
        is_first = True
        while (character := (yield from self._source.skip_space())) != "}":
            if not is_first:
                yield from self._source.literal(",")
            elif character == ",":
                raise MismatchError("a member")
            is_first = False
            key = yield from read_string(self._source)
            yield from self._source.literal(":")
            yield from self._read_member(key, keys)
        self._source.at += 1
        if self._name is None:
            raise MismatchError("a name")
        self._start()
        if not self._has_arguments:
            self._add_arguments("{}")

    def _read_member(self, key: str, keys: CallObject) -> Reading[None]:
        if key == keys.name_key and self._name is None:
            self._name = yield from read_string(self._source)
            if self._held_arguments:
                self._start()
        elif key == keys.arguments_key or key in _ARGUMENTS_KEYS:
            if self._name is not None:
                self._start()
            yield from self._read_arguments()
        else:
            value: list[str] = []
            yield from read_value(self._source, value.append)
            if key == "id" and value[0] == '"' and not self.has_started:
                self._id = str(json.loads("".join(value), strict=False))

    def _read_arguments(self) -> Reading[None]:
        if (yield from self._source.skip_space()) == '"':
            self._add_arguments((yield from read_string(self._source)))
        else:
            yield from read_value(self._source, self._add_arguments)

    def _add_arguments(self, text: str) -> None:
        if not text:
            return
        self._has_arguments = True
        if not self.has_started:
            self._held_arguments.append(text)
        else:
            self._events.append(ArgumentsDelta(self._index, text))

    def _start(self) -> None:
        assert self._name is not None
        if self.has_started:
            return
        self.has_started = True
        self._source.forget_mark()
        self._events.append(CallStarted(self._index, self._name, self._id))
        for text in self._held_arguments:
            self._add_arguments(text)

    def _end(self) -> None:
        if self.has_started:
            self._events.append(CallEnded(self._index))
