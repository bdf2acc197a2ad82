"""Items of which no two are equal, where strings are among them of which there are endlessly many."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from grammar_core.frontends.json_schema.expansion import item_goal
from grammar_core.frontends.json_schema.finite_items import MAX_UNIQUE_VALUES, values_of_kind
from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.shapes import ArrayShape
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import STRING
from grammar_core.ir.nodes import Member, Members, RuleRef

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.emission import Emitter


def endless_items(emitter: Emitter, shape: ArrayShape, comma: RuleRef, depth: int) -> Members | None:
    """One item or more of an array whose items all have the same goal; None where they are of another kind.

    Each string comes once, however it is spelled; other values must be few, and each is a member.
    """
    goal = item_goal(shape, 0)
    strings = _endless_strings(emitter, goal)
    constants = None if strings is None else _other_constants(emitter, goal)
    if strings is None or constants is None:
        return None
    specs = [Member(emitter.define("item", emitter.language("string", strings)), False, True, True)]
    for constant in constants:
        specs.append(Member(emitter.define("item", emitter.item(constant, depth + 1)), False, False))
    return Members(tuple(specs), comma, False, max(shape.min, 1), shape.max, ())


def _endless_strings(emitter: Emitter, goal: Goal) -> TextLanguage | None:
    alternatives = emitter.expander.expand(goal, STRING) if goal else []
    strings = reduce(TextLanguage.union, alternatives, TextLanguage.none())
    return strings if emitter.tells_apart(strings) else None


def _other_constants(emitter: Emitter, goal: Goal) -> list[Goal] | None:
    expander = emitter.expander
    sub = expander.subschema(min(goal, key=abs))
    constants: list[Goal] = []
    for kind in sorted(expander.types(goal) - {STRING}):
        values = values_of_kind(expander, goal, kind)
        if values is None or len(constants) + len(values) > MAX_UNIQUE_VALUES:
            return None
        constants += (expander.constant(value, sub, "enum") for value in values)
    return list(dict.fromkeys(constants))
