"""Decoded strings as JSON writes them.

A character has up to three kinds of spelling: itself, unless it is a quote, a backslash or a control
character; a short escape such as \\n; \\u and four hex digits of either case, twice for characters above
U+FFFF. Half of such a pair alone is not text and not accepted.
"""

from __future__ import annotations

import json
from functools import lru_cache
from json.encoder import encode_basestring

from grammar_core.frontends.json_schema.hex_escapes import hex_escapes
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges, complement_ranges
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Sequence

_QUOTE = Literal(b'"')
_BACKSLASH = Literal(b"\\")
_MUST_ESCAPE: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
_UNESCAPED: Ranges = complement_ranges(_MUST_ESCAPE)
_SHORT_ESCAPES = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x2F: "/", 0x5C: "\\"}


def natural_literal(text: str) -> Literal:
    """The string with quotes, escaped only where it must be: as `json.dumps(text, ensure_ascii=False)`."""
    return Literal(encode_basestring(text).encode())


def quoted(body: Expr) -> Expr:
    """The body between quotes."""
    return Sequence((_QUOTE, body, _QUOTE))


@lru_cache(maxsize=2048)
def unescaped(ranges: Ranges) -> CharClass:
    """The characters of the set that may stand for themselves."""
    return CharClass(_common(ranges, _UNESCAPED))


@lru_cache(maxsize=2048)
def escapes(ranges: Ranges) -> Expr | None:
    """Every escape of a character of the set; None if there is no character."""
    numbered = hex_escapes(ranges)
    if numbered is None:
        return None
    options: list[Expr] = [Sequence((Literal(b"u"), numbered))]
    letters = [ord(letter) for code, letter in _SHORT_ESCAPES.items() if _contains(ranges, code)]
    if letters:
        options.insert(0, CharClass(tuple((letter, letter) for letter in sorted(letters))))
    return Sequence((_BACKSLASH, options[0] if len(options) == 1 else Choice(tuple(options))))


@lru_cache(maxsize=2048)
def needed_escapes(ranges: Ranges) -> Expr | None:
    """The escapes that `json.dumps` writes, of the characters that need one; None if there are none."""
    codes = [code for low, high in _common(ranges, _MUST_ESCAPE) for code in range(low, high + 1)]
    spelled = tuple(Literal(json.dumps(chr(code))[1:-1].encode()) for code in codes)
    return Choice(spelled) if spelled else None


@lru_cache(maxsize=2048)
def character(ranges: Ranges) -> Expr:
    """One character of the set in every spelling."""
    return _either(unescaped(ranges), escapes(ranges))


@lru_cache(maxsize=2048)
def plain_character(ranges: Ranges) -> Expr:
    """One character of the set, escaped only where it must be."""
    return _either(unescaped(ranges), needed_escapes(ranges))


def _either(itself: CharClass, escaped: Expr | None) -> Expr:
    options = [option for option in (itself if itself.ranges else None, escaped) if option is not None]
    if not options:
        return CharClass(())
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _contains(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _common(one: Ranges, other: Ranges) -> Ranges:
    """The characters of both sets."""
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(one) and j < len(other):
        low, high = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if low <= high:
            found.append((low, high))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


ANY_CHARACTER_SPELLED = character(ANY_CHARACTER)
