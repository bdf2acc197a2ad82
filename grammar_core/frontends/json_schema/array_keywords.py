"""Keywords of arrays, as shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import NEVER, Goal, complement
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.paths import Path
from grammar_core.frontends.json_schema.shapes import ArrayShape, Contains, ItemRule
from grammar_core.frontends.json_schema.values import ARRAY

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.expansion import Expander

_KEYWORDS = (
    *("items", "prefixItems", "additionalItems", "contains", "uniqueItems", "minItems", "maxItems"),
    "unevaluatedItems",
)


def alternatives(expander: Expander, sub: Subschema) -> list[ArrayShape]:
    """What the keywords of arrays ask, as a list of one shape or none."""
    schema = sub.schema
    if schema.keys().isdisjoint(_KEYWORDS):
        return [FULL[ARRAY]]
    prefix, rest, has_rest = _items(expander, sub)
    rules = [ItemRule(i, i + 1, goal) for i, goal in enumerate(prefix) if goal]
    if rest:
        rules.append(ItemRule(len(prefix), None, rest))
    contains = _contains(expander, sub)
    sees_contains = sub.dialect.draft == 2020
    counts: tuple[int, int | None, Path] = (0, None, None)
    if sub.dialect.validates:
        counts = (sub.count("minItems") or 0, sub.count("maxItems"), _unique(sub))
    shape = ArrayShape(
        tuple(rules),
        contains,
        *counts,
        evaluated=None if has_rest else len(prefix),
        evaluated_goals=tuple(c.goal for c in contains) if sees_contains else (),
        is_open=has_rest or "unevaluatedItems" in schema,
        declared=len(prefix),
        path=sub.path,
    )
    return [] if expander.is_void_shape(shape) else [shape]


def _items(expander: Expander, sub: Subschema) -> tuple[list[Goal], Goal, bool]:
    """Goals of the first items and of the rest, and whether the rest is spoken of."""
    schema = sub.schema
    items = schema.get("items")
    if isinstance(items, list) and not (sub.dialect.draft == 2020 and sub.dialect.declared):
        prefix = [expander.child(sub, item, "items", i) for i, item in enumerate(items)]
        if "additionalItems" not in schema:
            return prefix, frozenset(), False
        return prefix, expander.child(sub, schema["additionalItems"], "additionalItems"), True
    prefix = []
    if sub.dialect.draft == 2020:
        listed = sub.listing("prefixItems", may_be_empty=not sub.dialect.declared) or []
        prefix = [expander.child(sub, item, "prefixItems", i) for i, item in enumerate(listed)]
    if "items" not in schema:
        return prefix, frozenset(), False
    return prefix, expander.child(sub, items, "items"), True


def _contains(expander: Expander, sub: Subschema) -> tuple[Contains, ...]:
    if "contains" not in sub.schema or sub.dialect.draft < 6:
        return ()
    low, high = 1, None
    if sub.dialect.draft >= 2019 and sub.dialect.validates:
        given = sub.count("minContains")
        low, high = 1 if given is None else given, sub.count("maxContains")
    goal = expander.child(sub, sub.schema["contains"], "contains")
    return (Contains(0, goal, low, high, (sub.path, "contains")),)


def _unique(sub: Subschema) -> Any:
    value = sub.schema.get("uniqueItems", False)
    if not isinstance(value, bool):
        raise sub.error("uniqueItems", "must be true or false")
    return (sub.path, "uniqueItems") if value else None


def close(shape: ArrayShape, goal: Goal) -> ArrayShape:
    """The shape whose items that are not evaluated meet `goal`, after which all are evaluated."""
    if shape.evaluated is None:
        return shape
    rule = ItemRule(shape.evaluated, None, goal, shape.evaluated_goals)
    return replace(
        shape,
        rules=(*shape.rules, rule) if goal else shape.rules,
        evaluated=None,
        evaluated_goals=(),
        is_open=True,
    )


def complement_alternatives(expander: Expander, sub: Subschema) -> list[ArrayShape]:
    """Arrays for which one of the keywords does not hold."""
    if sub.schema.keys().isdisjoint(_KEYWORDS):
        return []
    prefix, rest, _ = _items(expander, sub)
    found = [
        ArrayShape((ItemRule(i, i + 1, complement(goal)),), min=i + 1)
        for i, goal in enumerate(prefix)
        if goal
    ]
    if rest:
        path = (sub.path, "items")
        found.append(
            ArrayShape(
                contains=(Contains(len(prefix), complement(rest), 1, None, path),), min=len(prefix) + 1
            )
        )
    for contains in _contains(expander, sub):
        found += _contains_complements(contains)
    if sub.dialect.validates:
        low, high = sub.count("minItems"), sub.count("maxItems")
        if low:
            found.append(ArrayShape(max=low - 1))
        if high is not None:
            found.append(ArrayShape(min=high + 1))
        if _unique(sub) is not None:
            expander.refuse("uniqueItems", (sub.path, "uniqueItems"), "cannot be complemented")
            return [FULL[ARRAY]]
    return [shape for shape in found if not expander.is_void_shape(shape)]


def _contains_complements(contains: Contains) -> list[ArrayShape]:
    found = []
    if contains.min > 0:
        found.append(ArrayShape(contains=(replace(contains, min=0, max=contains.min - 1),)))
    if contains.max is not None:
        found.append(ArrayShape(contains=(replace(contains, min=contains.max + 1, max=None),)))
    return found


def equal_to(expander: Expander, sub: Subschema, value: list[Any], keyword: str) -> ArrayShape:
    """The array that equals `value`."""
    rules = [ItemRule(i, i + 1, expander.constant(inner, sub, keyword)) for i, inner in enumerate(value)]
    rules.append(ItemRule(len(value), None, NEVER))
    return ArrayShape(
        tuple(rules), min=len(value), max=len(value), declared=len(value), is_open=True, path=sub.path
    )


def different_from(expander: Expander, sub: Subschema, value: list[Any], keyword: str) -> list[ArrayShape]:
    """Arrays that do not equal `value`."""
    found = [
        ArrayShape(
            (ItemRule(i, i + 1, complement(expander.constant(inner, sub, keyword))),),
            min=i + 1,
            declared=i + 1,
            path=sub.path,
        )
        for i, inner in enumerate(value)
    ]
    if value:
        found.append(ArrayShape(max=len(value) - 1))
    found.append(ArrayShape(min=len(value) + 1))
    return found
