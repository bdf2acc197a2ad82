"""The option list between a rule's name and its ::=, as in `value[max_tokens=32, lazy] ::= …`."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, NamedTuple

from grammar_core.errors import GrammarSyntaxError
from grammar_core.frontends.ebnf.escapes import MalformedTokenError, decode_literal
from grammar_core.frontends.ebnf.lexer import SKIP
from grammar_core.frontends.option_list import MAX_RULE_CHARS, NUMBER, PUNCTUATION, OptionListReader, Value
from grammar_core.ir.nodes import NO_OPTIONS, RuleOptions

_STRING = r'(?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")'
_RULE_IDS = ("capture_hidden_body_rule_id", "capture_hidden_marker_rule_id")


class RuleIdUse(NamedTuple):
    """An option that names a rule by its number, which the grammar's end shows to exist or not."""

    option: str
    rule_id: int
    offset: int


class OptionReader(OptionListReader):
    """Reads the option list of the rule `rule`, whose bracket opens at `begin` of `text`."""

    token = re.compile(rf"{SKIP}(?:(?P<word>[^\W\d][\w\-]*+)|{_STRING}|{NUMBER}|{PUNCTUATION})", re.DOTALL)
    error = GrammarSyntaxError
    options = MappingProxyType(
        {
            "max_tokens": ("max_tokens", "32"),
            "max_chars": ("max_chars", "128"),
            "capture": ("text_value", '"name"'),
            "lazy": ("text_value", ""),
            "temperature": ("temperature", "0.7"),
            "capture_hidden_suffix_bytes": ("max_chars", "1"),
            "capture_hidden_stop_bytes": ("max_chars", "1"),
            "capture_hidden_body_rule_id": ("rule_id", "1"),
            "capture_hidden_marker_rule_id": ("rule_id", "2"),
            "stop_capture": ("text_value", '"name"'),
        }
    )

    def __init__(self, text: str, rule: str, begin: int) -> None:
        super().__init__(text, rule, begin)
        self.rule_ids: list[RuleIdUse] = []

    def read(self) -> RuleOptions:
        """The options. Raises GrammarSyntaxError at the one that is wrong."""
        values, offsets = self.read_values()
        self._check_pairs(values, offsets)
        return NO_OPTIONS._replace(**values)

    def unknown(self, name: str) -> str:
        """What is said of an option that does not exist, or only in another notation."""
        if name in ("suffix", "stop"):
            return f"EBNF has no option {name}; the Lark notation has it"
        return super().unknown(name)

    def rule_id(self, name: str, value: Value) -> int:
        """The position of a rule."""
        rule_id = self.integer(name, value, 0, MAX_RULE_CHARS)
        self.rule_ids.append(RuleIdUse(name, rule_id, value.offset))
        return rule_id

    def text_value(self, name: str, value: Value) -> str:
        """A string with something in it."""
        if value.kind != "string":
            self.refuse(f'The value of {name} must be a string, as in {name}="name"', value.offset)
        try:
            text = decode_literal(value.text).decode()
        except MalformedTokenError as error:
            self.refuse(error.message, value.offset + error.offset)
        if not text:
            self.refuse(f"The value of {name} must not be empty", value.offset)
        return text

    def _check_pairs(self, values: dict[str, Any], offsets: dict[str, int]) -> None:
        given = [name for name in _RULE_IDS if name in values]
        if len(given) == 1:
            self.refuse(f"{' and '.join(_RULE_IDS)} must be given together", offsets[given[0]])
