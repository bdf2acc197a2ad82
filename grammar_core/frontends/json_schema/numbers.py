"""Sets of numbers, exact: bounds, multiples, given and excluded values, and all Boolean combinations.

A set stays a description for as long as that is enough; what is not one range of multiples becomes a
finite automaton over plain decimals (decimal_automata.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

from grammar_core.errors import GrammarError, UnsupportedFeatureError
from grammar_core.frontends.json_schema.decimal_automata import (
    ANY_NUMBER,
    INTEGER,
    Order,
    canonical,
    compared,
    multiples,
    plain_decimals,
)
from grammar_core.frontends.json_schema.scientific import scientific
from grammar_core.frontends.json_schema.speller import Define
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal
from grammar_core.regular import RegularLanguage

Number: TypeAlias = int | float | Decimal | Fraction
Lexical = OneOf["natural", "any"]
_INTEGER_TEXTS = RegularLanguage.from_expression(INTEGER)


class Bound(NamedTuple):
    """One end of a range."""

    value: Fraction
    is_inside: bool


class NumberLanguage:
    """An immutable set of rational numbers."""

    __slots__ = ("_excluded", "_high", "_is_integer", "_language", "_low", "_parts", "_step", "_values")

    def __init__(
        self,
        values: dict[Fraction, str] | None = None,
        low: Bound | None = None,
        high: Bound | None = None,
        step: Fraction | None = None,
        is_integer: bool = False,
        excluded: frozenset[Fraction] = frozenset(),
        parts: tuple[RegularLanguage, ...] = (),
    ) -> None:
        """The given values, with a spelling of each, if there are any; else what all the rest allows."""
        self._values = values
        self._low = low
        self._high = high
        self._step = step
        self._is_integer = is_integer
        self._excluded = excluded
        self._parts = parts
        self._language: RegularLanguage | None = None

    @staticmethod
    def all() -> NumberLanguage:
        """Every number."""
        return _ALL

    @staticmethod
    def none() -> NumberLanguage:
        """No number."""
        return _NONE

    @staticmethod
    def integers() -> NumberLanguage:
        """Every integer. In natural spelling these have neither a fraction nor an exponent."""
        return _INTEGERS

    @staticmethod
    def range(
        low: Number | None = None,
        high: Number | None = None,
        *,
        excludes_low: bool = False,
        excludes_high: bool = False,
    ) -> NumberLanguage:
        """The numbers from `low` to `high`, without one of them where it is excluded."""
        lower = None if low is None else Bound(exact(low), not excludes_low)
        upper = None if high is None else Bound(exact(high), not excludes_high)
        return _ranged(lower, upper)

    @staticmethod
    def multiple_of(step: Number) -> NumberLanguage:
        """The multiples of a positive number."""
        return NumberLanguage(step=exact(step))

    @staticmethod
    def of_values(values: Iterable[Number]) -> NumberLanguage:
        """Just these numbers."""
        return NumberLanguage({exact(value): _spelling(value) for value in values})

    def intersect(self, other: NumberLanguage) -> NumberLanguage:
        """The numbers in both."""
        if self is _ALL or other is _ALL:
            return other if self is _ALL else self
        if self._values is not None:
            return NumberLanguage({v: text for v, text in self._values.items() if other._contains(v)})
        if other._values is not None:
            return other.intersect(self)
        low = _higher(self._low, other._low)
        high = _lower(self._high, other._high)
        if _is_reversed(low, high):
            return _NONE
        return NumberLanguage(
            None,
            low,
            high,
            _common_step(self._step, other._step),
            self._is_integer or other._is_integer,
            self._excluded | other._excluded,
            self._parts + tuple(part for part in other._parts if part not in self._parts),
        )

    def complement(self) -> NumberLanguage:
        """Every number that is not in the set. Raises GrammarLimitError."""
        if self._values is not None:
            return NumberLanguage(excluded=frozenset(self._values))
        if self._step is None and not self._excluded and not self._parts:
            if self._low is None and self._high is None:
                return _NONE
            if self._high is None and self._low is not None:
                return NumberLanguage(high=_flipped(self._low))
            if self._low is None and self._high is not None:
                return NumberLanguage(low=_flipped(self._high))
        return _of_language(plain_decimals().subtract(self.language))

    def union(self, other: NumberLanguage) -> NumberLanguage:
        """The numbers in either. Raises GrammarLimitError."""
        if self._values is not None and other._values is not None:
            return NumberLanguage({**self._values, **other._values})
        if _ALL in (self, other):
            return _ALL
        if self._values == {} or other._values == {}:
            return other if self._values == {} else self
        return _of_language(self.language.union(other.language), self._is_integer and other._is_integer)

    def is_empty(self) -> bool:
        """Whether there is no number. Raises GrammarLimitError."""
        if self._values is not None:
            return not self._values
        if self._step is None and not self._parts:
            return False  # a range that is not reversed and not a point has any number of members
        return self.language.is_empty()

    def is_all(self) -> bool:
        """Whether there is every number. Raises GrammarLimitError."""
        if self._values is not None or self._excluded or self._low or self._high or self._step:
            return False
        return not self._parts or plain_decimals().subtract(self.language).is_empty()

    def contains(self, value: Number) -> bool:
        """Whether the number is in the set."""
        return self._contains(exact(value))

    def _contains(self, value: Fraction) -> bool:
        if self._values is not None:
            return value in self._values
        if _is_below(value, self._low) or _is_above(value, self._high) or value in self._excluded:
            return False
        if self._step is not None and (value / self._step).denominator != 1:
            return False
        return all(part.contains(canonical(value)) for part in self._parts)

    def finite_values(self, limit: int) -> list[Fraction] | None:
        """Every number in ascending order; None if there are more than `limit`. Raises GrammarLimitError."""
        if self._values is not None:
            return sorted(self._values) if len(self._values) <= limit else None
        if self._step is None or self._low is None or self._high is None:
            return None
        first, last = -(-self._low.value // self._step), self._high.value // self._step
        if last - first > limit + len(self._excluded) + 2:
            return None
        found = [self._step * count for count in range(first, last + 1) if self._contains(self._step * count)]
        return found if len(found) <= limit else None

    @property
    def language(self) -> RegularLanguage:
        """The set as an automaton over plain decimals. Raises GrammarLimitError."""
        if self._language is None:
            self._language = self._build_language()
        return self._language

    def to_expression(self, lexical: Lexical, define: Define) -> Expr:
        """The JSON numbers whose values are in the set. `define` makes rules.

        In natural spelling a set within `integers()` has neither fractions nor exponents, a given value has
        its shortest plain decimal and the spelling it was given in, the set of all numbers every spelling,
        and any other set plain decimals and scientific notation with one digit before the point.
        Raises GrammarLimitError, UnsupportedFeatureError.
        """
        if lexical == "any":
            raise UnsupportedFeatureError("not yet", dialect="JSON schema")
        if self._values is not None:
            return _choice([Literal(text.encode()) for text in self._natural_texts()])
        if self._is_unrestricted():
            return define("json_integer", INTEGER) if self._is_integer else define("json_number", ANY_NUMBER)
        if self._is_integer:
            return self.language.intersect(_INTEGER_TEXTS).to_expression()
        return self._plain_and_scientific().to_expression()

    def _natural_texts(self) -> list[str]:
        assert self._values is not None
        texts: dict[str, None] = {}
        for value, spelling in self._values.items():
            texts[spelling] = None
            if len(spelling) < 400 and abs(Decimal(spelling).adjusted()) < 400:
                texts[canonical(value)] = None
        return list(texts)

    def _is_unrestricted(self) -> bool:
        is_plain = self._step is None or (self._is_integer and self._step == 1)
        return is_plain and not (self._low or self._high or self._excluded or self._parts)

    def _plain_and_scientific(self) -> RegularLanguage:
        if self._step is not None or self._parts:
            return self.language
        exponents = scientific(self._low, self._high)
        for value in self._excluded:
            exponents = exponents.subtract(scientific(Bound(value, True), Bound(value, True)))
        return self.language.union(exponents)

    def _build_language(self) -> RegularLanguage:
        if self._values is not None:
            return _points(self._values)
        parts = list(self._parts)
        if self._low is not None:
            orders = {Order.GREATER, Order.EQUAL} if self._low.is_inside else {Order.GREATER}
            parts.append(compared(self._low.value, frozenset(orders)))
        if self._high is not None:
            orders = {Order.LESS, Order.EQUAL} if self._high.is_inside else {Order.LESS}
            parts.append(compared(self._high.value, frozenset(orders)))
        if self._step is not None:
            parts.append(multiples(self._step))
        both = reduce(RegularLanguage.intersect, parts) if parts else plain_decimals()
        return both.subtract(_points(self._excluded)) if self._excluded else both


def exact(value: Number) -> Fraction:
    """The value as a fraction; a float counts as the decimal it is written as. Raises GrammarError."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise GrammarError("infinity is not a number of JSON", dialect="JSON schema")
        if abs(value.adjusted()) > _MAX_EXPONENT:
            raise GrammarError(
                f"An exponent beyond {_MAX_EXPONENT:,} is not supported", dialect="JSON schema"
            )
    return Fraction(value)


