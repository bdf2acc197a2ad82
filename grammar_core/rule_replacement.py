"""A grammar in which some rules have other bodies: what is fixed stays, what a request knows comes in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError, RuleReplacementError, UndefinedRuleError
from grammar_core.frontends.ebnf.parser import parse_ebnf
from grammar_core.ir.combination import moved_rule
from grammar_core.ir.nodes import Choice, Expr, Literal, Rule, RuleRef
from grammar_core.ir.right_linear import FreeNames

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar

Replacement: TypeAlias = "str | Iterable[str] | Grammar"

# What may hold "::=" without defining a rule: comments, strings, classes.
_DEFINITION = re.compile(r'#[^\n]*|"(?:\\.|[^"\\\n])*"|\[(?:\\.|[^\]\\\n])*\]|(?P<assign>::=)')


def replace_rules(rules: tuple[Rule, ...], replacements: Mapping[str, Replacement]) -> tuple[Rule, ...]:
    """The rules with these bodies instead of their own, and the rules that those need behind them.

    Raises RuleReplacementError where a replacement is no grammar or there is no such rule.
    """
    gathering = _Gathering(rules)
    bodies = {name: gathering.body(name, replacement) for name, replacement in replacements.items()}
    replaced = [rule._replace(body=bodies.get(rule.name, rule.body)) for rule in rules]
    return (*replaced, *gathering.added)


class _Gathering:
    """Collects the rules that replacements bring along, under names that nothing else has."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._names = {rule.name: None for rule in rules}
        self._free = FreeNames(set(self._names))
        self._before = len(rules)
        self.added: list[Rule] = []

    def body(self, name: str, replacement: Replacement) -> Expr:
        try:
            self._require(name)
            if isinstance(replacement, str):
                return self._of_text(name, replacement)
            if isinstance(replacement, Iterable):
                return any_text_of(replacement)
            return self._embed(replacement.rules, replacement.root)
        except GrammarError as error:
            check_now()
            raise RuleReplacementError(name, error) from None

    def _require(self, name: str) -> None:
        if name in self._names:
            return
        similar = difflib.get_close_matches(name, self._names, n=1)
        hint = f'; did you mean "{similar[0]}"?' if similar else ""
        raise UndefinedRuleError(f"The grammar has no such rule{hint}")

    def _of_text(self, name: str, text: str) -> Expr:
        if any(match["assign"] for match in _DEFINITION.finditer(text)):
            return self._embed(parse_ebnf(text), "root")
        others = "".join(f'\n{other} ::= ""' for other in self._names if other != name)
        try:
            rules = parse_ebnf(f"{name} ::=\n{text}{others}", root_rule_name=name)
        except GrammarError as error:
            check_now()
            raise error.lines_up(1) from None
        return rules[0].body

    def _embed(self, rules: tuple[Rule, ...], root: str) -> Expr:
        names = {rule.name: self._free_name(rule.name) for rule in rules}
        before = self._before + len(self.added)
        self.added += (moved_rule(rule, names, before) for rule in rules)
        return RuleRef(names[root])

    def _free_name(self, name: str) -> str:
        free = self._free.new(name) if name in self._names else name
        self._names[free] = None
        return free


def any_text_of(texts: Iterable[str]) -> Expr:
    """One of these texts. Raises GrammarError if there are none."""
    options = tuple(Literal(text.encode()) for text in dict.fromkeys(texts))
    if not options:
        raise GrammarError("a list of texts needs at least one")
    return options[0] if len(options) == 1 else Choice(options)
