"""Numbers with exponents: in all spellings where only signs matter, else with one digit before the point."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.decimal_automata import (
    MINUS,
    NATURAL_NUMBER,
    Order,
    canonical,
    compared_magnitude,
    decimal_places,
)
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Repeat, Sequence
from grammar_core.regular import RegularLanguage


class Bound(NamedTuple):
    """One end of a range."""

    value: Fraction
    is_inside: bool


_DIGITS_OF_FLOATS = 17
_LARGEST_POWER = 16
_EXPONENT = "[eE][+-]?[0-9]+"
_ANY_EXPONENT = parse_regex(_EXPONENT)
_ANY_ZERO = parse_regex(rf"0(?:\.0+)?(?:{_EXPONENT})?")
_ANY_NONZERO = parse_regex(rf"(?:[1-9][0-9]*(?:\.[0-9]+)?|0\.0*[1-9][0-9]*)(?:{_EXPONENT})?")
_MANTISSA = parse_regex(r"[1-9](?:\.[0-9]+)?")
SCIENTIFIC_ZERO = parse_regex(r"-?0(?:\.0+)?[eE][+-]?[0-9]+")


def signed(low: Bound | None, high: Bound | None) -> Expr | None:
    """The numbers of a range whose ends are zero or missing, in every spelling; None for other ranges."""
    if any(bound is not None and bound.value != 0 for bound in (low, high)):
        return None
    options: list[Expr] = []
    if high is None:
        options.append(_ANY_NONZERO)
    if low is None:
        options.append(Sequence((MINUS, _ANY_NONZERO)))
    if all(bound is None or bound.is_inside for bound in (low, high)):
        options.append(Sequence((Repeat(MINUS, 0, 1), _ANY_ZERO)))
    return choice(options)


def scientific(low: Bound | None, high: Bound | None) -> Expr:
    """The numbers of the range, which is not reversed, in scientific notation."""
    options: list[Expr] = []
    if high is None or high.value > 0:
        options.append(_positive(low, high))
    if low is None or low.value < 0:
        options.append(Sequence((MINUS, _positive(_negated(high), _negated(low)))))
    if _is_inside(Fraction(0), low, high):
        options.append(SCIENTIFIC_ZERO)
    return choice(options)


def _is_inside(value: Fraction, low: Bound | None, high: Bound | None) -> bool:
    if low is not None and (value < low.value or (value == low.value and not low.is_inside)):
        return False
    return high is None or value < high.value or (value == high.value and high.is_inside)


def _negated(bound: Bound | None) -> Bound | None:
    return None if bound is None else bound._replace(value=-bound.value)


def _positive(low: Bound | None, high: Bound | None) -> Expr:
    """Without a sign: the positive numbers of the range, whose upper end is positive."""
    lower = _place(low) if low is not None and low.value > 0 else None
    upper = _place(high) if high is not None else None
    if lower is None and upper is None:
        return Sequence((_MANTISSA, _ANY_EXPONENT))
    if lower is not None and upper is not None and lower.exponent == upper.exponent:
        above, below = (_at(end, side) for end, side in ((lower, Order.GREATER), (upper, Order.LESS)))
        mantissas = RegularLanguage.from_expression(above).intersect(RegularLanguage.from_expression(below))
        return Sequence((mantissas.to_expression(), _exponents(lower.exponent, upper.exponent)))
    options: list[Expr] = []
    first, last = None, None
    if lower is not None:
        options.append(Sequence((_at(lower, Order.GREATER), _exponents(lower.exponent, lower.exponent))))
        first = lower.exponent + 1
    if upper is not None:
        options.append(Sequence((_at(upper, Order.LESS), _exponents(upper.exponent, upper.exponent))))
        last = upper.exponent - 1
    if first is None or last is None or first <= last:
        options.append(Sequence((_MANTISSA, _exponents(first, last))))
    return Choice(tuple(options))


@lru_cache(maxsize=64)
def scientific_multiples(step: Fraction) -> Expr | None:
    """Multiples of a step in scientific notation, where every high enough power of ten is one: else None.

    They have at most 16 digits behind the point, as floats have, and end in such a power.
    """
    places = decimal_places(step)
    modulus, power = int(step * 10**places), -places
    while 10 ** (power + places) % modulus:
        power += 1
        if power > _LARGEST_POWER:
            return None
    options: list[Expr] = []
    for digits in range(_DIGITS_OF_FLOATS):
        mantissa = parse_regex(rf"-?[1-9]\.[0-9]{{{digits}}}" if digits else "-?[1-9]")
        options.append(Sequence((mantissa, _exponents(power + digits, None))))
    multiples = RegularLanguage.from_expression(Choice((*options, SCIENTIFIC_ZERO)))
    return multiples.to_expression()


class _Place(NamedTuple):
    """A positive bound as mantissa and exponent."""

    mantissa: Fraction
    exponent: int
    is_inside: bool


def _place(bound: Bound) -> _Place:
    whole, _, fraction = canonical(bound.value).partition(".")
    exponent = len(whole) - 1 if whole != "0" else -1 - len(fraction) + len(fraction.lstrip("0"))
    return _Place(bound.value / Fraction(10) ** exponent, exponent, bound.is_inside)


def _at(place: _Place, side: Order) -> Expr:
    """The mantissas on one side of a bound's, and itself if it is inside."""
    orders = {side, Order.EQUAL} if place.is_inside else {side}
    return compared_magnitude(place.mantissa, frozenset(orders), is_mantissa=True)


@lru_cache(maxsize=512)
def _exponents(first: int | None, last: int | None) -> Expr:
    """Exponents of a range, with their letter; zeros may lead."""
    options: list[Expr] = []
    if last is None or last >= 0:
        options.append(Sequence((_PLUS, _ZEROS, _whole(max(first or 0, 0), last))))
    if first is None or first <= 0:
        options.append(
            Sequence((MINUS, _ZEROS, _whole(max(-(last or 0), 0), None if first is None else -first)))
        )
    return Sequence((_LETTER, choice(options)))


def exponent(value: int) -> Expr:
    """One exponent, with its letter; zeros may lead."""
    return _exponents(value, value)


def _whole(first: int, last: int | None) -> Expr:
    """Whole numbers of a range, without a sign."""
    if last == first:
        return Literal(str(first).encode())
    language = RegularLanguage.from_expression(NATURAL_NUMBER)
    if first > 0:
        above = compared_magnitude(Fraction(first), frozenset([Order.GREATER, Order.EQUAL]))
        language = language.intersect(RegularLanguage.from_expression(above))
    if last is not None:
        below = compared_magnitude(Fraction(last), frozenset([Order.LESS, Order.EQUAL]))
        language = language.intersect(RegularLanguage.from_expression(below))
    return language.to_expression()


_LETTER = CharClass(((0x45, 0x45), (0x65, 0x65)))
_PLUS = Repeat(Literal(b"+"), 0, 1)
_ZEROS = Repeat(Literal(b"0"), 0, None)
