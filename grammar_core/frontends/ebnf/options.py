"""The option list between a rule's name and its ::=, as in `value[max_tokens=32, lazy] ::= …`.

Options are bare names or name=value, each at most once, separated by commas.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from grammar_core.errors import GrammarSyntaxError
from grammar_core.frontends.ebnf.escapes import MalformedTokenError, decode_literal
from grammar_core.frontends.ebnf.lexer import SKIP
from grammar_core.frontends.ebnf.limits import MAX_RULE_CHARS, MAX_RULE_TOKENS
from grammar_core.ir.nodes import NO_OPTIONS, RuleOptions

_TOKEN = re.compile(
    rf"{SKIP}(?:(?P<word>[^\W\d][\w\-]*+)|"
    r'(?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")|'
    r"(?P<number>[-+]?\.?[0-9](?:(?<=[eE])[-+]|[\w.])*+)|"
    r"(?P<comma>,)|(?P<equals>=)|(?P<end>\])|(?P<bad>.))",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+")


class _Value(NamedTuple):
    """What follows `name=`: its kind as a token, its text, and where it begins."""

    kind: str
    text: str
    offset: int


class RuleIdUse(NamedTuple):
    """An option that names a rule by its number, which the grammar's end shows to exist or not."""

    option: str
    rule_id: int
    offset: int


class OptionReader:
    """Reads the option list of the rule `rule`, whose bracket opens at `begin` of `text`."""

    def __init__(self, text: str, rule: str, begin: int) -> None:
        self._text = text
        self._rule = rule
        self._begin = begin
        self.rule_ids: list[RuleIdUse] = []

    def read(self) -> RuleOptions:
        """The options. Raises GrammarSyntaxError at the one that is wrong."""
        values: dict[str, Any] = {}
        offsets: dict[str, int] = {}
        position = self._begin + 1
        while True:
            name, offset, position = self._read_name(position, values)
            value, position = self._read_value(name, offset, position)
            values[name] = value
            offsets[name] = offset
            separator = self._token(position)
            position = separator.end()
            if separator.lastgroup == "end":
                break
            if separator.lastgroup != "comma":
                self._refuse("Expected , or ] after an option", _start(separator))
        self._check_pairs(values, offsets)
        return NO_OPTIONS._replace(**values)

    def _token(self, position: int) -> re.Match[str]:
        match = _TOKEN.match(self._text, position)
        assert match is not None, "the list ends in ]"
        return match

    def _read_name(self, position: int, values: dict[str, Any]) -> tuple[str, int, int]:
        match = self._token(position)
        name, offset = match["word"], _start(match)
        if name is None:
            empty = match.lastgroup == "end" and not values
            self._refuse("The option list is empty" if empty else "Expected the name of an option", offset)
        if name not in _OPTIONS:
            self._refuse(_unknown(name), offset)
        if name in values:
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

    def _byte_count(self, name: str, value: _Value) -> int:
        return self._integer(name, value, 0, MAX_RULE_CHARS)

    def _rule_id(self, name: str, value: _Value) -> int:
        rule_id = self._integer(name, value, 0, MAX_RULE_CHARS)
        self.rule_ids.append(RuleIdUse(name, rule_id, value.offset))
        return rule_id

    def _integer(self, name: str, value: _Value, low: int, high: int) -> int:
        digits = value.text.lstrip("0") or "0"
        if value.kind != "number" or not value.text.isdecimal():
            self._refuse(f"The value of {name} must be a decimal integer", value.offset)
        if len(digits) > len(str(high)) or not low <= int(digits) <= high:
            self._refuse(f"The value of {name} must be from {low:,} to {high:,}", value.offset)
        return int(digits)

    def _text_value(self, name: str, value: _Value) -> str:
        if value.kind != "string":
            self._refuse(f'The value of {name} must be a string, as in {name}="name"', value.offset)
        try:
            text = decode_literal(value.text).decode()
        except MalformedTokenError as error:
            self._refuse(error.message, value.offset + error.offset)
        if not text:
            self._refuse(f"The value of {name} must not be empty", value.offset)
        return text

    def _temperature(self, name: str, value: _Value) -> float:
        message = f"The value of {name} must be a finite number that is not negative"
        if value.kind != "number" or not _NUMBER.fullmatch(value.text):
            self._refuse(message, value.offset)
        temperature = float(value.text)
        if not math.isfinite(temperature):
            self._refuse(message, value.offset)
        return temperature

    # what the methods share

    def _check_pairs(self, values: dict[str, Any], offsets: dict[str, int]) -> None:
        given = [
            name
            for name in ("capture_hidden_body_rule_id", "capture_hidden_marker_rule_id")
            if name in values
        ]
        if len(given) == 1:
            self._refuse(
                "capture_hidden_body_rule_id and capture_hidden_marker_rule_id must be given together",
                offsets[given[0]],
            )

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise GrammarSyntaxError.at(message, self._text, offset)


def _start(match: re.Match[str]) -> int:
    return match.start(match.lastgroup or 0)


def _unknown(name: str) -> str:
    if name in ("suffix", "stop"):
        return f"EBNF has no option {name}; the Lark notation has it"
    similar = difflib.get_close_matches(name, _OPTIONS, n=1)
    hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(_OPTIONS)}"
    return f"Unknown option {name}; {hint}"


_Read = Callable[[OptionReader, str, _Value], Any]
_BARE = ("capture", "lazy")
# How each option's value is read, and what it looks like.
_OPTIONS: MappingProxyType[str, tuple[_Read, str]] = MappingProxyType(
    {
        "max_tokens": (OptionReader._max_tokens, "32"),
        "max_chars": (OptionReader._max_chars, "128"),
        "capture": (OptionReader._text_value, '"name"'),
        "lazy": (OptionReader._text_value, ""),
        "temperature": (OptionReader._temperature, "0.7"),
        "capture_hidden_suffix_bytes": (OptionReader._byte_count, "1"),
        "capture_hidden_stop_bytes": (OptionReader._byte_count, "1"),
        "capture_hidden_body_rule_id": (OptionReader._rule_id, "1"),
        "capture_hidden_marker_rule_id": (OptionReader._rule_id, "2"),
        "stop_capture": (OptionReader._text_value, '"name"'),
    }
)
