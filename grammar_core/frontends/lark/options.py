"""The option list between a rule's name and its colon, as in `field[max_tokens=32, suffix="!"]: …`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.lexer import NAME, REGEX, SKIP, STRING
from grammar_core.frontends.lark.namespace import Marker, RuleSpec, is_terminal_name
from grammar_core.frontends.lark.patterns import read_regex
from grammar_core.frontends.lark.strings import ignoring_case, read_string
from grammar_core.frontends.option_list import NUMBER, PUNCTUATION, OptionListReader, Value
from grammar_core.ir.nodes import NO_OPTIONS, Expr, Literal

_CAPTURE_NAME = re.compile(r"[\w.\-]+")


class OptionReader(OptionListReader):
    """Reads the option list of a rule, whose bracket opens at `begin` of `text`.

    `refer` makes the reference to a terminal that is named at an offset.
    """

    token = re.compile(
        rf"{SKIP}(?:(?P<word>{NAME})|(?P<string>{STRING}(?:i(?![\w-]))?+)|(?P<regex>{REGEX}[a-zA-Z]*+)|"
        rf"{NUMBER}|{PUNCTUATION})",
        re.DOTALL,
    )
    error = LarkError
    options = MappingProxyType(
        {
            "lazy": ("capture_name", ""),
            "suffix": ("marker", '"<end>"'),
            "stop": ("marker", '"<end>"'),
            "stop_capture": ("capture_name", '"name"'),
            "max_tokens": ("max_tokens", "32"),
            "max_chars": ("max_chars", "128"),
            "capture": ("capture_name", '"name"'),
            "temperature": ("temperature", "0.7"),
        }
    )

    def __init__(self, text: str, rule: str, begin: int, refer: Callable[[str, int], Expr]) -> None:
        super().__init__(text, rule, begin)
        self._refer = refer

    def read(self) -> RuleSpec:
        """The options. Raises LarkError at the one that is wrong."""
        values, offsets = self.read_values()
        self._check_combination(offsets)
        marker = values.pop("suffix", None) or values.pop("stop", None)
        return RuleSpec(NO_OPTIONS._replace(**values), marker, tuple(offsets.items()))

    def capture_name(self, name: str, value: Value) -> str:
        """The name of a capture."""
        if value.kind != "string" or value.text.endswith("i"):
            self.refuse(f'The value of {name} must be a string, as in {name}="name"', value.offset)
        text = read_string(value.text, self._text, value.offset)
        if not text:
            self.refuse(f"The value of {name} must not be empty", value.offset)
        if not _CAPTURE_NAME.fullmatch(text):
            self.refuse(f"The value of {name} may contain letters, digits, _, - and . only", value.offset)
        return text

    def marker(self, name: str, value: Value) -> Marker:
        """The marker that a rule ends with."""
        kind: Any = name
        if value.kind == "string":
            return self._string_marker(kind, value)
        if value.kind == "regex":
            return Marker(kind, read_regex(value.text, self._text, value.offset), None)
        if value.kind == "word" and is_terminal_name(value.text):
            return Marker(kind, self._refer(value.text, value.offset), None)
        message = f"The value of {name} must be a string, a regular expression or the name of a terminal"
        return self.refuse(message, value.offset)

    def _string_marker(self, kind: Any, value: Value) -> Marker:
        ignores_case = value.text.endswith("i")
        text = read_string(value.text.removesuffix("i"), self._text, value.offset)
        if not text:
            hint = ", and a stop at the end of the text is not supported" if kind == "stop" else ""
            self.refuse(f"The marker of {kind} must not be empty{hint}", value.offset)
        if ignores_case:
            return Marker(kind, ignoring_case(text, self._text, value.offset), None)
        return Marker(kind, Literal(text.encode()), text)

    def _check_combination(self, offsets: Mapping[str, int]) -> None:
        if "suffix" in offsets and "stop" in offsets:
            self.refuse("suffix and stop cannot be used together", max(offsets["suffix"], offsets["stop"]))
        if "stop_capture" in offsets and not offsets.keys() & {"suffix", "stop"}:
            self.refuse("stop_capture needs a marker: suffix=… or stop=…", offsets["stop_capture"])
