"""Goals: conjunctions of schemas and of complements of schemas that a value has to meet.

A literal is the number of a subschema, from 1, or for its complement the number negated. Since subschemas
are finitely many, so are goals; recursive schemas end in goals that were met before.
"""

from __future__ import annotations

from typing import TypeAlias

Goal: TypeAlias = frozenset[int]

ANY: Goal = frozenset()
"""Met by every value."""
NEVER: Goal = frozenset((0,))
"""Met by none."""


def join(first: Goal, second: Goal) -> Goal:
    """The values that meet both."""
    if not second or first is second:
        return first
    if not first:
        return second
    if first is NEVER or second is NEVER or any(-literal in second for literal in first):
        return NEVER
    return first | second


def complement(goal: Goal) -> Goal:
    """The other values. `goal` has at most one literal, as every goal of a single subschema has."""
    if not goal:
        return NEVER
    if goal is NEVER:
        return ANY
    (literal,) = goal
    return frozenset((-literal,))
