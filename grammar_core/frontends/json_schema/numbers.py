"""Sets of numbers, exact: bounds, multiples, given and excluded values, and all Boolean combinations.

A set stays a description for as long as that is enough; a finite automaton over plain decimals
(decimal_automata.py) is made of it for what needs one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.decimal_automata import (
    MAX_DIGITS,
    canonical,
    plain_decimals,
    too_long,
)
from grammar_core.frontends.json_schema.number_spelling import (
    Range,
    any_spelling,
    natural_combination,
    natural_exclusion,
    natural_range,
    points,
    scientific_below,
)
from grammar_core.frontends.json_schema.scientific import Bound
from grammar_core.frontends.json_schema.speller import Define
from grammar_core.frontends.json_schema.values import WrittenNumber
from grammar_core.ir.nodes import Expr, Literal
from grammar_core.regular import RegularLanguage

Number: TypeAlias = int | float | Decimal | Fraction
Lexical = OneOf["natural", "any"]
_MAX_EXPONENT = 10_000
_LONGEST_PLAIN_TEXT = 400
_ZEROS_OF_EXPONENT = re.compile("(e[-+])0+")


class _Combination(NamedTuple):
    """The numbers in one of the members or, `negated`, in none."""

    members: tuple[NumberLanguage, ...]
    negated: bool

    def contains(self, value: Fraction) -> bool:
        return any(member.contains(value) for member in self.members) != self.negated

    def scaled(self, factor: Fraction) -> _Combination:
        return self._replace(members=tuple(member.scaled(factor) for member in self.members))

    def language(self) -> RegularLanguage:
        united = reduce(RegularLanguage.union, (member.language for member in self.members))
        return plain_decimals().subtract(united) if self.negated else united


class NumberLanguage:
    """An immutable set of rational numbers."""

    __slots__ = ("_excluded", "_is_integer", "_language", "_parts", "_range", "_values")

    def __init__(
        self,
        values: dict[Fraction, tuple[str, ...]] | None = None,
        within: Range = Range(None, None, None),  # noqa: B008 - immutable
        is_integer: bool = False,
        excluded: frozenset[Fraction] = frozenset(),
        parts: tuple[_Combination, ...] = (),
    ) -> None:
        """The given values, with spellings of each, if there are any; else what all the rest allows."""
        self._values = values
        self._range = within
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
        return _within(Range(lower, upper, None))

    @staticmethod
    def multiple_of(step: Number) -> NumberLanguage:
        """The multiples of a positive number."""
        return NumberLanguage(within=Range(None, None, exact(step)))

    @staticmethod
    def of_values(values: Iterable[Number]) -> NumberLanguage:
        """Just these numbers."""
        texts: dict[Fraction, tuple[str, ...]] = {}
        for value in values:
            number = exact(value)
            texts[number] = (*texts.get(number, ()), _spelling(value))
        return NumberLanguage(texts)

    def intersect(self, other: NumberLanguage) -> NumberLanguage:
        """The numbers in both."""
        if self is _ALL or other is _ALL:
            return other if self is _ALL else self
        if self._values is not None and other._values is not None:
            mine, others = self._values, other._values
            common = [v for v in min(mine, others, key=len) if v in mine and v in others]
            return NumberLanguage({v: (*mine[v], *others[v]) for v in common})
        if self._values is not None:
            return NumberLanguage({v: texts for v, texts in self._values.items() if other.contains(v)})
        if other._values is not None:
            return other.intersect(self)
        new = tuple(part for part in other._parts if part not in self._parts)
        return _within(
            _common(self._range, other._range),
            self._is_integer or other._is_integer,
            self._excluded | other._excluded,
            self._parts + new,
        )

    def complement(self) -> NumberLanguage:
        """Every number that is not in the set."""
        if self._values is not None:
            return NumberLanguage(excluded=frozenset(self._values)) if self._values else _ALL
        low, high, step = self._range
        if step is None and not self._excluded and not self._parts:
            if low is None and high is None:
                return _NONE
            if low is None or high is None:
                return NumberLanguage(within=Range(_flipped(high), _flipped(low), None))
        if self._range == (None, None, None) and not self._parts:
            return NumberLanguage({value: (canonical(value),) for value in self._excluded})
        return NumberLanguage(parts=(_Combination((self,), True),))

    def union(self, other: NumberLanguage) -> NumberLanguage:
        """The numbers in either."""
        if self._values is not None and other._values is not None:
            texts = {
                value: (*self._values.get(value, ()), *other._values.get(value, ()))
                for value in self._values | other._values
            }
            return NumberLanguage(texts)
        if _ALL in (self, other):
            return _ALL
        if self._values == {} or other._values == {}:
            return other if self._values == {} else self
        are_integers = all(each._holds_integers() for each in (self, other))
        within = Range(None, None, Fraction(1)) if are_integers else Range(None, None, None)
        return NumberLanguage(None, within, are_integers, parts=(_Combination((self, other), False),))

    def is_empty(self) -> bool:
        """Whether there is no number. Raises GrammarLimitError."""
        if self._values is not None:
            return not self._values
        if self._range.step is None and not self._parts:
            return False  # a range that is neither reversed nor a point has any number of members
        if not self._parts and (self._range.low is None or self._range.high is None):
            return False
        return self.language.is_empty()

    def is_all(self) -> bool:
        """Whether there is every number. Raises GrammarLimitError."""
        if self._values is not None or self._excluded or self._range != (None, None, None):
            return False
        return not self._parts or plain_decimals().subtract(self.language).is_empty()

    def contains(self, value: Number) -> bool:
        """Whether the number is in the set."""
        value = exact(value)
        if self._values is not None:
            return value in self._values
        if value in self._excluded or not self._range.contains(value):
            return False
        return all(part.contains(value) for part in self._parts)

    def finite_values(self, limit: int) -> list[Fraction] | None:
        """Every number in ascending order; None if there are more than `limit`, or it seems so.

        Sets that are unions or complements are not worked out for this.
        """
        if self._values is not None:
            return sorted(self._values) if len(self._values) <= limit else None
        low, high, step = self._range
        if step is None or low is None or high is None:
            return None
        first, last = -(-low.value // step), high.value // step
        if last - first > 2 * limit + len(self._excluded) + 2:
            return None
        found = [step * count for count in range(first, last + 1) if self.contains(step * count)]
        return found if len(found) <= limit else None

    @property
    def language(self) -> RegularLanguage:
        """The set as an automaton over plain decimals. Raises GrammarLimitError."""
        if self._language is None:
            self._language = self._build_language()
        return self._language

    def scaled(self, factor: Fraction) -> NumberLanguage:
        """Every number of the set times a positive one."""
        if self._values is not None:
            return NumberLanguage({value * factor: () for value in self._values})
        return NumberLanguage(
            None,
            self._range.scaled(factor),
            False,
            frozenset(value * factor for value in self._excluded),
            tuple(part.scaled(factor) for part in self._parts),
        )

    def to_expression(self, lexical: Lexical, define: Define) -> Expr:
        """The JSON numbers whose values are in the set. `define` makes rules.

        `lexical` "natural": a set within `integers()` has neither fractions nor exponents; a given value has
        its shortest plain decimal, the spelling it was given in and, unless that is a plain integer, those of
        writers of JSON (1e-05, 1e-5, 1e+22); a set that only signs tell, as the set
        of all numbers, has every spelling; combinations have plain decimals; any other set has those and
        scientific notation with one digit before the point. Of multiples that is only what ends in a power of
        ten that is a multiple; all but multiples have what is less than these, among combinations.

        `lexical` "any": every spelling where only signs matter; for any other set plain decimals, each
        spelling with an exponent from -20 to 20, and the scientific notation above where the set is a range.
        Raises GrammarLimitError.
        """
        if lexical == "any":
            return self._any_expression(define)
        if self._values is not None:
            return choice(self._literals())
        if self._parts:
            return choice([natural_combination(self.language, self._is_integer), *self._small_numbers()])
        if self._excluded:
            return natural_exclusion(self._range, self._is_integer, self._excluded, self.language)
        name = _NAMES.get((self._range, self._is_integer))
        expression = natural_range(self._range, self._is_integer)
        return expression if name is None else define(name, expression)

    def _any_expression(self, define: Define) -> Expr:
        is_range = self._values is None and self._range.step is None and not self._parts
        languages = self._range if is_range else None
        expression = any_spelling(languages, self._excluded, lambda factor: self.scaled(factor).language)
        if self._values is not None:
            expression = choice([expression, *self._literals()])
        return define("json_number", expression) if self is _ALL else expression

    def _holds_integers(self) -> bool:
        if self._values is not None:
            return all(value.denominator == 1 for value in self._values)
        return self._is_integer

    def _small_numbers(self) -> list[Expr]:
        """Scientific notation of what is too small to be a multiple, where a set is all but multiples."""
        if self._is_integer or self._range.step is not None:
            return []
        members = [member for part in self._parts if part.negated for member in part.members]
        steps = [member._only_step() for member in members]
        found = [step for step in steps if step is not None]
        if len(found) < len(steps) or not all(part.negated for part in self._parts):
            return []
        return scientific_below(self._range, min(found), self._excluded)

    def _only_step(self) -> Fraction | None:
        """The step whose multiples the set is; None for other sets."""
        low, high, step = self._range
        is_more = low is not None or high is not None or self._excluded or self._parts
        return None if is_more or self._values is not None else step

    def _literals(self) -> list[Expr]:
        """The natural spellings of given values."""
        return [Literal(text.encode()) for text in self._natural_texts()]

    def _natural_texts(self) -> list[str]:
        assert self._values is not None
        texts: dict[str, None] = {}
        for value, given in self._values.items():
            texts.update(dict.fromkeys(given))
            if abs(Decimal(given[0]).adjusted()) < _LONGEST_PLAIN_TEXT:
                texts[canonical(value)] = None
            if value.denominator != 1 or not all(map(_is_plain_integer, given)):
                texts.update(dict.fromkeys(_texts_of_writers(value)))
        return list(texts)

    def _build_language(self) -> RegularLanguage:
        if self._values is not None:
            return points(self._values)
        languages = [*self._range.languages(), *(part.language() for part in self._parts)]
        both = reduce(RegularLanguage.intersect, languages) if languages else plain_decimals()
        return both.subtract(points(self._excluded)) if self._excluded else both


def exact(value: Number) -> Fraction:
    """The value as a fraction; a float counts as the decimal it is written as. Raises GrammarError."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise GrammarError("infinity is not a number of JSON", dialect="JSON schema")
        if abs(value.adjusted()) > _MAX_EXPONENT:
            raise GrammarError(f"exponents beyond {_MAX_EXPONENT:,} are not supported", dialect="JSON schema")
        if _significant_digits(value) > MAX_DIGITS:  # a fraction of them takes time of their square
            raise too_long()
    return Fraction(value)


