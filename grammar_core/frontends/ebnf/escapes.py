"""Backslash escapes of string literals and character classes."""

from __future__ import annotations

import re

from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

_CONTROLS = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "0": "\0",
    "e": "\x1b",
}
LITERAL_ESCAPES = _CONTROLS | {c: c for c in "\"\\/'?^[]"}
CLASS_ESCAPES = LITERAL_ESCAPES | {c: c for c in "$.*+(){}|-"}

# \x takes as many hex digits as follow, \u and \U a fixed number; anything else is one character.
ESCAPE = r"\\(?:x[0-9A-Fa-f]+|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)"

_LITERAL_ESCAPE = re.compile(ESCAPE, re.DOTALL)
_DIGITS_WANTED = {
    "x": "\\x needs at least one hexadecimal digit",
    "u": "\\u needs exactly 4 hexadecimal digits",
    "U": "\\U needs exactly 8 hexadecimal digits",
}
_SHORTHANDS = {"d": "[0-9]", "w": "[a-zA-Z0-9_]", "s": "[ \\t\\n\\r]"}


class MalformedTokenError(Exception):
    """What is wrong inside one token, and how many characters after the token's begin."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def decode_literal(text: str) -> bytes:
    """The UTF-8 bytes that a quoted literal stands for. Raises MalformedTokenError."""
    body = text[1:-1]
    if "\\" not in body:
        return body.encode()
    return _LITERAL_ESCAPE.sub(_replace_literal_escape, body).encode()


def literal_offset(text: str, begin: int, index: int) -> int:
    """How far behind `begin`, where a quoted literal begins, its character number `index` stands.

    Characters count from 0; the closing quote is the one after the last.
    """
    position = begin + 1
    for _ in range(index):
        if text[position] == '"':
            break
        escape = _LITERAL_ESCAPE.match(text, position)
        position = escape.end() if escape else position + 1
    return position - begin


def _replace_literal_escape(match: re.Match[str]) -> str:
    return unescape(match[0], LITERAL_ESCAPES, match.start() + 1)


def unescape(escape: str, simple: dict[str, str], offset: int) -> str:
    """The character that one escape stands for; `offset` is where it begins in its token."""
    if len(escape) > 2:
        return _from_digits(escape, offset)
    character = simple.get(escape[1])
    if character is None:
        raise MalformedTokenError(_refusal(escape), offset)
    return character


def _from_digits(escape: str, offset: int) -> str:
    digits = escape[2:].lstrip("0")
    code_point = int(digits or "0", 16) if len(digits) <= 6 else MAX_CODE_POINT + 1
    if code_point > MAX_CODE_POINT:
        raise MalformedTokenError("This code point is above U+10FFFF, the last one of Unicode", offset)
    if FIRST_SURROGATE <= code_point <= LAST_SURROGATE:
        raise MalformedTokenError(
            f"U+{code_point:04X} is a surrogate, not a character; "
            "write a character above U+FFFF with \\U and 8 digits",
            offset,
        )
    return chr(code_point)


def _refusal(escape: str) -> str:
    letter = escape[1]
    if letter in _DIGITS_WANTED:
        return _DIGITS_WANTED[letter]
    if letter.lower() in _SHORTHANDS:
        ranges = _SHORTHANDS[letter.lower()]
        instead = ranges if letter.islower() else "[^" + ranges[1:]
        return f"The shorthand {escape} is not supported; write the characters out, such as {instead}"
    return f"Invalid escape sequence {escape}"
