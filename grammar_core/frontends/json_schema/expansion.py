"""Schemas taken apart by type: what a goal asks of the null, booleans, numbers, … that meet it.

A goal is expanded for one type at a time to a list of alternatives (a disjunctive normal form): languages of
numbers or strings, or shapes of arrays or objects whose insides are goals again, not yet expanded. Schemas
are complemented keyword by keyword, as in L. Attouche et al., "Witness Generation for JSON Schema", 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from grammar_core.deadline import check, check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.applicators import complement_of, expansion_of
from grammar_core.frontends.json_schema.documents import Documents
from grammar_core.frontends.json_schema.errors import (
    JsonSchemaError,
    JsonSchemaLimitError,
)
from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, complement, join
from grammar_core.frontends.json_schema.paths import pointer_of
from grammar_core.frontends.json_schema.shapes import ArrayShape, ObjectShape, absorbed
from grammar_core.frontends.json_schema.subschemas import ASSERTIONS, Subschemas
from grammar_core.frontends.json_schema.values import (
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TYPES,
    type_of,
)

MAX_ALTERNATIVES = 2_000
"""Alternatives of one goal for one type."""
MAX_COMBINATIONS = 8_000
"""Pairs of alternatives that were put together for one schema document."""
MAX_IN_PLACE_DEPTH = 60
"""Schemas that apply to one value and stand inside one another (allOf in anyOf in allOf …)."""
_VOID_DEPTH = 3
_LISTS = (frozenset(("const",)), frozenset(("enum",)))


class SelfReferenceError(JsonSchemaError):
    """A schema that applies itself to the same value."""


class Expander(Subschemas):
    """What goals over the subschemas come to. Results are remembered."""

    def __init__(self, documents: Documents, *, loosen: frozenset[str]) -> None:
        super().__init__(documents, loosen=loosen)
        self._expansions: dict[tuple[int, str, bool], list[Any]] = {}
        self._running: set[tuple[int, str, bool]] = set()
        self._masks: dict[int, frozenset[str]] = {}
        self._void: dict[Goal, bool] = {}
        self._simplified: dict[Goal, Goal] = {}
        self._depth = 0
        self._void_depth = 0
        self._combinations = 0

    # --- types

    def types(self, goal: Goal) -> frozenset[str]:
        """Types of which values may meet the goal; no others can."""
        if goal is NEVER:
            return frozenset()
        types = _ALL_TYPES
        for literal in goal:
            types &= self._mask(literal)
        return types

    def _mask(self, literal: int) -> frozenset[str]:
        mask = self._masks.get(literal)
        if mask is None:
            check()
            self._masks[literal] = _ALL_TYPES  # what a schema inside itself takes it for
            mask = self._masks[literal] = self._deeper(self._find_mask, literal)
        return mask

    def _find_mask(self, literal: int) -> frozenset[str]:
        sub = self.subschema(literal)
        schema = sub.schema
        if literal < 0:
            types = sub.types() if schema.keys() <= {"type"} and sub.dialect.validates else None
            if types is None or ("integer" in types and NUMBER not in types):
                return _ALL_TYPES - _plain(types - {"integer"}) if types else _ALL_TYPES
            return _ALL_TYPES - _plain(types)
        if "$ref" in schema and not sub.dialect.has_ref_siblings:
            return self.types(self.reference(sub))
        mask = _ALL_TYPES
        types = sub.types() if sub.dialect.validates else None
        if types is not None:
            mask = _plain(types)
        listed = self.listed_values(sub)
        if listed is not None:
            mask &= set(map(type_of, listed))
        for keyword in ("anyOf", "oneOf"):
            branches = sub.listing(keyword)
            if branches is not None:
                found: set[str] = set()
                for i, branch in enumerate(branches):
                    found |= self.types(self.child(sub, branch, keyword, i))
                    if len(found) == len(TYPES):
                        break
                mask &= found
        for i, part in enumerate(sub.listing("allOf") or ()):
            mask &= self.types(self.child(sub, part, "allOf", i))
        if "$ref" in schema:
            mask &= self.types(self.reference(sub))
        return mask

    def _deeper(self, work: Callable[..., Any], *arguments: Any) -> Any:
        if self._depth >= MAX_IN_PLACE_DEPTH:
            sub = self.subschema(arguments[0])
            raise JsonSchemaLimitError(
                f"More than {MAX_IN_PLACE_DEPTH} schemas inside one another apply to the same value",
                limit="in_place_depth",
                value=MAX_IN_PLACE_DEPTH,
                pointer=pointer_of(sub.path),
            )
        self._depth += 1
        try:
            return work(*arguments)
        finally:
            self._depth -= 1

    # --- expansion

    def expand(self, goal: Goal, kind: str, tracked: bool = False) -> list[Any]:
        """The alternatives of a goal among the values of type `kind`; none: no such value meets it.

        `tracked`: shapes say what they have evaluated.
        """
        if goal is NEVER or kind not in self.types(goal):
            return []
        alternatives: list[Any] = [FULL[kind]]
        for literal in sorted(goal, key=abs):
            alternatives = self.meet_all(
                kind, alternatives, self._expand_literal(literal, kind, tracked), literal, tracked
            )
            if not alternatives:
                break
        return alternatives

    def _expand_literal(self, literal: int, kind: str, tracked: bool) -> list[Any]:
        check()
        key = (literal, kind, tracked)
        found = self._expansions.get(key)
        if found is not None:
            return found
        if key in self._running:
            path = self.subschema(literal).path
            raise SelfReferenceError("The schema applies itself to the same value", pointer=pointer_of(path))
        self._running.add(key)
        try:
            found = self._deeper(self._expansion, literal, kind, tracked)
        except GrammarError as error:
            check_now()
            self.place_error(error, literal)
            found = [FULL[kind]]
        finally:
            self._running.discard(key)
        self._expansions[key] = found
        return found

    def _expansion(self, literal: int, kind: str, tracked: bool) -> list[Any]:
        sub = self.subschema(literal)
        if literal < 0:
            return complement_of(self, sub, kind)
        return expansion_of(self, sub, kind, tracked)

    def meet_all(
        self, kind: str, first: list[Any], second: list[Any], literal: int, tracked: bool = False
    ) -> list[Any]:
        """Every alternative of `first` with every one of `second`, but for those that nothing meets."""
        full = FULL[kind]
        if len(first) == 1 and first[0] is full:
            return second
        if len(second) == 1 and second[0] is full:
            return first
        met = []
        self._combinations += len(first) * len(second)
        if self._combinations > MAX_COMBINATIONS:
            raise self._too_many(literal, MAX_COMBINATIONS)
        for one in first:
            for other in second:
                check()
                both = self.meet(kind, one, other)
                if both is not None:
                    met.append(both)
            if len(met) > MAX_ALTERNATIVES:
                met = absorbed(met) if kind == OBJECT and not tracked else met
                if len(met) > MAX_ALTERNATIVES:
                    raise self._too_many(literal)
        return absorbed(met) if kind == OBJECT and len(met) > 2 and not tracked else met

    def _too_many(self, literal: int, limit: int = MAX_ALTERNATIVES) -> JsonSchemaLimitError:
        return JsonSchemaLimitError(
            f"The combinations of alternatives (anyOf, oneOf, not …) are more than {limit:,}",
            limit="alternatives",
            value=limit,
            pointer=pointer_of(self.subschema(literal).path),
        )

    def unite(self, kind: str, lists: Iterable[list[Any]], literal: int, tracked: bool = False) -> list[Any]:
        """The alternatives of all lists."""
        full = FULL[kind]
        united: list[Any] = []
        for alternatives in lists:
            check_now()
            for one in alternatives:
                if one is full and not tracked:
                    return [full]
                if not any(one is other for other in united[-8:]):
                    united.append(one)
            if len(united) > MAX_ALTERNATIVES:
                raise self._too_many(literal)
        return united

    def meet(self, kind: str, first: Any, second: Any) -> Any:
        """What meets both alternatives, None if that is provably nothing."""
        if kind == NULL or first is second:
            return first
        if kind == BOOLEAN:
            return first & second or None
        if kind in (NUMBER, STRING):
            both = first.intersect(second)
            return None if both.is_empty() else both
        both = first.meet(second, self.simplified) if kind == OBJECT else first.meet(second)
        return None if self.is_void_shape(both) else both

    def simplified(self, goal: Goal) -> Goal:
        """The goal without complements that another part of it implies."""
        if len(goal) < 2 or goal is NEVER:
            return goal
        known = self._simplified.get(goal)
        if known is None:
            positive = [literal for literal in goal if literal > 0]
            implied = (
                literal
                for literal in goal
                if literal < 0 and any(self.is_void(frozenset((-literal, one))) for one in positive)
            )
            known = goal.difference(implied)
            known = self._simplified[goal] = NEVER if self.is_void(known) else known
        return known

    # --- what nothing meets

    def is_void(self, goal: Goal) -> bool:
        """Whether provably no value meets the goal; False decides nothing."""
        if goal is NEVER:
            return True
        if not goal:
            return False
        known = self._void.get(goal)
        if known is None:
            known = self._void[goal] = self._find_void(goal)
        return known

    def _find_void(self, goal: Goal) -> bool:
        sub = self.only_subschema(goal)
        if sub is not None and sub.leaf is not None:
            return False
        types = self.types(goal)
        if not types:
            return True
        if len(goal) == 1:
            return False  # schemas that exclude themselves are rare, and it takes time to tell
        if self._lists_nothing(goal):
            return True
        if self._void_depth >= _VOID_DEPTH:
            return False
        self._void_depth += 1
        try:
            return not any(self.expand(goal, kind) for kind in types)
        except SelfReferenceError:
            return False
        finally:
            self._void_depth -= 1

    def _lists_nothing(self, goal: Goal) -> bool:
        """Whether no value is in all lists of const and enum, wherever they differ, and in none of others."""
        common: frozenset[str] | None = None
        for literal in goal:
            values = self.constants_of(frozenset((literal,)))
            if values is not None:
                common = values if common is None else common & values
        if common:
            for literal in goal:
                common -= self._excluded_constants(literal)
        return common is not None and not common

    def _excluded_constants(self, literal: int) -> frozenset[str]:
        """The values that a literal excludes if it is the complement of a list of them."""
        if literal > 0 or ASSERTIONS.intersection(self.subschema(literal).schema) not in _LISTS:
            return frozenset()
        return self.constants_of(frozenset((-literal,))) or frozenset()

    def is_void_shape(self, shape: ObjectShape | ArrayShape) -> bool:
        """Whether provably nothing has the shape."""
        if shape.max is not None and shape.min > shape.max:
            return True
        if isinstance(shape, ObjectShape):
            return any(self.is_void(shape.goal_of(name)) for name in shape.required)
        starts = {rule.start for rule in shape.rules if rule.start < shape.min}
        return any(self.is_void(item_goal(shape, index)) for index in starts)


def item_goal(shape: ArrayShape, index: int) -> Goal:
    """What an item has to meet, but for rules that spare some items."""
    check_now()
    goal = ANY
    for rule in shape.rules:
        if rule.start <= index and (rule.stop is None or index < rule.stop) and not rule.unless:
            goal = join(goal, rule.goal)
    return goal


def _plain(types: frozenset[str]) -> frozenset[str]:
    return types - {"integer"} | {NUMBER} if "integer" in types else types


_ALL_TYPES = frozenset(TYPES)
__all__ = ["ANY", "NEVER", "Expander", "complement", "item_goal"]
