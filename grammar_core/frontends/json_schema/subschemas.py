"""The schemas inside a set of documents, by number: goals of places, references, and errors with places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grammar_core.deadline import check, check_now
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.json_schema.documents import Documents, Resource
from grammar_core.frontends.json_schema.errors import (
    JsonSchemaError,
    JsonSchemaLimitError,
    UnsupportedSchemaError,
)
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.values import identity, wording

MAX_SUBSCHEMAS = 500_000
_ALIAS_STEPS = 1_000
_FEW_VALUES = 64

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


class Subschemas:
    """The subschemas that were reached, each with a number, from 1, that literals of goals are made of."""

    def __init__(self, documents: Documents, *, loosen: frozenset[str]) -> None:
        self.documents = documents
        self.loosen = loosen
        self._subschemas: list[Subschema] = []
        self._numbers: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self._leaves: dict[tuple[int, bool, frozenset[tuple[str, Any]]], Goal] = {}
        self._constants: dict[str, Goal] = {}
        self._identities: dict[int, frozenset[str]] = {}
        self._keep_alive: list[Any] = []

    # --- goals of places in the documents

    def root_goal(self) -> Goal:
        """The goal of the root document."""
        root = self.documents.root
        return self.goal_at(root.root, root, root.path, ())

    def goal_at(self, value: Any, resource: Resource, path: Path, scope: tuple[Resource, ...]) -> Goal:
        """The goal of a schema: ANY, NEVER or of one literal."""
        for _ in range(_ALIAS_STEPS):
            check()
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
        check()
        key = wording(value)  # the same value in other words is another constant
        goal = self._constants.get(key)
        if goal is None:
            schema = {"enum": [value]}
            self._keep_alive.append(schema)
            goal = self._literal(schema, sub.resource, (sub.path, keyword), sub.scope)
            self._constants[key] = goal
        return goal

    def constants_of(self, goal: Goal) -> frozenset[str] | None:
        """The identities of the values that a schema's const or enum lists, where they are few."""
        sub = self.only_subschema(goal)
        if sub is None:
            return None
        listed = self.listed_values(sub)
        if listed is None or len(listed) > _FEW_VALUES:
            return None
        known = self._identities.get(sub.index)
        if known is None:
            known = self._identities[sub.index] = frozenset(map(identity, listed))
        return known

    def listed_values(self, sub: Subschema) -> list[Any] | None:
        """The values of a schema's const or else of its enum, of which its values are some."""
        if not sub.dialect.validates:
            return None
        if "const" in sub.schema and sub.dialect.draft > 4:
            return [sub.schema["const"]]
        listed = sub.schema.get("enum")
        return listed if isinstance(listed, list) else None

    def subschema(self, literal: int) -> Subschema:
        """The subschema of a literal."""
        return self._subschemas[abs(literal) - 1]

    def only_subschema(self, goal: Goal) -> Subschema | None:
        """The subschema of a goal that is one schema, neither complemented nor joined with others."""
        if len(goal) != 1:
            return None
        (literal,) = goal
        return self._subschemas[literal - 1] if literal > 0 else None

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
            check_now()
            if keyword in self.loosen:
                return otherwise
            pointer = pointer_of((sub.path, keyword))
            message = f"{keyword} cannot be enforced: {error.message}"
            if isinstance(error, GrammarLimitError):
                raise JsonSchemaLimitError(
                    message, limit=error.limit, value=error.value, pointer=pointer, keyword=keyword
                ) from error
            raise UnsupportedSchemaError(message, pointer=pointer, keyword=keyword) from error

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
