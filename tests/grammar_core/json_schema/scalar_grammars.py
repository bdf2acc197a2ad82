"""Compiles sets of strings and numbers for the tests."""

from __future__ import annotations

from functools import lru_cache

import grammar_core
from grammar_core.frontends.json_schema.numbers import NumberLanguage
from grammar_core.frontends.json_schema.texts import Lexical, TextLanguage
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Expr, Rule, RuleRef


class Definitions:
    """Rules by name and expression, for `to_expression`."""

    def __init__(self) -> None:
        self.rules: dict[tuple[str, Expr], Rule] = {}

    def __call__(self, name: str, body: Expr) -> RuleRef:
        key = (name, body)
        if key not in self.rules:
            self.rules[key] = Rule(f"{name}_{len(self.rules)}", body)
        return RuleRef(self.rules[key].name)


def grammar_of(
    language: TextLanguage | NumberLanguage, lexical: Lexical = "natural", *, key: bool = False
) -> Grammar:
    """The grammar of the JSON texts of a set."""
    definitions = Definitions()
    if key:
        assert isinstance(language, TextLanguage)
        root = language.to_key_expression(lexical, definitions)
    else:
        root = language.to_expression(lexical, definitions)
    return Grammar.from_rules([Rule("root", root), *definitions.rules.values()])


@lru_cache(maxsize=1)
def _compiler() -> grammar_core.GrammarCompiler:
    vocabulary = [b"</s>", *(bytes([byte]) for byte in range(256))]
    info = grammar_core.TokenizerInfo(vocabulary, stop_token_ids=[0])
    return grammar_core.GrammarCompiler(info, cache_enabled=False)


class Accepts:
    """Whether the engine takes a text for one of the set's."""

    def __init__(
        self, language: TextLanguage | NumberLanguage, lexical: Lexical = "natural", *, key: bool = False
    ) -> None:
        self._compiled = _compiler().compile_grammar(grammar_of(language, lexical, key=key))

    def __call__(self, text: str) -> bool:
        matcher = grammar_core.GrammarMatcher(self._compiled)
        return matcher.accept_string(text) and matcher.is_completed()

    def begins(self, text: str) -> bool:
        """Whether some text begins so."""
        return grammar_core.GrammarMatcher(self._compiled).accept_string(text)
