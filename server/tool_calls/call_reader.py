"""Reads one call, part for part as its format describes it."""

from __future__ import annotations

import json
from collections.abc import Callable

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    CallObject,
    CallPart,
    ToolCallFormat,
)
from server.tool_calls.argument_readers import read_arguments
from server.tool_calls.argument_types import ArgumentSchema
from server.tool_calls.events import ArgumentsDelta, CallEnded, CallStarted, Event
from server.tool_calls.json_reader import read_string, read_value
from server.tool_calls.text_source import EndOfTextError, MismatchError, Reading, TextSource

_LONGEST_NAME = 256
_ARGUMENTS_KEYS = frozenset({"arguments", "parameters"})


class CallReader:
    """Call number `index` of an answer. Its events go to `events`, the first once its name is known."""

    def __init__(
        self,
        source: TextSource,
        format: ToolCallFormat,
        index: int,
        schema_of: Callable[[str], ArgumentSchema],
        events: list[Event],
    ) -> None:
        self.has_started = False
        self._source = source
        self._format = format
        self._index = index
        self._schema_of = schema_of
        self._events = events
        self._name: str | None = None
        self._id_digits: str | None = None
        self._held_arguments: list[str] = []
        self._has_arguments = False
        self._is_complete = False

    def read(self) -> Reading[None]:
        """Read the call. Raises MismatchError where it is none, or goes on as none."""
        try:
            for number, part in enumerate(self._format.call):
                yield from self._read_part(part, number)
        except EndOfTextError:
            if self._is_complete:
                self._end()
            raise
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
            self._id_digits = yield from self._read_id(part)

    def _read_name(self, following: CallPart) -> Reading[str]:
        """The text before what follows it."""
        ends = (following.split()[0],) if isinstance(following, str) else ("<", "{")
        while not (places := [at for end in ends if (at := self._source.find(end)) >= 0]):
            if len(self._source.text) - self._source.at > _LONGEST_NAME:
                raise MismatchError("a name")
            yield from self._source.more()
        name = self._source.text[self._source.at : min(places)].strip()
        if not 0 < len(name) <= _LONGEST_NAME:
            raise MismatchError("a name")
        self._source.at = min(places)
        return name

    def _read_id(self, part: CallField) -> Reading[str]:
        digits = ""
        while (character := (yield from self._source.peek())).isalnum() and len(digits) < _LONGEST_NAME:
            digits += character
            self._source.at += 1
        if not digits:
            raise MismatchError(part.value)
        return digits

    def _read_object(self, keys: CallObject) -> Reading[None]:
        yield from self._source.literal("{")
        is_first = True
        while (yield from self._source.skip_space()) != "}":
            if not is_first:
                yield from self._source.literal(",")
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
            self._is_complete = True

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
            if key in ("id", keys.id_key) and value[0] == '"' and not self.has_started:
                self._id_digits = str(json.loads("".join(value), strict=False))

    def _read_arguments(self) -> Reading[None]:
        schema = self._schema_of(self._name or "")
        yield from read_arguments(self._source, self._format.argument_style, schema, self._add_arguments)
        self._is_complete = True

    def _add_arguments(self, text: str) -> None:
        if not text:
            return
        self._has_arguments = True
        if self.has_started:
            self._events.append(ArgumentsDelta(self._index, text))
        else:
            self._held_arguments.append(text)

    def _start(self) -> None:
        assert self._name is not None
        if self.has_started:
            return
        self.has_started = True
        self._source.forget_mark()
        self._events.append(CallStarted(self._index, self._name, self._id()))
        for text in self._held_arguments:
            self._events.append(ArgumentsDelta(self._index, text))

    def _id(self) -> str | None:
        if self._id_digits is None:
            return None
        template = self._format.call_id or "{index}"
        return template.format(name=self._name, index=self._id_digits)

    def _end(self) -> None:
        if self.has_started:
            self._events.append(CallEnded(self._index))
