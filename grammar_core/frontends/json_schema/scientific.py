"""Numbers in scientific notation with one digit before the point, within a range."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from grammar_core.frontends.json_schema.decimal_automata import (
    NATURAL_NUMBER,
    Order,
    canonical,
    compared,
    compared_magnitude,
)
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Repeat, Sequence
from grammar_core.regular import RegularLanguage

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.numbers import Bound

_ANY_EXPONENT = parse_regex("[eE][+-]?[0-9]+")
_MANTISSA = parse_regex(r"[1-9](?:\.[0-9]+)?")
_ZERO = parse_regex(r"0(?:\.0+)?[eE][+-]?[0-9]+")


def scientific(low: Bound | None, high: Bound | None) -> RegularLanguage:
    """The numbers of the range in scientific notation."""
    options: list[Expr] = []
    positive = _magnitudes(low, high)
    negative = _magnitudes(_negated(high), _negated(low))
    if positive is not None:
        options.append(positive)
    if negative is not None:
        options.append(Sequence((Literal(b"-"), negative)))
    return RegularLanguage.from_expression(Choice(tuple(options)) if options else CharClass(()))


def _negated(bound: Bound | None) -> Bound | None:
    return None if bound is None else bound._replace(value=-bound.value)


def _magnitudes(low: Bound | None, high: Bound | None) -> Expr | None:
    """Without a sign: the numbers of the range that are not negative; None if there are none."""
    if high is not None and high.value < 0:
        return None
    options: list[Expr] = []
    has_zero = (low is None or low.value < 0 or (low.value == 0 and low.is_inside)) and (
        high is None or high.value > 0 or high.is_inside
    )
    if has_zero:
        options.append(_ZERO)
    above = None if low is None or low.value <= 0 else _beside(low, Order.GREATER)
    below = None if high is None else _beside(high, Order.LESS)
    if high is None or high.value > 0:
        parts = [part for part in (above, below) if part is not None]
        if not parts:
            options.append(Sequence((_MANTISSA, _ANY_EXPONENT)))
        else:
            language = parts[0] if len(parts) == 1 else parts[0].intersect(parts[1])
            options.append(language.to_expression())
    return Choice(tuple(options)) if options else None


def _beside(bound: Bound, side: Order) -> RegularLanguage:
    """Positive numbers on one side of a positive bound, and the bound itself if it is inside."""
    exponent = _exponent(bound.value)
    mantissa = bound.value / Fraction(10) ** exponent
    orders = {side, Order.EQUAL} if bound.is_inside else {side}
    same = RegularLanguage.from_expression(_MANTISSA).intersect(compared(mantissa, frozenset(orders)))
    options: list[Expr] = [Sequence((same.to_expression(), _exponents(exponent, Order.EQUAL)))]
    options.append(Sequence((_MANTISSA, _exponents(exponent, side))))
    return RegularLanguage.from_expression(Choice(tuple(options)))


def _exponent(value: Fraction) -> int:
    """The power of ten of the first digit of a positive value."""
    text = canonical(value)
    whole, _, fraction = text.partition(".")
    if whole != "0":
        return len(whole) - 1
    return -1 - (len(fraction) - len(fraction.lstrip("0")))


def _exponents(bound: int, order: Order) -> Expr:
    """Exponents, with their letter, that compare with the bound in that way; zeros may lead."""
    options: list[Expr] = []
    if bound >= 0:
        options.append(Sequence((_PLUS, _ZEROS, _whole(bound, order))))
    elif order == Order.GREATER:
        options.append(Sequence((_PLUS, _ZEROS, NATURAL_NUMBER)))
    if bound <= 0:
        options.append(Sequence((Literal(b"-"), _ZEROS, _whole(-bound, Order(-order)))))
    elif order == Order.LESS:
        options.append(Sequence((Literal(b"-"), _ZEROS, NATURAL_NUMBER)))
    return Sequence((_LETTER, Choice(tuple(options))))


def _whole(bound: int, order: Order) -> Expr:
    """Whole numbers without a sign that compare with the bound in that way."""
    magnitudes = RegularLanguage.from_expression(compared_magnitude(Fraction(bound), frozenset([order])))
    return magnitudes.intersect(_NATURAL_NUMBERS).to_expression()


_LETTER = CharClass(((0x45, 0x45), (0x65, 0x65)))
_PLUS = Repeat(Literal(b"+"), 0, 1)
_ZEROS = Repeat(Literal(b"0"), 0, None)
_NATURAL_NUMBERS = RegularLanguage.from_expression(NATURAL_NUMBER)
