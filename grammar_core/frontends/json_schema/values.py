"""JSON values: their types, their equality by JSON Schema's rules, and their natural spelling."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from json.encoder import encode_basestring
from math import inf
from typing import Any

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = TYPES = (
    "null",
    "boolean",
    "number",
    "string",
    "array",
    "object",
)


_MAX_EXPONENT = 4_000


class WrittenNumber(Decimal):
    """A number with a fraction or an exponent, and the text that it was read from."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        """The number that the text, a JSON number, is."""
        number = super().__new__(cls, text)
        number.text = text
        return number


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
    """Equal texts for equal values and no others: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(value, sort_keys=True, default=_number)


def _number(value: Any) -> Any:
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > _MAX_EXPONENT:
        digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
        return [inf, value.is_signed(), digits, value.adjusted()]
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else [inf, str(exact)]  # no JSON value has infinity


def wording(value: Any) -> str:
    """Equal texts for values with the same keys in the same order and the same spellings of numbers."""
    return json.dumps(value, default=_number_wording)


def _number_wording(value: Any) -> Any:
    return [inf, value.text if isinstance(value, WrittenNumber) else str(value)]


def quote(text: str) -> bytes:
    """The natural spelling of a string: only the escapes that it needs."""
    return encode_basestring(text).encode(errors="replace")
