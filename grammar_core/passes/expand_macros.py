"""The same grammar without the nodes that stand for several others: what the native core knows is left."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from types import MappingProxyType
from typing import Any

from grammar_core.ir.counted_automata import expand_counted_automaton
from grammar_core.ir.nodes import (
    CountedAutomaton,
    Expr,
    Members,
    OtherTexts,
    Rule,
    Substring,
    TagDispatch,
    TokenTagDispatch,
)
from grammar_core.ir.traversal import Kinds, node_kinds, transform_rule
from grammar_core.passes.expand_members import expand_members
from grammar_core.passes.expand_other_texts import expand_other_texts
from grammar_core.passes.expand_substring import expand_substring
from grammar_core.passes.expand_tag_dispatch import expand_tag_dispatch
from grammar_core.passes.expand_token_tag_dispatch import expand_token_tag_dispatch

MACRO_EXPANSIONS: MappingProxyType[type[Any], Callable[[Any], Expr]] = MappingProxyType(
    {
        CountedAutomaton: expand_counted_automaton,
        Members: expand_members,
        OtherTexts: expand_other_texts,
        Substring: expand_substring,
        TagDispatch: expand_tag_dispatch,
        TokenTagDispatch: expand_token_tag_dispatch,
    }
)

_KNOWN_TO_THE_CORE = (CountedAutomaton, Members, OtherTexts)
NATIVE_EXPANSIONS: MappingProxyType[type[Any], Callable[[Any], Expr]] = MappingProxyType(
    {kind: expand for kind, expand in MACRO_EXPANSIONS.items() if kind not in _KNOWN_TO_THE_CORE}
)
"""Of the macros that the native core does not know."""


def expand_macros(rules: tuple[Rule, ...], *, but: Kinds = ()) -> tuple[Rule, ...]:
    """The rules, in their places, with every macro (the keys of MACRO_EXPANSIONS) replaced.

    Nodes of the classes `but` stay.
    """
    expansions = {kind: expand for kind, expand in MACRO_EXPANSIONS.items() if kind not in but}

    def expand(expr: Expr) -> Expr:
        expansion = expansions.get(type(expr))
        return expr if expansion is None else expansion(expr)

    expanded = tuple(
        transform_rule(rule, expand) if node_kinds((rule,)) & expansions.keys() else rule for rule in rules
    )
    return rules if all(map(is_, expanded, rules)) else expanded
