"""Schemas of numbers and strings that recur, with their rules, which are the same in every grammar."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.dialects import Dialect
from grammar_core.frontends.json_schema.documents import Documents, Resource
from grammar_core.frontends.json_schema.emission import (
    NOTHING_RECURS,
    SCALARS,
    Emitter,
    Leaf,
    LeafRules,
    Recurring,
)
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.frontends.json_schema.remembered import matching
from grammar_core.frontends.json_schema.texts import Lexical
from grammar_core.ir.nodes import Automaton, Expr, Rule

_REMEMBERED = 1_024
_MAX_TEXT = 400
_MAX_EDGES = 20_000


def build_leaf(leaf: Leaf, dialect: Dialect, lexical: Lexical) -> LeafRules | None:
    """The rules of the leaf; None where they are better built anew, and for a leaf that is at fault."""
    if sum(len(value) for _, value in leaf if isinstance(value, str)) > _MAX_TEXT:
        return None
    return _remembered(leaf, dialect, lexical)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(leaf: Leaf, dialect: Dialect, lexical: Lexical) -> LeafRules | None:
    expander = Expander(Documents("true", {}), loosen=frozenset())
    emitter = Emitter(
        expander,
        build_layout(LayoutOptions()),
        lexical=lexical,
        any_order=False,
        is_strict=False,
        recurring=NOTHING_RECURS,
        prefix=_prefix(repr((dialect, sorted(leaf, key=str)))),
    )
    schema = {keyword: list(value) if isinstance(value, tuple) else value for keyword, value in leaf}
    try:
        goal = expander.goal_at(schema, Resource("", schema, dialect, None), None, ())
        if not expander.types(goal) <= SCALARS:
            return None  # arrays and objects depend on the layout
        expr = emitter.value(goal, 0)
    except GrammarError:
        check_now()
        return None  # so that the error is found again where the place is known
    return _settled(emitter, expr)


def build_keys(pattern: str, lexical: Lexical) -> LeafRules | None:
    """The rules of the keys in which the pattern is found; None where they are better built anew."""
    return None if len(pattern) > _MAX_TEXT else _remembered_keys(pattern, lexical)


@lru_cache(maxsize=256)
def _remembered_keys(pattern: str, lexical: Lexical) -> LeafRules | None:
    emitter = Emitter(
        Expander(Documents("true", {}), loosen=frozenset()),
        build_layout(LayoutOptions()),
        lexical=lexical,
        any_order=False,
        is_strict=False,
        recurring=NOTHING_RECURS,
        prefix=_prefix(f"keys {pattern}"),
    )
    return _settled(emitter, emitter.add("keys", emitter.key_language(matching(pattern))))


def _settled(emitter: Emitter, expr: Expr) -> LeafRules | None:
    """The rules, unless they are so many that they are not to be kept."""
    if sum(map(_size, emitter.rules)) > _MAX_EDGES:
        return None
    return LeafRules(expr, tuple(emitter.rules))


def _prefix(description: str) -> str:
    """Begins the names of rules of what is described and of nothing else."""
    return f"json.{blake2b(description.encode(errors='replace'), digest_size=8).hexdigest()}."


def _size(rule: Rule) -> int:
    return len(rule.body.edges) if isinstance(rule.body, Automaton) else 1


RECURRING = Recurring(build_leaf, build_keys)
"""What is remembered for the whole process, within limits."""
