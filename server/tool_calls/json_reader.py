"""JSON that arrives in pieces: where a value ends, and the calls that are objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from server.tool_calls.text_source import MismatchError, Reading, TextSource

_STRING_EVENT = re.compile(r'["\\]')
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
"""A string, whose end quote is missing if it has not come yet, or a bracket."""
_DEPTHS = {"{": 1, "[": 1, "}": -1, "]": -1}
_SCALAR_END = re.compile(r"[^-+.0-9A-Za-z]")


def read_value(source: TextSource, emit: Callable[[str], None]) -> Reading[None]:
    """Read one JSON value and emit its text as it comes. White space before it is skipped.

    Only its extent is looked at: brackets and quotes. Raises MismatchError where no value begins.
    """
    first = yield from source.skip_space()
    if first == '"':
        yield from _string(source, emit)
    elif first in "{[":
        yield from _nested(source, emit)
    elif _SCALAR_END.match(first):
        raise MismatchError(first)
    else:
        yield from _scalar(source, emit)


def read_string(source: TextSource) -> Reading[str]:
    """Read a JSON string and return what it says. Raises MismatchError where there is none."""
    pieces: list[str] = []
    if (yield from source.skip_space()) != '"':
        raise MismatchError("a string")
    yield from _string(source, pieces.append)
    try:
        value = json.loads("".join(pieces), strict=False)
    except ValueError:
        raise MismatchError("a string") from None
    assert isinstance(value, str)
    return value


def _string(source: TextSource, emit: Callable[[str], None]) -> Reading[None]:
    source.emit_to(source.at + 1, emit)
    while True:
        event = _STRING_EVENT.search(source.text, source.at)
        if event is None:
            source.emit_to(len(source.text), emit)
            yield from source.more()
        elif event.group() == '"':
            source.emit_to(event.end(), emit)
            return
        elif event.end() < len(source.text):
            source.emit_to(event.end() + 1, emit)
        else:
            source.emit_to(event.start(), emit)
            yield from source.more()


def _nested(source: TextSource, emit: Callable[[str], None]) -> Reading[None]:
    depth = 0
    while True:
        for token in _STRING_OR_BRACKET.finditer(source.text, source.at):
            first = token.group()[0]
            if first == '"' and not token.group(1):
                source.emit_to(token.start(), emit)
                yield from _string(source, emit)
                break
            depth += _DEPTHS.get(first, 0)
            if depth == 0:
                source.emit_to(token.end(), emit)
                return
        else:
            source.emit_to(len(source.text), emit)
            yield from source.more()


def _scalar(source: TextSource, emit: Callable[[str], None]) -> Reading[None]:
    while True:
        end = _SCALAR_END.search(source.text, source.at)
        source.emit_to(len(source.text) if end is None else end.start(), emit)
        if end is not None:
            return
        yield from source.peek()
