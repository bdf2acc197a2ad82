"""Grammars inside of a grammar: `@name`, `%json` and the rules that both bring along."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.lark.errors import (
    DIALECT,
    LarkError,
    UndefinedNameError,
    limit_error,
    moved_error,
)
from grammar_core.frontends.lark.lexer import JsonText
from grammar_core.frontends.lark.limits import MAX_DEFINITIONS
from grammar_core.frontends.lark.special_tokens import SpecialTokens
from grammar_core.ir.nodes import Expr, Rule, RuleRef
from grammar_core.ir.traversal import transform_rule

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar
    from grammar_core.tokenizer_info import TokenizerInfo

_NAME = re.compile(r"[\w-]+")
# No rule or terminal is called _, so names with this prefix are never an author's.
_PREFIX = "_."
_LONGEST_CHAIN = 20


class Reference(NamedTuple):
    """The first place in a text where it refers to a named grammar."""

    name: str
    text: str
    offset: int


class Embeddings:
    """The grammars that one grammar embeds. Each is embedded once, however often it is referred to."""

    def __init__(
        self,
        tokenizer_info: TokenizerInfo | None,
        named_grammars: Mapping[str, str | Grammar] | None,
    ) -> None:
        self.special_tokens = SpecialTokens(tokenizer_info)
        self.rules: dict[str, Rule] = {}
        """Rules of grammars that were none of Lark, under the names they have here."""
        self.markers: dict[str, tuple[str, str]] = {}
        """For rules that tell where a marker begins: the rules before it and of it, by name."""
        self.texts: list[tuple[str, str]] = []
        """Named grammars that are Lark text, in the order in which they are first referred to."""
        self.references: dict[str, list[Reference]] = {}
        """By the name of a text, or "" for the whole grammar: what named grammars it refers to."""
        self.reader = ""
        """The name of the text that is being read."""
        self._named = dict(named_grammars or {})
        self._roots: dict[str, RuleRef] = {}
        self._schemas: dict[str, RuleRef] = {}
        self._count = 0
        _check_names(self._named)

    def new_prefix(self, kind: str) -> str:
        """A prefix for the names of another embedded grammar."""
        self._count += 1
        return f"{_PREFIX}{kind}{self._count}."

    def root_of(self, prefix: str) -> RuleRef:
        """The reference to the root of a Lark grammar whose names have this prefix."""
        return RuleRef(f"{prefix}start")

    def named(self, name: str, text: str, offset: int) -> RuleRef:
        """The root of the named grammar that is referred to at `offset` of `text`. Raises LarkError."""
        grammar = self._named.get(name)
        if grammar is None:
            known = ", ".join(f"@{key}" for key in list(self._named)[:20]) or "none"
            message = f"The named grammar @{name} is not given; there is {known}"
            raise UndefinedNameError.at(message, text, offset)
        known_to = self.references.setdefault(self.reader, [])
        if not any(reference.name == name for reference in known_to):
            known_to.append(Reference(name, text, offset))
        if name not in self._roots:
            self._roots[name] = self._embed_named(name, grammar, text, offset)
        return self._roots[name]

    def json(self, schema: JsonText, text: str, offset: int) -> RuleRef:
        """The root of the grammar of the schema after the `%json` at `offset`. Raises LarkError."""
        if not isinstance(schema.value, (dict, bool)):
            raise LarkError.at("%json takes a JSON Schema: an object", text, schema.begin)
        key = json.dumps(schema.value)
        if key not in self._schemas:
            self._schemas[key] = self._embed_schema(schema.value, text, offset)
        return self._schemas[key]

    def _embed_named(self, name: str, grammar: Any, text: str, offset: int) -> RuleRef:
        prefix = f"{_PREFIX}named.{name}."
        if isinstance(grammar, str):
            self.texts.append((name, prefix))
            return self.root_of(prefix)
        return self._embed(grammar, prefix, text, offset)

    def text_of(self, name: str) -> str:
        """The text of a named grammar that is one."""
        return str(self._named[name])

    def _embed_schema(self, schema: Any, text: str, offset: int) -> RuleRef:
        from grammar_core.grammar import Grammar

        try:
            grammar = Grammar.from_json_schema(schema)
        except GrammarError as error:
            check_now()
            raise moved_error(error, f"In %json: {error.message}", text, offset) from None
        return self._embed(grammar, self.new_prefix("json"), text, offset)

    def _embed(self, grammar: Grammar, prefix: str, text: str, offset: int) -> RuleRef:
        if len(self.rules) + len(grammar.rules) > MAX_DEFINITIONS:
            message = (
                f"The grammar has more than {MAX_DEFINITIONS:,} rules, those of embedded grammars included"
            )
            raise limit_error(message, text, offset, "definitions", MAX_DEFINITIONS)
        names = {rule.name: prefix + rule.name for rule in grammar.rules}

        def renamed(expr: Expr) -> Expr:
            return RuleRef(names[expr.name]) if isinstance(expr, RuleRef) else expr

        for rule in grammar.rules:
            self.rules[names[rule.name]] = transform_rule(rule, renamed)._replace(name=names[rule.name])
            ids = rule.options.capture_hidden_body_rule_id, rule.options.capture_hidden_marker_rule_id
            if ids[0] is not None and ids[1] is not None:
                body, marker = grammar.rules[ids[0]].name, grammar.rules[ids[1]].name
                self.markers[names[rule.name]] = (names[body], names[marker])
        return RuleRef(names[grammar.root])


def _check_names(named: Mapping[str, object]) -> None:
    from grammar_core.grammar import Grammar

    for name, grammar in named.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = f"{name!r} cannot name a grammar: names have letters, digits, _ and - only, and no @"
            raise LarkError(message, dialect=DIALECT)
        if not isinstance(grammar, (str, Grammar)):
            kind = type(grammar).__name__
            raise TypeError(f"the named grammar {name} is Lark text or a Grammar, not {kind}")


def refuse_cycles(references: Mapping[str, list[Reference]]) -> None:
    """Raise LarkError for named grammars that refer to each other in a circle, with the chain."""
    finished: set[str] = set()
    for start in references.get("", ()):
        # The names on the way from the whole grammar, in order.
        chain = {start.name: None}
        pending = [iter(references.get(start.name, ()))]
        while pending:
            following = next(pending[-1], None)
            if following is None:
                finished.add(chain.popitem()[0])
                pending.pop()
            elif following.name in chain:
                _refuse_circle([*chain, following.name], start)
            elif following.name not in finished:
                chain[following.name] = None
                pending.append(iter(references.get(following.name, ())))


def _refuse_circle(names: list[str], start: Reference) -> NoReturn:
    shown = names if len(names) <= _LONGEST_CHAIN else [*names[:_LONGEST_CHAIN], "…"]
    message = f"Named grammars refer to each other in a circle: {' -> '.join(f'@{name}' for name in shown)}"
    raise LarkError.at(message, start.text, start.offset)
