"""Sets of numbers (all, integers and values only)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal


class NumberLanguage:
    """An immutable set of numbers."""

    def __init__(self, kind: str, values: tuple[Any, ...] = ()) -> None:
        self.kind, self.values = kind, values

    @staticmethod
    def all() -> NumberLanguage:
        return _ALL

    @staticmethod
    def integers() -> NumberLanguage:
        return NumberLanguage("integers")

    @staticmethod
    def of_values(values: Iterable[Any]) -> NumberLanguage:
        return NumberLanguage("values", tuple(dict.fromkeys(values)))

    @staticmethod
    def range(low: Any, high: Any, is_low_open: bool = False, is_high_open: bool = False) -> NumberLanguage:
        raise UnsupportedFeatureError("no ranges")

    @staticmethod
    def multiple_of(step: Any) -> NumberLanguage:
        raise UnsupportedFeatureError("no multiples")

    def intersect(self, other: NumberLanguage) -> NumberLanguage:
        if self.kind == "all":
            return other
        if other.kind == "all" or self.kind == other.kind == "integers":
            return self
        if self.kind == "values":
            return NumberLanguage("values", tuple(v for v in self.values if other.contains(v)))
        return other.intersect(self)

    def contains(self, value: Any) -> bool:
        return self.kind == "all" or (value in self.values if self.kind == "values" else value == int(value))

    def complement(self) -> NumberLanguage:
        if self.kind == "all":
            return NumberLanguage("values")
        raise UnsupportedFeatureError("no complement")

    def is_empty(self) -> bool:
        return self.kind == "values" and not self.values

    def is_all(self) -> bool:
        return self.kind == "all"

    def finite_values(self, limit: int) -> list[Any] | None:
        return list(self.values) if self.kind == "values" else None

    def to_expression(self, lexical: str, define: Any) -> Expr:
        if self.kind == "values":
            options = tuple(Literal(str(v).encode()) for v in self.values)
            return options[0] if len(options) == 1 else Choice(options) if options else CharClass(())
        tail = "" if self.kind == "integers" else r"(\.[0-9]+)?([eE][+-]?[0-9]+)?"
        return define(
            "json_" + ("integer" if tail == "" else "number"),
            parse_regex("-?(0|[1-9][0-9]*)" + tail, flags=None),
        )


_ALL = NumberLanguage("all")
