"""Arguments in Gemma's notation: bare keys, and strings without escapes between two tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

from grammar_core.frontends.structural_tag.notations.gemma import QUOTE
from server.tool_calls.argument_types import ALL_TYPES
from server.tool_calls.json_reader import read_string
from server.tool_calls.text_source import MismatchError, Reading, TextSource
from server.tool_calls.written_values import quoted, read_string_until, written_value

Emit = Callable[[str], None]

_MARKS = {"{": "{", "[": "[", "]": "]", "}": "}", ",": ", ", ":": ": "}
_END_OF_WORD = re.compile(r"[\s{}\[\],:<]")


def read_gemma_object(source: TextSource, emit: Emit) -> Reading[None]:
    """Read one object and emit it as JSON while it comes. Raises MismatchError where none begins."""
    if (yield from source.skip_space()) != "{":
        raise MismatchError("an object")
    depth = 0
    while True:
        character = yield from source.skip_space()
        if character in _MARKS:
            source.at += 1
            emit(_MARKS[character])
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
            if depth == 0:
                return
        elif character == "<":
            yield from source.literal(QUOTE)
            yield from read_string_until(source, (QUOTE,), emit)
        elif character == '"':
            emit(quoted((yield from read_string(source))))
        else:
            yield from _read_word(source, emit)


def _read_word(source: TextSource, emit: Emit) -> Reading[None]:
    """A key, a number or one of the words of JSON."""
    while (end := _END_OF_WORD.search(source.text, source.at)) is None:
        yield from source.more()
    word = source.text[source.at : end.start()]
    source.at = end.start()
    is_key = (yield from source.skip_space()) == ":"
    emit(quoted(word) if is_key else written_value(word, ALL_TYPES))
