"""Character classes: from the text between brackets to code point ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from grammar_core.frontends.ebnf.escapes import CLASS_ESCAPES, ESCAPE, MalformedTokenError, unescape
from grammar_core.ir.char_ranges import ANY_CHARACTER, complement_ranges, normalize_ranges
from grammar_core.ir.nodes import CharClass

_CHARACTER = rf"{ESCAPE}|[^\\]"
# A dash makes a range only between two characters: first, last or after a range it is itself.
_ITEM = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?", re.DOTALL)
_CACHED_LENGTH = 128


def parse_char_class(text: str) -> CharClass:
    """The class that `text`, brackets included, stands for. Raises MalformedTokenError."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH else _parse(text)


def _parse(text: str) -> CharClass:
    if text == "[^]":
        return CharClass(ANY_CHARACTER)
    if text == "[]":
        raise MalformedTokenError("A character class needs at least one character; [^] is any character", 0)
    negated = text[1] == "^"
    ranges = _ranges(text, 2 if negated else 1)
    return CharClass(complement_ranges(ranges) if negated else normalize_ranges(ranges))


_parse_cached = lru_cache(maxsize=2048)(_parse)


def _ranges(text: str, begin: int) -> Iterator[tuple[int, int]]:
    for match in _ITEM.finditer(text, begin, len(text) - 1):
        low, high = match.groups()
        first = ord(low) if len(low) == 1 else ord(unescape(low, CLASS_ESCAPES, match.start(1)))
        if high is None:
            yield first, first
            continue
        last = ord(high) if len(high) == 1 else ord(unescape(high, CLASS_ESCAPES, match.start(2)))
        if first > last:
            raise MalformedTokenError(
                f"The range {match[0]} is empty: its lower bound is above its upper bound", match.start()
            )
        yield first, last
