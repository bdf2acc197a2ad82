"""Schemas that only few values meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammar_core.frontends.json_schema.goals import NEVER, Goal
from grammar_core.frontends.json_schema.values import ARRAY, BOOLEAN, NULL, OBJECT, identity

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.emission import Emitter
    from grammar_core.frontends.json_schema.expansion import Expander

MAX_UNIQUE_VALUES = 1_000


def finite_constants(emitter: Emitter, goal: Goal) -> dict[str, Goal] | None:
    """Values of which all that meet the goal are some, by their identities; None if they are too many."""
    expander = emitter.expander
    if not goal or goal is NEVER:
        return None if not goal else {}
    sub = expander.subschema(min(goal, key=abs))
    values: list[object] | None = None
    for literal in goal:
        listed = expander.listed_values(expander.subschema(literal)) if literal > 0 else None
        if listed is not None and (values is None or len(listed) < len(values)):
            values = listed
    if values is None:
        values = _finite_values(emitter, goal)
    if values is None or len(values) > MAX_UNIQUE_VALUES:
        return None
    constants: dict[str, Goal] = {}
    for value in values:
        identifier = identity(value)
        if identifier not in constants:
            constants[identifier] = expander.constant(value, sub, "enum")
    return constants


def _finite_values(emitter: Emitter, goal: Goal) -> list[object] | None:
    expander = emitter.expander
    values: list[object] = []
    for kind in expander.types(goal):
        found = values_of_kind(expander, goal, kind)
        if found is None:
            return None
        values += found
    return values


def values_of_kind(expander: Expander, goal: Goal, kind: str) -> list[object] | None:
    """The values of a type that meet the goal; None if they are too many."""
    values: list[object] = []
    for alternative in expander.expand(goal, kind):
        if kind in (ARRAY, OBJECT):
            return None
        if kind == NULL:
            values.append(None)
        elif kind == BOOLEAN:
            values += sorted(alternative)
        else:
            found = alternative.finite_values(MAX_UNIQUE_VALUES)
            if found is None:
                return None
            values += found
    return values
