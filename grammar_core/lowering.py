"""Writes a grammar as the postfix program that the native core reads (native/automaton/expression.hpp).

The walk itself is native (native/bindings/lowering.cpp): a grammar may have ten thousands of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from grammar_core import _native
from grammar_core.deadline import check_now
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Literal,
    Members,
    OtherTexts,
    Regex,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    TokenSet,
)

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar

# In the order of the native walk's kinds of nodes.
_KINDS = (
    Literal,
    RuleRef,
    Sequence,
    Choice,
    CharClass,
    Repeat,
    Regex,
    Members,
    Automaton,
    TokenSet,
    OtherTexts,
    CountedAutomaton,
)


class Program(NamedTuple):
    """A grammar in the native core's input format: 64-bit words, bytes of all literals, rule names, root.

    Captures are named by their position in `capture_names`.
    """

    words: bytes
    literals: bytes
    rule_names: list[str]
    root: int
    capture_names: list[str]


Expansions: TypeAlias = Mapping[type[Any], Callable[[Any], Expr]]


def lower_grammar(grammar: Grammar, expansions: Expansions = MappingProxyType({})) -> Program:
    """The program of `grammar`, whose references must all be defined.

    `expansions` say how to replace the macros that it has; Members and OtherTexts may stay.
    """
    index_of_rule = {rule.name: index for index, rule in enumerate(grammar.rules)}
    words, literals, captures = _native.lower_rules(_KINDS, grammar.rules, index_of_rule, dict(expansions))
    check_now()
    return Program(words, literals, list(index_of_rule), index_of_rule[grammar.root], captures)


def lower_expression(expr: Expr) -> tuple[bytes, bytes]:
    """The words and literals of a program whose only rule is `expr`, which refers to no rules."""
    words, literals, _ = _native.lower_rules(_KINDS, (Rule("", expr),), {}, {})
    return words, literals
