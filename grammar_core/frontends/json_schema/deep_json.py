"""JSON texts that are nested more deeply than the standard library reads and writes, without recursion."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import NUMBER_RE
from typing import Any

_TOKEN = re.compile(r'[ \t\n\r]*(?:([\[\]{},:])|(true|false|null)|(")|)')
_WORDS = {"true": True, "false": False, "null": None}
_ENDS = {"[": "]", "{": "}"}
_VALUE, _KEY, _COMMA, _COLON = "value", "key", "',' or the end", "':'"

Pairs = list[tuple[str, Any]]


class DepthError(Exception):
    """Arrays and objects are inside one another beyond the limit."""


def read_deep(text: str, *, limit: int, number: Callable[[str], Any], mapping: Callable[[Pairs], Any]) -> Any:
    """The value of a JSON text.

    `number` makes a value of the text of a number with a fraction or exponent, `mapping` of pairs. Raises
    json.JSONDecodeError, DepthError beyond `limit`, ValueError for an integer of too many digits.
    """
    opened: list[tuple[str, list[Any]]] = []  # brackets that are open, with the keys and values inside
    root: list[Any] = []
    expected = _VALUE
    for token, value, position in _tokens(text, number):
        inside = opened[-1][1] if opened else root
        bracket = opened[-1][0] if opened else ""
        if token == "scalar" and (expected == _VALUE or (expected == _KEY and isinstance(value, str))):
            inside.append(value)
            expected = _COLON if expected == _KEY else _COMMA
        elif token in _ENDS and expected == _VALUE:
            if len(opened) == limit:
                raise DepthError
            opened.append((token, []))
            expected = _VALUE if token == "[" else _KEY
        elif bracket and token == _ENDS[bracket] and (expected == _COMMA or not inside):
            opened.pop()
            whole = inside if bracket == "[" else mapping(list(zip(inside[::2], inside[1::2], strict=True)))
            (opened[-1][1] if opened else root).append(whole)
            expected = _COMMA
        elif bracket and token == "," and expected == _COMMA:
            expected = _VALUE if bracket == "[" else _KEY
        elif token == ":" and expected == _COLON:
            expected = _VALUE
        else:
            raise json.JSONDecodeError(f"Expecting {expected}", text, position)
    if opened or not root:
        raise json.JSONDecodeError(f"Expecting {expected}", text, len(text))
    return root[0]


def _tokens(text: str, number: Callable[[str], Any]) -> Iterator[tuple[str, Any, int]]:
    """Punctuation, and values as "scalar", with their positions."""
    position = 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None
        punctuation, word, quote = match.groups()
        position = match.end()
        if punctuation:
            yield punctuation, None, position - 1
        elif word:
            yield "scalar", _WORDS[word], position - len(word)
        elif quote:
            begin = position - 1
            value, position = scanstring(text, position, True)
            yield "scalar", value, begin
        elif position == len(text):
            return
        else:
            digits = NUMBER_RE.match(text, position)
            if digits is None:
                raise json.JSONDecodeError("Expecting value", text, position)
            is_integer = not (digits.group(2) or digits.group(3))
            yield "scalar", (int if is_integer else number)(digits.group()), position
            position = digits.end()


def write_deep(value: Any, *, limit: int, write: Callable[[Any], str]) -> str:
    """The JSON text of dicts, lists and of what `write` writes. Raises DepthError beyond `limit`."""
    pieces: list[str] = []
    pending: list[tuple[Any, int]] = [(value, 0)]  # texts, and values with their depth
    while pending:
        current, depth = pending.pop()
        if depth < 0:
            pieces.append(current)
        elif isinstance(current, (dict, list, tuple)):
            if depth == limit:
                raise DepthError
            pending.extend(reversed(list(_parts(current, depth))))
        else:
            pieces.append(write(current))
    return "".join(pieces)


def _parts(value: Any, depth: int) -> Iterator[tuple[Any, int]]:
    is_object = isinstance(value, dict)
    yield "{" if is_object else "[", -1
    for index, item in enumerate(value):
        if index:
            yield ", ", -1
        if is_object:
            yield (
                f"{json.dumps(item if isinstance(item, str) else json.dumps(item), ensure_ascii=False)}: ",
                -1,
            )
        yield value[item] if is_object else item, depth + 1
    yield "}" if is_object else "]", -1
