"""Sets of numbers as expressions over the texts of JSON numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from typing import NamedTuple

from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.decimal_automata import (
    ANY_NUMBER,
    INTEGER,
    Order,
    compared,
    multiples,
)
from grammar_core.frontends.json_schema.scientific import (
    SCIENTIFIC_ZERO,
    Bound,
    exponent,
    scientific,
    scientific_multiples,
    signed,
)
from grammar_core.ir.nodes import Expr, Sequence
from grammar_core.regular import RegularLanguage

LARGEST_SHIFT = 20
"""Exponents up to this one, and down to minus it, may stand behind any decimal when all spellings count."""


class Range(NamedTuple):
    """The multiples of `step` between two ends. None: no such constraint."""

    low: Bound | None
    high: Bound | None
    step: Fraction | None

    def contains(self, value: Fraction) -> bool:
        """Whether the value is in the range."""
        low, high, step = self
        if low is not None and (value < low.value or (value == low.value and not low.is_inside)):
            return False
        if high is not None and (value > high.value or (value == high.value and not high.is_inside)):
            return False
        return step is None or (value / step).denominator == 1

    def scaled(self, factor: Fraction) -> Range:
        """The range times a positive number."""
        low, high = (
            None if bound is None else bound._replace(value=bound.value * factor)
            for bound in (self.low, self.high)
        )
        return Range(low, high, None if self.step is None else self.step * factor)

    def expressions(self) -> Iterator[Expr]:
        """Expressions of plain decimals; their intersection is the range."""
        if self.low is not None:
            yield compared(self.low.value, _orders(Order.GREATER, self.low))
        if self.high is not None:
            yield compared(self.high.value, _orders(Order.LESS, self.high))
        if self.step is not None:
            yield multiples(self.step)

    def languages(self) -> Iterator[RegularLanguage]:
        """The same as automata. Raises GrammarLimitError."""
        return map(RegularLanguage.from_expression, self.expressions())


def points(values: Iterable[Fraction]) -> RegularLanguage:
    """The plain decimals of the values."""
    return RegularLanguage.from_expression(
        choice([compared(value, frozenset([Order.EQUAL])) for value in values])
    )


def natural_combination(language: RegularLanguage, is_integer: bool) -> Expr:
    """A set of plain decimals: those, but for integers only those without a fraction."""
    return (language.intersect(_integers()) if is_integer else language).to_expression()


def natural_exclusion(
    within: Range, is_integer: bool, excluded: frozenset[Fraction], language: RegularLanguage
) -> Expr:
    """A range without some values, as `language` has it in plain decimals; with exponents too if they fit."""
    plain = natural_combination(language, is_integer)
    if is_integer or within.step is not None:
        return plain
    return choice([plain, _without(scientific(within.low, within.high), excluded)])


@lru_cache(maxsize=1024)
def natural_range(within: Range, is_integer: bool) -> Expr:
    """A range in natural spelling."""
    low, high, step = within
    if is_integer:
        if step == 1:
            languages = [_integers(), *within._replace(step=None).languages()]
            return INTEGER if low is high is None else _meet(languages).to_expression()
        return _meet([_integers(), *within.languages()]).to_expression()
    if step is None:
        if low is high is None:
            return ANY_NUMBER
        by_sign = signed(low, high)
        if by_sign is not None:
            return by_sign
    plain = list(within.expressions())
    if len(plain) > 1:
        plain = [_meet([RegularLanguage.from_expression(each) for each in plain]).to_expression()]
    if step is None:
        return choice([*plain, scientific(low, high)])
    spelled = scientific_multiples(step)
    if spelled is None:
        return plain[0]
    if low is not None or high is not None:
        both = [RegularLanguage.from_expression(each) for each in (spelled, scientific(low, high))]
        spelled = _meet(both).to_expression()
    return choice([*plain, spelled])


def scientific_below(within: Range, step: Fraction, excluded: frozenset[Fraction]) -> list[Expr]:
    """Scientific notation of the numbers of a range between zero and a step, of either sign, but for some."""
    options = []
    for least, most in ((Fraction(0), step), (-step, Fraction(0))):
        low, high = Bound(least, False), Bound(most, False)
        if within.low is not None and within.low.value > least:
            low = within.low
        if within.high is not None and within.high.value < most:
            high = within.high
        if low.value < high.value:
            options.append(_without(scientific(low, high), excluded))
    return options


def any_spelling(
    within: Range | None,
    excluded: frozenset[Fraction],
    scaled: Callable[[Fraction], RegularLanguage],
) -> Expr:
    """The numbers in every spelling with an exponent that is not too large.

    `within`: the range that the set is but for what is excluded, if it is one. `scaled` gives the plain
    decimals of the set times a factor.
    """
    if within is not None and not excluded:
        if within.low is within.high is None:
            return ANY_NUMBER
        by_sign = signed(within.low, within.high)
        if by_sign is not None:
            return by_sign
    plain = scaled(Fraction(1))
    options = [plain.to_expression()]
    for shift in range(-LARGEST_SHIFT, LARGEST_SHIFT + 1):
        decimals = scaled(Fraction(10) ** -shift)
        if not decimals.is_empty():
            options.append(Sequence((decimals.to_expression(), exponent(shift))))
    if plain.contains("0"):
        options.append(SCIENTIFIC_ZERO)
    if within is not None:
        options.append(_without(scientific(within.low, within.high), excluded))
    return choice(options)


def _without(expr: Expr, excluded: frozenset[Fraction]) -> Expr:
    if not excluded:
        return expr
    values = [scientific(Bound(value, True), Bound(value, True)) for value in excluded]
    kept = RegularLanguage.from_expression(expr).subtract(RegularLanguage.from_expression(choice(values)))
    return kept.to_expression()


def _meet(languages: list[RegularLanguage]) -> RegularLanguage:
    return reduce(RegularLanguage.intersect, languages)


def _orders(side: Order, bound: Bound) -> frozenset[Order]:
    return frozenset((side, Order.EQUAL)) if bound.is_inside else frozenset((side,))


@lru_cache(maxsize=1)
def _integers() -> RegularLanguage:
    return RegularLanguage.from_expression(INTEGER)
