"""The option list between a rule's name and its colon, as in `field[max_tokens=32, suffix="!"]: …`.

Options are bare names or name=value, each at most once, separated by commas.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.lexer import NAME, REGEX, SKIP, STRING
from grammar_core.frontends.lark.limits import MAX_RULE_CHARS, MAX_RULE_TOKENS
from grammar_core.frontends.lark.namespace import Marker, RuleSpec, is_terminal_name
from grammar_core.frontends.lark.patterns import read_regex
from grammar_core.frontends.lark.strings import ignoring_case, read_string
from grammar_core.ir.nodes import NO_OPTIONS, Expr, Literal

_TOKEN = re.compile(
    rf"{SKIP}(?:(?P<word>{NAME})|(?P<string>{STRING}(?:i(?![\w-]))?+)|(?P<regex>{REGEX}[a-zA-Z]*+)|"
    r"(?P<number>[-+]?\.?[0-9](?:(?<=[eE])[-+]|[\w.])*+)|"
    r"(?P<comma>,)|(?P<equals>=)|(?P<end>\])|(?P<bad>.))",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+")
_CAPTURE_NAME = re.compile(r"[\w.\-]+")
_BARE = ("capture", "lazy")


class _Value(NamedTuple):
    """What follows `name=`: its kind as a token, its text, and where it begins."""

    kind: str
    text: str
    offset: int


class OptionReader:
    """Reads the option list of a rule, whose bracket opens at `begin` of `text`.

    `refer` makes the reference to a terminal that is named at an offset.
    """

    def __init__(self, text: str, rule: str, begin: int, refer: Callable[[str, int], Expr]) -> None:
        self._text = text
        self._rule = rule
        self._begin = begin
        self._refer = refer

    def read(self) -> RuleSpec:
        """The options. Raises LarkError at the one that is wrong."""
        values: dict[str, Any] = {}
        offsets: dict[str, int] = {}
        position = self._begin + 1
        while True:
            name, offset, position = self._read_name(position, offsets)
            value, position = self._read_value(name, offset, position)
            values[name] = value
            offsets[name] = offset
            separator = self._token(position)
            position = separator.end()
            if separator.lastgroup == "end":
                break
            if separator.lastgroup != "comma":
                self._refuse("Expected , or ] after an option", _start(separator))
        self._check_combination(offsets)
        marker = values.pop("suffix", None) or values.pop("stop", None)
        return RuleSpec(NO_OPTIONS._replace(**values), marker, tuple(offsets.items()))

    def _token(self, position: int) -> re.Match[str]:
        match = _TOKEN.match(self._text, position)
        assert match is not None, "the list ends in ]"
        return match

    def _read_name(self, position: int, given: dict[str, int]) -> tuple[str, int, int]:
        match = self._token(position)
        name, offset = match["word"], _start(match)
        if name is None:
            empty = match.lastgroup == "end" and not given
            self._refuse("The option list is empty" if empty else "Expected the name of an option", offset)
        if name not in _OPTIONS:
            self._refuse(_unknown(name), offset)
        if name in given:
            self._refuse(f"The option {name} is given twice", offset)
        return name, offset, match.end()

    def _read_value(self, name: str, offset: int, position: int) -> tuple[Any, int]:
        match = self._token(position)
        if match.lastgroup != "equals":
            if name in _BARE:
                return (self._rule if name == "capture" else True), position
            self._refuse(f"The option {name} needs a value: {name}={_OPTIONS[name][1]}", offset)
        if name == "lazy":
            self._refuse("The option lazy takes no value", match.start("equals"))
        match = self._token(match.end())
        kind = match.lastgroup or "bad"
        if kind in ("comma", "end"):
            self._refuse(f"Expected a value after {name}=", match.start(kind))
        value = _OPTIONS[name][0](self, name, _Value(kind, match[kind], match.start(kind)))
        return value, match.end()

    # one method a kind of value

    def _max_tokens(self, name: str, value: _Value) -> int:
        return self._integer(name, value, 1, MAX_RULE_TOKENS)

    def _max_chars(self, name: str, value: _Value) -> int:
        return self._integer(name, value, 0, MAX_RULE_CHARS)

    def _integer(self, name: str, value: _Value, low: int, high: int) -> int:
        digits = value.text.lstrip("0") or "0"
        if value.kind != "number" or not value.text.isdecimal():
            self._refuse(f"The value of {name} must be a decimal integer", value.offset)
        if len(digits) > len(str(high)) or not low <= int(digits) <= high:
            self._refuse(f"The value of {name} must be from {low:,} to {high:,}", value.offset)
        return int(digits)

    def _capture_name(self, name: str, value: _Value) -> str:
        if value.kind != "string" or value.text.endswith("i"):
            self._refuse(f'The value of {name} must be a string, as in {name}="name"', value.offset)
        text = read_string(value.text, self._text, value.offset)
        if not text:
            self._refuse(f"The value of {name} must not be empty", value.offset)
        if not _CAPTURE_NAME.fullmatch(text):
            self._refuse(f"The value of {name} may contain letters, digits, _, - and . only", value.offset)
        return text

    def _temperature(self, name: str, value: _Value) -> float:
        message = f"The value of {name} must be a finite number that is not negative"
        if value.kind != "number" or not _NUMBER.fullmatch(value.text):
            self._refuse(message, value.offset)
        temperature = float(value.text)
        if not math.isfinite(temperature):
            self._refuse(message, value.offset)
        return temperature

    def _marker(self, name: str, value: _Value) -> Marker:
        kind: Any = name
        if value.kind == "string":
            return self._string_marker(kind, value)
        if value.kind == "regex":
            return Marker(kind, read_regex(value.text, self._text, value.offset), None)
        if value.kind == "word" and is_terminal_name(value.text):
            return Marker(kind, self._refer(value.text, value.offset), None)
        message = f"The value of {name} must be a string, a regular expression or the name of a terminal"
        raise LarkError.at(message, self._text, value.offset)

    def _string_marker(self, kind: Any, value: _Value) -> Marker:
        ignores_case = value.text.endswith("i")
        text = read_string(value.text.removesuffix("i"), self._text, value.offset)
        if not text:
            hint = ", and a stop at the end of the text is not supported" if kind == "stop" else ""
            self._refuse(f"The marker of {kind} must not be empty{hint}", value.offset)
        if ignores_case:
            return Marker(kind, ignoring_case(text, self._text, value.offset), None)
        return Marker(kind, Literal(text.encode()), text)

    # what the methods share

    def _check_combination(self, offsets: dict[str, int]) -> None:
        if "suffix" in offsets and "stop" in offsets:
            self._refuse("suffix and stop cannot be used together", max(offsets["suffix"], offsets["stop"]))
        if "stop_capture" in offsets and not offsets.keys() & {"suffix", "stop"}:
            self._refuse("stop_capture needs a marker: suffix=… or stop=…", offsets["stop_capture"])

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise LarkError.at(message, self._text, offset)


def _start(match: re.Match[str]) -> int:
    return match.start(match.lastgroup or 0)


def _unknown(name: str) -> str:
    similar = difflib.get_close_matches(name, _OPTIONS, n=1)
    hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(_OPTIONS)}"
    return f"Unknown option {name}; {hint}"


_Read = Callable[[OptionReader, str, _Value], Any]
# How each option's value is read, and what it looks like.
_OPTIONS: MappingProxyType[str, tuple[_Read, str]] = MappingProxyType(
    {
        "lazy": (OptionReader._capture_name, ""),
        "suffix": (OptionReader._marker, '"<end>"'),
        "stop": (OptionReader._marker, '"<end>"'),
        "stop_capture": (OptionReader._capture_name, '"name"'),
        "max_tokens": (OptionReader._max_tokens, "32"),
        "max_chars": (OptionReader._max_chars, "128"),
        "capture": (OptionReader._capture_name, '"name"'),
        "temperature": (OptionReader._temperature, "0.7"),
    }
)
