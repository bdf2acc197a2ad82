"""Schemas of numbers and strings that recur, with their rules, which are the same in every grammar."""

from __future__ import annotations

import zlib
from functools import lru_cache

from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.dialects import Dialect
from grammar_core.frontends.json_schema.documents import Documents, Resource
from grammar_core.frontends.json_schema.emission import SCALARS, Emitter, Leaf, LeafRules
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.frontends.json_schema.texts import Lexical
from grammar_core.ir.nodes import Automaton, Rule

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
        build_leaf=lambda *_: None,
        prefix=_prefix(leaf),
    )
    schema = dict(leaf)
    try:
        goal = expander.goal_at(schema, Resource("", schema, dialect, None), None, ())
        if not expander.types(goal) <= SCALARS:
            return None  # arrays and objects depend on the layout
        expr = emitter.value(goal, 0)
    except GrammarError:
        return None  # so that the error is found again where the place is known
    if sum(map(_size, emitter.rules)) > _MAX_EDGES:
        return None
    return LeafRules(expr, tuple(emitter.rules))


def _prefix(leaf: Leaf) -> str:
    """Begins the names of rules of this leaf and of no other one."""
    text = repr(sorted(leaf)).encode()
    return f"json.{zlib.crc32(text):08x}{zlib.adler32(text):08x}."


def _size(rule: Rule) -> int:
    return len(rule.body.edges) if isinstance(rule.body, Automaton) else 1
