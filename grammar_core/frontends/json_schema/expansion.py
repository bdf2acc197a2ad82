"""Schemas taken apart by type: what a goal asks of the null, booleans, numbers, … that meet it.

A goal is expanded for one type at a time to a list of alternatives (a disjunctive normal form): languages of
numbers or strings, or shapes of arrays or objects whose insides are goals again, not yet expanded. Schemas
are complemented keyword by keyword, as in L. Attouche et al., "Witness Generation for JSON Schema", 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.json_schema.applicators import complement_of, expansion_of
from grammar_core.frontends.json_schema.documents import Documents, Resource
from grammar_core.frontends.json_schema.errors import (
    JsonSchemaError,
    JsonSchemaLimitError,
    UnsupportedSchemaError,
)
from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, complement, join
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.shapes import ArrayShape, ObjectShape
from grammar_core.frontends.json_schema.values import (
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TYPES,
    identity,
    type_of,
)

MAX_ALTERNATIVES = 2_000
"""Alternatives of one goal for one type."""
MAX_COMBINATIONS = 8_000
"""Pairs of alternatives that were put together for one schema document."""
MAX_IN_PLACE_DEPTH = 60
"""Schemas that apply to one value and stand inside one another (allOf in anyOf in allOf …)."""
MAX_SUBSCHEMAS = 500_000
_VOID_DEPTH = 3
_ALIAS_STEPS = 1_000

ASSERTIONS = frozenset(
    (
        *("type", "enum", "const", "properties", "required", "additionalProperties", "patternProperties"),
        *("propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
        *("dependencies", "unevaluatedProperties", "items", "prefixItems", "additionalItems", "contains"),
        *("minContains", "maxContains", "uniqueItems", "minItems", "maxItems", "unevaluatedItems", "minimum"),
        *("maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *(
            "pattern",
            "format",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "$ref",
            "$dynamicRef",
            "$recursiveRef",
        ),
    )
)
_LEAF_KEYWORDS = frozenset(
    ("type", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "format")
)
_NOT_BESIDE_ALIAS = ASSERTIONS - {"$ref"} | {"$id", "id"}

_COSTLY_KEYWORDS = ("pattern", "format", "multipleOf", "patternProperties", "propertyNames", "maxLength")


class SelfReferenceError(JsonSchemaError):
    """A schema that applies itself to the same value."""


class Expander:
    """The subschemas of a set of documents, and what goals over them come to. Results are remembered."""

    def __init__(self, documents: Documents, *, loosen: frozenset[str]) -> None:
        self.documents = documents
        self.loosen = loosen
        self._subschemas: list[Subschema] = []
        self._numbers: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self._leaves: dict[tuple[int, bool, frozenset[tuple[str, Any]]], Goal] = {}
        self._constants: dict[str, Goal] = {}
        self._keep_alive: list[Any] = []
        self._expansions: dict[tuple[int, str, bool], list[Any]] = {}
        self._running: set[tuple[int, str, bool]] = set()
        self._masks: dict[int, frozenset[str]] = {}
        self._void: dict[Goal, bool] = {}
        self._simplified: dict[Goal, Goal] = {}
        self._depth = 0
        self._void_depth = 0
        self._combinations = 0

    # --- goals of places in the documents

    def root_goal(self) -> Goal:
        """The goal of the root document."""
        root = self.documents.root
        return self.goal_at(root.root, root, root.path, ())

    def goal_at(self, value: Any, resource: Resource, path: Path, scope: tuple[Resource, ...]) -> Goal:
        """The goal of a schema: ANY, NEVER or of one literal."""
        for _ in range(_ALIAS_STEPS):
            if value is True:
                return ANY
            if value is False:
                return NEVER
            if not isinstance(value, dict):
                raise JsonSchemaError("A schema must be an object, true or false", pointer=pointer_of(path))
            keywords = ASSERTIONS.intersection(value)
            if not keywords:
                return ANY
            if keywords <= _LEAF_KEYWORDS:
                return self._leaf(value, keywords, resource, path, scope)
            if self.documents.has_names:
                resource = self.documents.resource_at(value, resource)
            if self.documents.is_dynamic and resource not in scope:
                scope = (*scope, resource)
            if "$ref" not in value or not self._is_alias(value, resource):
                return self._literal(value, resource, path, scope)
            reference = value["$ref"]
            if not isinstance(reference, str):
                raise JsonSchemaError(
                    "$ref must be a string", pointer=pointer_of((path, "$ref")), keyword="$ref"
                )
            value, resource, path = self.documents.resolve(reference, resource, path)
        raise JsonSchemaError("A $ref leads back to itself", pointer=pointer_of(path), keyword="$ref")

    def _leaf(
        self,
        value: dict[str, Any],
        keywords: frozenset[str],
        resource: Resource,
        path: Path,
        scope: tuple[Resource, ...],
    ) -> Goal:
        """The goal of a schema without schemas inside, the same for equal ones."""
        asserted = [(keyword, value[keyword]) for keyword in keywords]
        if isinstance(value.get("type"), list) and all(isinstance(name, str) for name in value["type"]):
            asserted = [(k, tuple(v) if k == "type" else v) for k, v in asserted]
        if self.documents.has_names or not all(type(v) in (str, int, tuple) for _, v in asserted):
            return self._literal(value, self.documents.resource_at(value, resource), path, scope)
        key = (id(resource), "nullable" in value, frozenset(asserted))
        goal = self._leaves.get(key)
        if goal is None:
            goal = self._leaves[key] = self._literal(value, resource, path, scope)
            if "nullable" not in value:
                self._subschemas[-1].leaf = frozenset(asserted)
        return goal

    def _is_alias(self, value: dict[str, Any], resource: Resource) -> bool:
        return not resource.dialect.has_ref_siblings or _NOT_BESIDE_ALIAS.isdisjoint(value)

    def _literal(
        self, value: dict[str, Any], resource: Resource, path: Path, scope: tuple[Resource, ...]
    ) -> Goal:
        key = (id(value), id(resource), tuple(map(id, scope)))
        number = self._numbers.get(key)
        if number is None:
            if len(self._subschemas) >= MAX_SUBSCHEMAS:
                raise JsonSchemaLimitError(
                    f"The schema has more than {MAX_SUBSCHEMAS:,} subschemas",
                    limit="subschemas",
                    value=MAX_SUBSCHEMAS,
                    pointer=pointer_of(path),
                )
            number = self._numbers[key] = len(self._subschemas) + 1
            self._subschemas.append(Subschema(value, resource, path, scope, number))
        return frozenset((number,))

    def child(self, sub: Subschema, value: Any, *segments: str | int) -> Goal:
        """The goal of a schema inside `sub`."""
        path = sub.path
        for segment in segments:
            path = (path, segment)
        return self.goal_at(value, sub.resource, path, sub.scope)

    def constant(self, value: Any, sub: Subschema, keyword: str) -> Goal:
        """The goal of being equal to `value`."""
        key = identity(value)
        goal = self._constants.get(key)
        if goal is None:
            schema = {"enum": [value]}
            self._keep_alive.append(schema)
            goal = self._literal(schema, sub.resource, (sub.path, keyword), sub.scope)
            self._constants[key] = goal
        return goal

    def subschema(self, literal: int) -> Subschema:
        """The subschema of a literal."""
        return self._subschemas[abs(literal) - 1]

    def place(self, goal: Goal) -> Path:
        """Where the goal comes from, for errors and names."""
        return self.subschema(min(goal, key=abs)).path if goal and goal is not NEVER else None

    # --- refusals

    def refuse(self, keyword: str, path: Path, problem: str) -> None:
        """Raise unless the caller allows more than the keyword does; `path` is the keyword's."""
        if keyword not in self.loosen:
            raise UnsupportedSchemaError(f"{keyword} {problem}", pointer=pointer_of(path), keyword=keyword)

    def place_error(self, error: GrammarError, literal: int) -> None:
        """Raise the error with the place of the subschema, unless the keyword at fault is loosened."""
        if isinstance(error, JsonSchemaError):
            raise error
        sub = self.subschema(literal)
        keyword = next((word for word in _COSTLY_KEYWORDS if word in sub.schema), None)
        if keyword in self.loosen:
            return
        path = sub.path if keyword is None else (sub.path, keyword)
        message = f"{keyword or 'The schema'} cannot be enforced: {error.message}"
        if isinstance(error, GrammarLimitError):
            raise JsonSchemaLimitError(
                message, limit=error.limit, value=error.value, pointer=pointer_of(path), keyword=keyword
            ) from error
        raise UnsupportedSchemaError(message, pointer=pointer_of(path), keyword=keyword) from error

    def attempt(self, sub: Subschema, keyword: str, build: Callable[[], Any], otherwise: Any) -> Any:
        """What `build` builds; an error is given the place of the keyword, unless the keyword is loosened."""
        try:
            return build()
        except GrammarError as error:
            if keyword in self.loosen:
                return otherwise
            pointer = pointer_of((sub.path, keyword))
            message = f"{keyword} cannot be enforced: {error.message}"
            if isinstance(error, GrammarLimitError):
                raise JsonSchemaLimitError(
                    message, limit=error.limit, value=error.value, pointer=pointer, keyword=keyword
                ) from error
            raise UnsupportedSchemaError(message, pointer=pointer, keyword=keyword) from error

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
            self._masks[literal] = _ALL_TYPES  # what a schema inside itself takes it for
            mask = self._masks[literal] = self._deeper(self._find_mask, literal)
        return mask

    def _find_mask(self, literal: int) -> frozenset[str]:
        sub = self.subschema(literal)
        schema = sub.schema
        if literal < 0:
            types = sub.types() if schema.keys() <= {"type"} else None
            if types is None or ("integer" in types and NUMBER not in types):
                return _ALL_TYPES - _plain(types - {"integer"}) if types else _ALL_TYPES
            return _ALL_TYPES - _plain(types)
        if "$ref" in schema and not sub.dialect.has_ref_siblings:
            return self.types(self.reference(sub))
        mask = _ALL_TYPES
        types = sub.types()
        if types is not None:
            mask = _plain(types)
        if "const" in schema and sub.dialect.draft > 4:
            mask &= {type_of(schema["const"])}
        if isinstance(schema.get("enum"), list):
            mask &= set(map(type_of, schema["enum"]))
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

    # --- references

    def reference(self, sub: Subschema, keyword: str = "$ref") -> Goal:
        """The goal of what `$ref`, `$dynamicRef` or `$recursiveRef` refers to."""
        reference = sub.text(keyword)
        assert reference is not None
        value, resource, path = self.documents.resolve(reference, sub.resource, sub.path, keyword)
        if keyword == "$dynamicRef":
            value, resource, path = self._dynamic(reference.rpartition("#")[2], value, resource, path, sub)
        elif keyword == "$recursiveRef" and "" in resource.dynamic_anchors:
            value, resource, path = self._dynamic("", value, resource, path, sub)
        return self.goal_at(value, resource, path, sub.scope)

    def _dynamic(
        self, anchor: str, value: Any, resource: Resource, path: Path, sub: Subschema
    ) -> tuple[Any, Resource, Path]:
        """What the outermost resource with this dynamic anchor has there, if the plain target has one."""
        own = resource.dynamic_anchors.get(anchor)
        if own is None or own[0] is not value:
            return value, resource, path
        for outer in sub.scope:
            if anchor in outer.dynamic_anchors:
                value, path = outer.dynamic_anchors[anchor]
                return value, self.documents.resource_at(value, outer), path
        return value, resource, path

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
                both = self.meet(kind, one, other)
                if both is not None:
                    met.append(both)
            if len(met) > MAX_ALTERNATIVES:
                met = _absorbed(met) if kind == OBJECT and not tracked else met
                if len(met) > MAX_ALTERNATIVES:
                    raise self._too_many(literal)
        return _absorbed(met) if kind == OBJECT and len(met) > 2 and not tracked else met

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
        types = self.types(goal)
        if not types:
            return True
        if len(goal) == 1:
            return False  # schemas that exclude themselves are rare, and it takes time to tell
        if self._void_depth >= _VOID_DEPTH:
            return False
        self._void_depth += 1
        try:
            return not any(self.expand(goal, kind) for kind in types)
        except SelfReferenceError:
            return False
        finally:
            self._void_depth -= 1

    def is_void_shape(self, shape: ObjectShape | ArrayShape) -> bool:
        """Whether provably nothing has the shape."""
        if shape.max is not None and shape.min > shape.max:
            return True
        if isinstance(shape, ObjectShape):
            return any(self.is_void(shape.goal_of(name)) for name in shape.required)
        starts = {rule.start for rule in shape.rules if rule.start < shape.min}
        return any(self.is_void(item_goal(shape, index)) for index in starts)


def _absorbed(shapes: list[ObjectShape]) -> list[ObjectShape]:
    """The shapes without those that are a case of another one."""
    bits: dict[Hashable, int] = {}
    masks = []
    for shape in shapes:
        mask = 0
        for constraint in shape.constraints():
            mask |= 1 << bits.setdefault(constraint, len(bits))
        masks.append(mask)
    kept: list[int] = []
    for i in sorted(range(len(shapes)), key=lambda i: masks[i].bit_count()):
        if not any(masks[j] & ~masks[i] == 0 for j in kept):
            kept.append(i)
    return [shapes[i] for i in sorted(kept)]


def item_goal(shape: ArrayShape, index: int) -> Goal:
    """What an item has to meet, but for rules that spare some items."""
    goal = ANY
    for rule in shape.rules:
        if rule.start <= index and (rule.stop is None or index < rule.stop) and not rule.unless:
            goal = join(goal, rule.goal)
    return goal


def _plain(types: frozenset[str]) -> frozenset[str]:
    return types - {"integer"} | {NUMBER} if "integer" in types else types


_ALL_TYPES = frozenset(TYPES)
__all__ = ["ANY", "NEVER", "Expander", "complement", "item_goal"]
