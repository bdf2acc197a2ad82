"""Arguments in which tags enclose members and items at every level: of Cohere and of MiniMax M3."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from grammar_core.frontends.json_schema.values import ARRAY, OBJECT, STRING
from grammar_core.frontends.structural_tag.notations.nested_markup import COHERE_END, COHERE_TYPES, MARKER
from server.tool_calls.argument_types import ALL_TYPES, ArgumentSchema
from server.tool_calls.text_source import MismatchError, Reading, TextSource
from server.tool_calls.written_values import quoted, read_string_until, written_value

Emit = Callable[[str], None]

_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_BRACKETS = {OBJECT: "{}", ARRAY: "[]"}


class _Containers:
    """The objects and arrays that have been opened, as JSON text."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._kinds: list[str] = []
        self._counts: list[int] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def is_array(self) -> bool:
        """Whether the innermost is an array."""
        return self._kinds[-1] == ARRAY

    def open(self, kind: str) -> None:
        self._kinds.append(kind)
        self._counts.append(0)
        self._emit(_BRACKETS[kind][0])

    def close(self) -> None:
        self._counts.pop()
        self._emit(_BRACKETS[self._kinds.pop()][1])

    def begin_value(self, key: str) -> None:
        """Write what stands before a value: a comma, and in an object the key."""
        separator = ", " if self._counts[-1] else ""
        self._counts[-1] += 1
        is_member = self._kinds[-1] == OBJECT
        if separator or is_member:
            self._emit(f"{separator}{quoted(key)}: " if is_member else separator)


def read_cohere_values(source: TextSource, emit: Emit) -> Reading[None]:
    """Read values with names for as long as there are any, and emit them as a JSON object while they come."""
    kinds = {name: kind for kind, name in COHERE_TYPES.items()}
    containers = _Containers(emit)
    containers.open(OBJECT)
    while containers:
        if (yield from source.next_is("<cofl:value")):
            attributes = dict(_ATTRIBUTE.findall((yield from source.collect(">"))))
            containers.begin_value(html.unescape(attributes.get("name", "")))
            kind = kinds.get(attributes.get("type", ""))
            if kind in _BRACKETS:
                containers.open(kind)
            elif kind == STRING:
                yield from read_string_until(source, (COHERE_END,), emit)
            else:
                text = yield from source.collect(COHERE_END)
                emit(written_value(text, ALL_TYPES - {STRING}))
        elif len(containers) == 1:
            containers.close()
        else:
            yield from source.literal(COHERE_END)
            containers.close()


def read_minimax_m3_values(source: TextSource, schema: ArgumentSchema, emit: Emit) -> Reading[None]:
    """Read members for as long as there are any, and emit them as a JSON object while they come."""
    containers = _Containers(emit)
    containers.open(OBJECT)
    open_tags: list[tuple[str, ArgumentSchema]] = [("", schema)]
    while containers:
        key = yield from _opening_tag(source)
        if key is not None:
            containers.begin_value(key)
            parent = open_tags[-1][1]
            value = parent.items() if containers.is_array() else parent.member(key)
            is_nested = yield from _read_minimax_m3_scalar(source, key, value.types(), emit)
            if is_nested:
                open_tags.append((key, value))
                containers.open(ARRAY if value.types() & {ARRAY, OBJECT} == {ARRAY} else OBJECT)
        else:
            if len(containers) > 1:
                yield from source.literal(f"{MARKER}</{open_tags.pop()[0]}>")
            containers.close()


def _opening_tag(source: TextSource) -> Reading[str | None]:
    """The name of the opening tag that comes next; None if none does."""
    source.mark()
    try:
        yield from source.literal(f"{MARKER}<")
        if (yield from source.peek()) == "/":
            raise MismatchError("an opening tag")
    except MismatchError:
        source.return_to_mark()
        return None
    finally:
        source.forget_mark()
    return (yield from source.collect(">"))


def _read_minimax_m3_scalar(source: TextSource, key: str, types: frozenset[str], emit: Emit) -> Reading[bool]:
    """Read and emit a value that is text, with its end; whether it is an object or an array instead."""
    end = f"{MARKER}</{key}>"
    if types == {STRING}:
        yield from read_string_until(source, (end,), emit)
        return False
    text = yield from source.collect(MARKER)
    source.at -= len(MARKER)
    if not (yield from source.next_is(end)):
        return True
    container = next((kind for kind in (ARRAY, OBJECT) if kind in types), None)
    is_empty_container = not text.strip() and container is not None and STRING not in types
    emit(_BRACKETS[container] if is_empty_container and container else written_value(text, types))
    return False