def _significant_digits(value: Decimal) -> int:
    """Digits without the zeros at the end."""
    digits = value.as_tuple().digits
    count = len(digits)
    while count and not digits[count - 1]:
        count -= 1
    return count


def _spelling(value: Number) -> str:
    """The number as it was given, in JSON."""
    if isinstance(value, WrittenNumber):
        return value.text
    return canonical(value) if isinstance(value, Fraction) else str(value)


def _is_plain_integer(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def _texts_of_writers(value: Fraction) -> list[str]:
    """What JSON writers make of the value read as a float: Python's, and those with other exponents."""
    try:
        text = repr(float(value))
    except OverflowError:
        return []
    if Fraction(text) != value:
        return []
    short = _ZEROS_OF_EXPONENT.sub(r"\1", text)
    return [text] if short == text else [text, short]


def _within(
    within: Range,
    is_integer: bool = False,
    excluded: frozenset[Fraction] = frozenset(),
    parts: tuple[_Combination, ...] = (),
) -> NumberLanguage:
    """The numbers of the range, which may be reversed or a point, that all the rest allows."""
    low, high, _ = within
    if low is not None and high is not None and low.value >= high.value:
        if low.value > high.value or not (low.is_inside and high.is_inside):
            return _NONE
        rest = NumberLanguage(None, within, is_integer, excluded, parts)
        return NumberLanguage({low.value: (canonical(low.value),)} if rest.contains(low.value) else {})
    return NumberLanguage(None, within, is_integer, excluded, parts)


def _common(one: Range, other: Range) -> Range:
    return Range(
        _higher(one.low, other.low), _lower(one.high, other.high), _common_step(one.step, other.step)
    )


def _higher(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda bound: (bound.value, not bound.is_inside))


def _lower(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other, key=lambda bound: (bound.value, bound.is_inside))


def _flipped(bound: Bound | None) -> Bound | None:
    return None if bound is None else Bound(bound.value, not bound.is_inside)


def _common_step(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """The step whose multiples are those of both: the least common multiple."""
    if one is None or other is None or one == other:
        return other if one is None else one
    denominator = one.denominator * other.denominator
    first, second = int(one * denominator), int(other * denominator)
    return Fraction(first * second // gcd(first, second), denominator)


_ALL = NumberLanguage()
_NONE = NumberLanguage({})
_INTEGERS = NumberLanguage(None, Range(None, None, Fraction(1)), True)
_NAMES = {(Range(None, None, None), False): "json_number", (_INTEGERS._range, True): "json_integer"}
