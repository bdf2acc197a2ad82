"""Which types of JSON values the schema of an argument allows, as far as that is easily seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALL_TYPES = frozenset(("null", "boolean", "number", "string", "array", "object"))
_LARGEST_DEPTH = 32


class ArgumentSchema:
    """A schema inside of the document `root`, to which its references are relative."""

    def __init__(self, schema: Any, root: Any) -> None:
        self._root = root
        self._schema = _resolved(schema, root)

    def types(self) -> frozenset[str]:
        """The types of values that may be allowed; no others are."""
        return _types(self._schema, self._root, 0)

    def member(self, key: str) -> ArgumentSchema:
        """The schema of the value of a key."""
        found = self._find("properties", key)
        return ArgumentSchema(self._find("additionalProperties") if found is None else found, self._root)

    def items(self) -> ArgumentSchema:
        """The schema of the items."""
        return ArgumentSchema(self._find("items"), self._root)

    def _find(self, *path: str) -> Any:
        """What stands there in the schema or in one of those that it is put together of."""
        pending = [(self._schema, 0)]
        while pending:
            schema, depth = pending.pop(0)
            schema = _resolved(schema, self._root)
            if not isinstance(schema, Mapping) or depth > _LARGEST_DEPTH:
                continue
            found: Any = schema
            for step in path:
                found = found.get(step) if isinstance(found, Mapping) else None
            if found is not None:
                return found
            pending += [
                (one, depth + 1) for name in ("allOf", "anyOf", "oneOf") for one in _list(schema, name)
            ]
            del pending[1000:]
        return None


def argument_schema(tool: Mapping[str, Any] | None) -> ArgumentSchema:
    """The schema of a tool's arguments; one that allows everything if there is no tool."""
    function = (tool or {}).get("function", tool)
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    return ArgumentSchema(parameters, parameters)


def _types(schema: Any, root: Any, depth: int) -> frozenset[str]:
    schema = _resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > _LARGEST_DEPTH:
        return ALL_TYPES
    types = _named_types(schema)
    for name in ("anyOf", "oneOf"):
        options = _list(schema, name)[:100]
        if options:
            types &= frozenset().union(*(_types(option, root, depth + 1) for option in options))
    for part in _list(schema, "allOf")[:100]:
        types &= _types(part, root, depth + 1)
    return types


def _named_types(schema: Mapping[str, Any]) -> frozenset[str]:
    types = ALL_TYPES
    named = schema.get("type")
    if isinstance(named, str):
        types &= {_general(named)}
    elif isinstance(named, list):
        types &= {_general(name) for name in named if isinstance(name, str)}
    if schema.get("nullable") is True and named is not None:
        types |= {"null"}
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        types &= {type_of(value) for value in values}
    return types


def _general(name: str) -> str:
    return "number" if name == "integer" else name


def type_of(value: Any) -> str:
    """The type of a JSON value; integers are numbers."""
    if value is None:
        return "null"
    kinds = ((bool, "boolean"), (str, "string"), ((int, float), "number"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def _list(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []


def _resolved(schema: Any, root: Any) -> Any:
    """What local references lead to."""
    for _ in range(_LARGEST_DEPTH):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            schema = schema.get(step) if isinstance(schema, Mapping) else None
    return None
