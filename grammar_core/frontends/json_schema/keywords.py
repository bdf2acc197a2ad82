"""Reading keywords: their values checked, with the pointer of what is wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from grammar_core.frontends.json_schema.dialects import Dialect
from grammar_core.frontends.json_schema.documents import Resource
from grammar_core.frontends.json_schema.errors import JsonSchemaError
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.values import TYPES

Scope = tuple[Resource, ...]


class Subschema:
    """A schema that is an object, where it stands, and the resources it was reached through.

    `leaf`: its keywords, where they are few and their values are strings and integers.
    """

    __slots__ = ("_types", "index", "leaf", "path", "resource", "schema", "scope")

    def __init__(
        self, schema: dict[str, Any], resource: Resource, path: Path, scope: Scope, index: int
    ) -> None:
        self.schema = schema
        self.resource = resource
        self.path = path
        self.scope = scope
        self.index = index
        self._types: frozenset[str] | bool | None = False  # not read yet
        self.leaf: frozenset[tuple[str, str | int | tuple[str, ...]]] | None = None

    @property
    def dialect(self) -> Dialect:
        """The rules it is read by."""
        return self.resource.dialect

    def error(self, keyword: str, problem: str) -> JsonSchemaError:
        """The error that the keyword's value is not what it must be."""
        return JsonSchemaError(
            f"{keyword} {problem}", pointer=pointer_of((self.path, keyword)), keyword=keyword
        )

    def mapping(self, keyword: str) -> dict[str, Any]:
        """The value of a keyword that is an object; {} if it is not there."""
        value = self.schema.get(keyword)
        if value is None and keyword not in self.schema:
            return {}
        if not isinstance(value, dict):
            raise self.error(keyword, "must be an object")
        return value

    def listing(self, keyword: str, *, may_be_empty: bool = False) -> list[Any] | None:
        """The value of a keyword that is an array; None if it is not there."""
        if keyword not in self.schema:
            return None
        value = self.schema[keyword]
        if not isinstance(value, list):
            raise self.error(keyword, "must be an array")
        if not value and not may_be_empty:
            raise self.error(keyword, "must not be empty")
        return value

    def names(self, keyword: str) -> tuple[str, ...]:
        """The value of a keyword that is an array of strings, each once; () if it is not there."""
        value = self.schema.get(keyword, ())
        return self.checked_names(keyword, value)

    def checked_names(self, keyword: str, value: Any) -> tuple[str, ...]:
        """`value` as a list of strings."""
        if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
            raise self.error(keyword, "must be an array of strings")
        return tuple(dict.fromkeys(value))

    def count(self, keyword: str) -> int | None:
        """The value of a keyword that is a count; None if it is not there."""
        value = self.schema.get(keyword)
        if value is None and keyword not in self.schema:
            return None
        if isinstance(value, Decimal) and value == value.to_integral_value() and value.adjusted() < 100:
            value = int(value)
        if type(value) is not int or value < 0:
            raise self.error(keyword, "must be an integer that is not negative")
        return value

    def number(self, keyword: str) -> int | Decimal | None:
        """The value of a keyword that is a number; None if it is not there."""
        value = self.schema.get(keyword)
        if value is None and keyword not in self.schema:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise self.error(keyword, "must be a number")
        return value

    def text(self, keyword: str) -> str | None:
        """The value of a keyword that is a string; None if it is not there."""
        value = self.schema.get(keyword)
        if value is None and keyword not in self.schema:
            return None
        if not isinstance(value, str):
            raise self.error(keyword, "must be a string")
        return value

    def types(self) -> frozenset[str] | None:
        """The names in `type`, "integer" among them; None if it is not there."""
        if isinstance(self._types, bool):
            self._types = self._read_types()
        return self._types

    def _read_types(self) -> frozenset[str] | None:
        value = self.schema.get("type")
        if value is None and "type" not in self.schema:
            return None
        names = value if isinstance(value, list) else [value]
        for name in names:
            if not isinstance(name, str):
                raise self.error("type", "must be a string or an array of strings")
            if name not in _TYPE_NAMES:
                raise self.error("type", f"names an unknown type: {name!r:.80}")
        if not names:
            raise self.error("type", "must not be empty")
        if self.schema.get("nullable") is True and not self.dialect.declared:
            names = [*names, "null"]
        return frozenset(names)


_TYPE_NAMES = frozenset((*TYPES, "integer"))
