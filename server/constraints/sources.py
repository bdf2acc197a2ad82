"""The kinds of constraints, each as the source of a grammar."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grammar_core import BOUNDED_WHITESPACE
from grammar_core.errors import GrammarError, RuleReplacementError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Rule
from grammar_core.rule_replacement import any_text_of
from server.constraints.constraint import SourceError
from server.constraints.dialect import is_ebnf
from server.constraints.structural_tags import with_json_defaults

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo

ANY_JSON_OBJECT = '{"type":"object"}'


@dataclass(frozen=True)
class EbnfSource:
    """EBNF text; `replacements` are rules that the request replaces, by EBNF text or literal texts."""

    grammar: str
    replacements: tuple[tuple[str, str | tuple[str, ...]], ...] = ()

    @property
    def text(self) -> str:
        return self.grammar + "".join(
            name + (body if isinstance(body, str) else "".join(body)) for name, body in self.replacements
        )

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        grammar = Grammar.from_ebnf(self.grammar)
        if not self.replacements:
            return grammar
        try:
            return grammar.replace_rules(dict(self.replacements))
        except RuleReplacementError as error:
            raise SourceError(f"grammar_rules.{error.rule}", error) from None


@dataclass(frozen=True)
class LarkSource:
    """Lark text and the grammars, in Lark or EBNF, that it may name with `@`."""

    grammar: str
    named: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return self.grammar + "".join(name + text for name, text in self.named)

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        named = {name: Grammar.from_ebnf(text) if is_ebnf(text) else text for name, text in self.named}
        return Grammar.from_lark(self.grammar, tokenizer_info=tokenizer_info, named_grammars=named or None)


@dataclass(frozen=True)
class RegexSource:
    pattern: str

    @property
    def text(self) -> str:
        return self.pattern

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        return Grammar.from_regex(self.pattern)


@dataclass(frozen=True)
class ChoiceSource:
    choices: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(self.choices)

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        return Grammar((Rule("root", any_text_of(self.choices)),), "root")


@dataclass(frozen=True)
class JsonSource:
    """A JSON Schema as JSON text. `whitespace` is the pattern of a gap; None writes no flexible gaps.

    `closed`: objects have no other members, and arrays no other items, than those the schema names, unless
    it says otherwise. `loosen` are keywords that need not be enforced where that is impossible.
    """

    schema: str
    whitespace: str | None = BOUNDED_WHITESPACE
    closed: bool = False
    loosen: tuple[str, ...] = ()
    whitespace_param: str = field(default="", compare=False)
    """The field that `whitespace` comes from, if there is one."""

    @property
    def text(self) -> str:
        return self.schema + (self.whitespace or "")

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        if self.whitespace_param and self.whitespace is not None:
            _check_whitespace(self.whitespace, self.whitespace_param)
        return Grammar.from_json_schema(self.schema, **self._options())

    def _options(self) -> dict[str, Any]:
        spacing: dict[str, Any] = {"any_whitespace": False}
        if self.whitespace is not None:
            spacing = {"any_whitespace": True, "whitespace_pattern": self.whitespace}
        return {**spacing, "strict_mode": self.closed, "loosen": self.loosen}


def _check_whitespace(pattern: str, param: str) -> None:
    try:
        Grammar.from_regex(pattern)
    except GrammarError as error:
        raise SourceError(param, error) from None


@dataclass(frozen=True)
class StructuralTagSource:
    """A structural tag as JSON text. Where it leaves open how its JSON is written, that is as elsewhere."""

    tag: str

    @property
    def text(self) -> str:
        return self.tag

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        return Grammar.from_structural_tag(with_json_defaults(self.tag), tokenizer_info=tokenizer_info)
