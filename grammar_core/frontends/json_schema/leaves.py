"""Schemas of numbers and strings that recur, with their rules, which are the same in every grammar."""

from __future__ import annotations

import zlib
from functools import lru_cache

from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.dialects import Dialect
from grammar_core.frontends.json_schema.documents import Documents, Resource
from grammar_core.frontends.json_schema.emission import Emitter, Leaf, LeafRules
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.ir.nodes import Automaton, Choice, Expr, Literal, Rule, RuleRef
from grammar_core.ir.traversal import transform_rule, walk_rule

_REMEMBERED = 1_024
_MAX_TEXT = 400
_MAX_NODES = 20_000


def build_leaf(leaf: Leaf, dialect: Dialect, lexical: str) -> LeafRules | None:
    """The rules of the leaf; None where they are better built anew, and for a leaf that is at fault."""
    if sum(len(value) for _, value in leaf if isinstance(value, str)) > _MAX_TEXT:
        return None
    return _remembered(leaf, dialect, lexical)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(leaf: Leaf, dialect: Dialect, lexical: str) -> LeafRules | None:
    expander = Expander(Documents("true", {}), loosen=frozenset())
    emitter = Emitter(
        expander,
        build_layout(LayoutOptions()),
        lexical=lexical,
        any_order=False,
        is_strict=False,
        build_leaf=lambda *_: None,
    )
    schema = dict(leaf)
    try:
        expr = emitter.value(expander.goal_at(schema, Resource("", schema, dialect, None), None, ()), 0)
    except GrammarError:
        return None  # so that the error is found again where the place is known
    if not isinstance(expr, RuleRef) or expr.name in ("json_string", "json_number", "json_integer"):
        return LeafRules(expr, ()) if isinstance(expr, Literal | Choice) and not emitter.rules else None
    prefix = _name(leaf)
    rules = tuple(_renamed(rule, prefix) for rule in emitter.rules)
    if sum(_size(rule) for rule in rules) > _MAX_NODES:
        return None
    return LeafRules(RuleRef(f"{prefix}.{expr.name}"), rules)


def _name(leaf: Leaf) -> str:
    """A name that no other leaf has."""
    text = repr(sorted(leaf)).encode()
    return f"json.{zlib.crc32(text):08x}{zlib.adler32(text):08x}"


def _renamed(rule: Rule, prefix: str) -> Rule:
    def change(expr: Expr) -> Expr:
        return RuleRef(f"{prefix}.{expr.name}") if isinstance(expr, RuleRef) else expr

    return transform_rule(rule, change)._replace(name=f"{prefix}.{rule.name}")


def _size(rule: Rule) -> int:
    return sum(len(expr.edges) if isinstance(expr, Automaton) else 1 for expr in walk_rule(rule))
