"""The list of a rule's options, as in `[max_tokens=32, capture="name"]`, in every notation.

Options are bare names or name=value, each at most once, separated by commas. What is the same everywhere is
here; a notation says which options it has, how its strings look, and which error it raises.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn

from grammar_core.errors import GrammarSyntaxError

MAX_RULE_TOKENS = 1_000_000
"""The largest max_tokens of a rule."""

MAX_RULE_CHARS = 2_147_483_647
"""The largest max_chars of a rule."""

NUMBER = r"(?P<number>[-+]?\.?[0-9](?:(?<=[eE])[-+]|[\w.])*+)"
PUNCTUATION = r"(?P<comma>,)|(?P<equals>=)|(?P<end>\])|(?P<bad>.)"
_DECIMAL = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+")
_BARE = ("capture", "lazy")


class Value(NamedTuple):
    """What follows `name=`: its kind as a token, its text, and where it begins."""

    kind: str
    text: str
    offset: int


class OptionListReader:
    """Reads the option list of the rule `rule`, whose bracket opens at `begin` of `text`.

    `token` matches the tokens of a list, in groups word, string, number, comma, equals, end and bad, perhaps
    others. `options` has for each name the method that reads its value and an example of one.
    """

    token: ClassVar[re.Pattern[str]]
    options: ClassVar[Mapping[str, tuple[str, str]]]
    error: ClassVar[type[GrammarSyntaxError]]

    def __init__(self, text: str, rule: str, begin: int) -> None:
        self._text = text
        self._rule = rule
        self._begin = begin

    def read_values(self) -> tuple[dict[str, Any], dict[str, int]]:
        """The values of the options that are given, and where each option begins."""
        values: dict[str, Any] = {}
        offsets: dict[str, int] = {}
        position = self._begin + 1
        while True:
            name, offset, position = self._read_name(position, offsets)
            values[name], position = self._read_value(name, offset, position)
            offsets[name] = offset
            separator = self._next(position)
            position = separator.end()
            if separator.lastgroup == "end":
                return values, offsets
            if separator.lastgroup != "comma":
                self.refuse("Expected , or ] after an option", _start(separator))

    def refuse(self, message: str, offset: int) -> NoReturn:
        """Raise the notation's error about what stands at `offset`."""
        raise self.error.at(message, self._text, offset)

    def unknown(self, name: str) -> str:
        """What is said of an option that does not exist."""
        similar = difflib.get_close_matches(name, self.options, n=1)
        hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(self.options)}"
        return f"Unknown option {name}; {hint}"

    # one method a kind of value

    def max_tokens(self, name: str, value: Value) -> int:
        """A budget of tokens."""
        return self.integer(name, value, 1, MAX_RULE_TOKENS)

    def max_chars(self, name: str, value: Value) -> int:
        """A budget of characters."""
        return self.integer(name, value, 0, MAX_RULE_CHARS)

    def integer(self, name: str, value: Value, low: int, high: int) -> int:
        """A decimal integer from `low` to `high`."""
        digits = value.text.lstrip("0") or "0"
        if value.kind != "number" or not value.text.isdecimal():
            self.refuse(f"The value of {name} must be a decimal integer", value.offset)
        if len(digits) > len(str(high)) or not low <= int(digits) <= high:
            self.refuse(f"The value of {name} must be from {low:,} to {high:,}", value.offset)
        return int(digits)

    def temperature(self, name: str, value: Value) -> float:
        """A number that can be a temperature."""
        is_number = value.kind == "number" and _DECIMAL.fullmatch(value.text)
        temperature = float(value.text) if is_number else math.inf
        if not math.isfinite(temperature):
            self.refuse(f"The value of {name} must be a finite number that is not negative", value.offset)
        return temperature

    # the list

    def _next(self, position: int) -> re.Match[str]:
        match = self.token.match(self._text, position)
        assert match is not None, "the list ends in ]"
        return match

    def _read_name(self, position: int, given: Mapping[str, int]) -> tuple[str, int, int]:
        match = self._next(position)
        name, offset = match["word"], _start(match)
        if name is None:
            empty = match.lastgroup == "end" and not given
            self.refuse("The option list is empty" if empty else "Expected the name of an option", offset)
        if name not in self.options:
            self.refuse(self.unknown(name), offset)
        if name in given:
            self.refuse(f"The option {name} is given twice", offset)
        return name, offset, match.end()

    def _read_value(self, name: str, offset: int, position: int) -> tuple[Any, int]:
        match = self._next(position)
        if match.lastgroup != "equals":
            if name in _BARE:
                return (self._rule if name == "capture" else True), position
            self.refuse(f"The option {name} needs a value: {name}={self.options[name][1]}", offset)
        if name == "lazy":
            self.refuse("The option lazy takes no value", match.start("equals"))
        match = self._next(match.end())
        kind = match.lastgroup or "bad"
        if kind in ("comma", "end"):
            self.refuse(f"Expected a value after {name}=", match.start(kind))
        read = getattr(self, self.options[name][0])
        return read(name, Value(kind, match[kind], match.start(kind))), match.end()


def _start(match: re.Match[str]) -> int:
    return match.start(match.lastgroup or 0)
