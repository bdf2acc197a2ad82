"""For each type of values, the alternative that all of them meet."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from grammar_core.frontends.json_schema.numbers import NumberLanguage
from grammar_core.frontends.json_schema.shapes import ArrayShape, ObjectShape
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING

FULL: MappingProxyType[str, Any] = MappingProxyType(
    {
        NULL: True,
        BOOLEAN: frozenset((True, False)),
        NUMBER: NumberLanguage.all(),
        STRING: TextLanguage.all(),
        ARRAY: ArrayShape(),
        OBJECT: ObjectShape(),
    }
)
