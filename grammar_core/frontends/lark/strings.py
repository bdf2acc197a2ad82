"""String literals: JSON's escapes, `\\xHH` and the flag i."""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.ir.nodes import CharClass, Expr, Literal, Sequence

_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(
    r"\\(?:u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))",
    re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_EITHER_CASE: dict[str, Expr] = {
    letter: CharClass(((ord(letter.upper()),) * 2, (ord(letter.lower()),) * 2))
    for letter in (*ascii_lowercase, *ascii_uppercase)
}
_LETTERS = re.compile(r"[A-Za-z]|[^A-Za-z]+")


def read_string(token: str, text: str, offset: int) -> str:
    """What the quoted literal at `offset` of `text` stands for. Raises LarkError."""
    body = token[1:-1]
    control = _CONTROL.search(body)
    if control:
        code = ord(control[0])
        message = f"U+{code:04X} cannot stand in a string literal as it is; write \\u{code:04X}"
        raise LarkError.at(message, text, offset + 1 + control.start())
    if "\\" not in body:
        return body

    def replaced(match: re.Match[str]) -> str:
        return _unescaped(match, text, offset + 1)

    return _ESCAPE.sub(replaced, body)


def _unescaped(match: re.Match[str], text: str, begin: int) -> str:
    high, low, unit, byte, letter = match.groups()
    offset = begin + match.start()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if byte:
        return chr(int(byte, 16))
    if unit:
        code = int(unit, 16)
        if 0xD800 <= code <= 0xDFFF:
            message = f"\\u{unit} is half of a surrogate pair; write both halves"
            raise LarkError.at(message, text, offset)
        return chr(code)
    if letter in "ux":
        digits = "4" if letter == "u" else "2"
        raise LarkError.at(f"\\{letter} needs {digits} hexadecimal digits", text, offset)
    if letter not in _SIMPLE:
        raise LarkError.at(f"Invalid escape sequence \\{letter}", text, offset)
    return _SIMPLE[letter]


def ignoring_case(value: str, text: str, offset: int) -> Expr:
    """The literal in any mixture of upper and lower case. Raises LarkError unless it is ASCII."""
    if not value.isascii():
        message = "The flag i is for ASCII only, and this literal has other characters"
        raise LarkError.at(message, text, offset)
    parts = [_EITHER_CASE.get(part) or Literal(part.encode()) for part in _LETTERS.findall(value)]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts)) if parts else Literal(b"")
