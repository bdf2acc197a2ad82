"""Arguments that are written one parameter after the other."""

from __future__ import annotations

from collections.abc import Callable

from grammar_core.frontends.structural_tag.notations.markup import ParameterMarkup
from server.tool_calls.argument_types import ArgumentSchema
from server.tool_calls.json_reader import read_value
from server.tool_calls.text_source import Reading, TextSource
from server.tool_calls.written_values import quoted, read_string_until, written_value

Emit = Callable[[str], None]


def read_parameters(
    source: TextSource, markup: ParameterMarkup, schema: ArgumentSchema, emit: Emit
) -> Reading[None]:
    """Read parameters for as long as there are any, and emit them as a JSON object while they come."""
    emit("{")
    separator = ""
    after_key, _, before_value = markup.after_key.partition("\n")
    while (yield from source.next_is(markup.begin)):
        key = (yield from source.collect(after_key)).strip()
        yield from source.literal(before_value)
        emit(f"{separator}{quoted(key)}: ")
        separator = ", "
        yield from _read_value(source, markup, schema.member(key).types(), emit)
    emit("}")


def _read_value(
    source: TextSource, markup: ParameterMarkup, types: frozenset[str], emit: Emit
) -> Reading[None]:
    if markup.types is not None:
        name = yield from source.collect(markup.after_type)
        types = _types_named(markup, name.strip(), types)
    ends: tuple[str, ...] = (markup.end,)
    if types == {"string"}:
        if markup.is_padded:
            ends = (f"\n{markup.end}", markup.end)
            yield from _skip_line_break(source)
        yield from read_string_until(source, ends, emit)
    elif "string" not in types and (yield from source.skip_space()) in "{[":
        yield from read_value(source, emit)
        yield from source.literal(markup.end)
    else:
        text = yield from source.collect(*ends)
        emit(written_value(_unpadded(text) if markup.is_padded else text, types))


def _types_named(markup: ParameterMarkup, name: str, types: frozenset[str]) -> frozenset[str]:
    assert markup.types is not None
    named = frozenset(kind for kind, known in markup.types.items() if known == name)
    return named or types


def _skip_line_break(source: TextSource) -> Reading[None]:
    if (yield from source.peek()) == "\n":
        source.at += 1


def _unpadded(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")