_MAX_EXPONENT = 10_000


def _spelling(value: Number) -> str:
    """The number as it was given, in JSON."""
    if isinstance(value, Fraction):
        return canonical(value)
    return str(value)


def _points(values: Iterable[Fraction]) -> RegularLanguage:
    """The plain decimals of the values."""
    languages = [compared(value, frozenset([Order.EQUAL])) for value in values]
    return reduce(RegularLanguage.union, languages) if languages else RegularLanguage.of_texts([])


def _ranged(low: Bound | None, high: Bound | None) -> NumberLanguage:
    if _is_reversed(low, high):
        return _NONE
    if low is not None and high is not None and low.value == high.value:
        return NumberLanguage({low.value: canonical(low.value)})
    return NumberLanguage(low=low, high=high)


def _of_language(language: RegularLanguage, is_integer: bool = False) -> NumberLanguage:
    if language.is_empty():
        return _NONE
    step = Fraction(1) if is_integer else None
    return NumberLanguage(step=step, is_integer=is_integer, parts=(language,))


def _is_reversed(low: Bound | None, high: Bound | None) -> bool:
    if low is None or high is None:
        return False
    return low.value > high.value or (low.value == high.value and not (low.is_inside and high.is_inside))


def _is_below(value: Fraction, low: Bound | None) -> bool:
    return low is not None and (value < low.value or (value == low.value and not low.is_inside))


def _is_above(value: Fraction, high: Bound | None) -> bool:
    return high is not None and (value > high.value or (value == high.value and not high.is_inside))


def _higher(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda bound: (bound.value, not bound.is_inside))


def _lower(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other, key=lambda bound: (bound.value, bound.is_inside))


def _flipped(bound: Bound) -> Bound:
    return Bound(bound.value, not bound.is_inside)


def _common_step(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """The step whose multiples are those of both: the least common multiple."""
    if one is None or other is None:
        return other if one is None else one
    denominator = one.denominator * other.denominator
    first, second = int(one * denominator), int(other * denominator)
    return Fraction(first * second // gcd(first, second), denominator)


def _choice(options: list[Expr]) -> Expr:
    if not options:
        return CharClass(())
    return options[0] if len(options) == 1 else Choice(tuple(options))


_ALL = NumberLanguage()
_NONE = NumberLanguage({})
_INTEGERS = NumberLanguage(step=Fraction(1), is_integer=True)
