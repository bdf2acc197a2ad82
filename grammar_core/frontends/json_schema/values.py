"""JSON values: their types, their equality by JSON Schema's rules, and their natural spelling."""

from __future__ import annotations

import json
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = TYPES = (
    "null",
    "boolean",
    "number",
    "string",
    "array",
    "object",
)


def type_of(value: Any) -> str:
    """The type of a JSON value; integers are numbers."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, str):
        return STRING
    if isinstance(value, list):
        return ARRAY
    if isinstance(value, dict):
        return OBJECT
    return NUMBER


def identity(value: Any) -> str:
    """Equal texts for equal values: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(value, sort_keys=True, default=_number)


def _number(value: Any) -> Any:
    assert isinstance(value, Decimal)
    if value == value.to_integral_value():
        return int(value) if value.adjusted() < 4000 else str(value)
    return {"": str(value.normalize())}


def quote(text: str) -> bytes:
    """The natural spelling of a string: only the escapes that it needs."""
    return encode_basestring(text).encode(errors="replace")
