"""Values that formats write without quotes, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from server.tool_calls.argument_types import type_of
from server.tool_calls.text_source import Reading, TextSource

_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


def quoted(text: str) -> str:
    """A string as JSON."""
    return json.dumps(text, ensure_ascii=False)


def read_string_until(
    source: TextSource, markers: tuple[str, ...], emit: Callable[[str], None]
) -> Reading[None]:
    """Emit the text before the first of the markers as a JSON string while it comes; read the marker too."""
    emit('"')
    yield from source.until(markers, lambda piece: emit(quoted(piece)[1:-1]))
    emit('"')


def written_value(text: str, types: Iterable[str]) -> str:
    """The JSON text of a value of one of the types: the text itself unless it is a string."""
    types = frozenset(types)
    stripped = text.strip()
    candidate = stripped if "string" in types else _PYTHON_WORDS.get(stripped, stripped)
    try:
        kind = type_of(json.loads(candidate))
    except (ValueError, RecursionError):
        return quoted(text)
    is_written_so = kind != "string" or "string" not in types
    return candidate if kind in types and is_written_so else quoted(text)
