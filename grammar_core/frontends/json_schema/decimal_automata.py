r"""Sets of numbers as automata over their decimal spelling.

*Plain decimals* are -?(0|[1-9]\d*)(\.\d+)?: no exponent, any number of zeros at the end of a fraction, and a
sign before zero too. *Scientific* spelling is -?[1-9](\.\d+)?[eE][+-]?\d+, and the same with 0 for zero.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from math import gcd

from grammar_core.deadline import check
from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import Automaton, CharClass, Choice, Edge, Expr, Literal, Repeat, Sequence
from grammar_core.regular import RegularLanguage

MAX_DIGITS = 2_000
MAX_MODULUS = 4_096
"""Of decimals, each of whose places has as many states."""
MAX_REMAINDERS = 8_192
"""Of whole numbers."""

_DOT = CharClass(((0x2E, 0x2E),))
_DIGITS = [CharClass(((code, code),)) for code in range(0x30, 0x3A)]
MINUS = Literal(b"-")
NATURAL_NUMBER = parse_regex(r"0|[1-9][0-9]*")
MAGNITUDE = parse_regex(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
INTEGER = parse_regex(r"-?(?:0|[1-9][0-9]*)")
PLAIN_DECIMAL = parse_regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
ANY_NUMBER = parse_regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Order(IntEnum):
    """How a number compares with a bound."""

    LESS = -1
    EQUAL = 0
    GREATER = 1


Orders = frozenset[Order]
ALL_ORDERS: Orders = frozenset(Order)


@lru_cache(maxsize=1)
def plain_decimals() -> RegularLanguage:
    """Every plain decimal."""
    return RegularLanguage.from_expression(PLAIN_DECIMAL)


def compared(bound: Fraction, wanted: Orders) -> Expr:
    """The plain decimals that compare with the bound, itself a decimal, in one of the wanted ways."""
    options: list[Expr] = []
    if bound >= 0:
        options.append(compared_magnitude(bound, wanted))
    elif Order.GREATER in wanted:
        options.append(MAGNITUDE)
    if bound <= 0:
        reverse = frozenset(Order(-order) for order in wanted)
        options.append(Sequence((MINUS, compared_magnitude(-bound, reverse))))
    elif Order.LESS in wanted:
        options.append(Sequence((MINUS, MAGNITUDE)))
    return choice(options)


def multiples(step: Fraction) -> Expr:
    """The plain decimals that are multiples of the step, a positive decimal. Raises GrammarLimitError."""
    places = decimal_places(step)
    modulus = int(step * 10**places)
    sign = Repeat(MINUS, 0, 1)
    if places == 0 and modulus % 10 == 0:
        return Sequence((sign, _with_zeros(modulus)))
    return Sequence((sign, _residues(modulus, places) if places else _whole_multiples(modulus)))


def canonical(value: Fraction) -> str:
    """The shortest plain decimal of a value that is a decimal. Raises GrammarLimitError."""
    places = decimal_places(value)
    digits = abs(value.numerator) * 10**places // value.denominator
    _check_digits(digits)
    text = str(digits).rjust(places + 1, "0")
    text = f"{text[:-places]}.{text[-places:]}" if places else text
    return f"-{text}" if value < 0 else text


def decimal_places(value: Fraction) -> int:
    """Digits after the point of a value that is a decimal."""
    rest, places = value.denominator, 0
    twos = fives = 0
    while rest % 2 == 0:
        rest //= 2
        twos += 1
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    assert rest == 1, "numbers in JSON are decimals"
    places = max(twos, fives)
    if places > MAX_DIGITS:
        raise too_long()
    return places


def _check_digits(digits: int) -> None:
    if digits.bit_length() > MAX_DIGITS * 10 // 3:
        raise too_long()


def too_long() -> GrammarLimitError:
    """The error for a number beyond MAX_DIGITS."""
    message = f"A number has more than {MAX_DIGITS:,} digits when it is written without an exponent"
    return GrammarLimitError(message, limit="number_digits", value=MAX_DIGITS, dialect="JSON schema")


class _Builder:
    """An automaton over digits and the point, state by state."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self.accepting: list[int] = []
        self.count = 0

    def state(self, accepts: bool) -> int:
        check()
        if accepts:
            self.accepting.append(self.count)
        self.count += 1
        return self.count - 1

    def digits(self, source: int, low: int, high: int, target: int) -> None:
        if low <= high:
            self.edges.append((source, target, CharClass(((0x30 + low, 0x30 + high),))))

    def point(self, source: int, target: int) -> None:
        self.edges.append((source, target, _DOT))

    def build(self) -> Automaton:
        return Automaton(tuple(self.edges), tuple(self.accepting), self.count)


def compared_magnitude(bound: Fraction, wanted: Orders, *, is_mantissa: bool = False) -> Expr:
    """Plain decimals without a sign that compare with the bound, which is not negative, as wanted.

    Those of a mantissa have one digit before the point, and it is not zero; so has then the bound.
    """
    if not wanted:
        return CharClass(())
    if wanted == ALL_ORDERS and not is_mantissa:
        return MAGNITUDE
    whole, _, fraction = canonical(bound).partition(".")
    return _Comparison(whole, fraction, wanted, is_mantissa).build()


class _Comparison:
    """Compares digit by digit: a number with more digits before the point is greater."""

    def __init__(self, whole: str, fraction: str, wanted: Orders, is_mantissa: bool) -> None:
        self._is_mantissa = is_mantissa
        self._whole = whole
        self._fraction = fraction
        self._wanted = wanted
        self._builder = _Builder()

    def build(self) -> Automaton:
        builder = self._builder
        start = builder.state(False)
        self._tails = {order: self._tail(order) for order in (Order.LESS, Order.GREATER)}
        self._longer = self._endless(Order.GREATER)
        fraction = self._fraction_states()
        before = {Order.EQUAL: start}
        for index, digit in enumerate(self._whole):
            before = self._read_digit(before, index, int(digit), fraction)
        return builder.build()

    def _read_digit(
        self, before: dict[Order, int], index: int, digit: int, fraction: int
    ) -> dict[Order, int]:
        """From the states after `index` digits to those after one more."""
        is_last = index == len(self._whole) - 1
        after = {}
        for order in Order:
            if not is_last:  # a number that ends here is shorter
                after[order] = self._builder.state(Order.LESS in self._wanted)
                self._builder.point(after[order], self._tails[Order.LESS])
            elif order == Order.EQUAL:
                after[order] = self._builder.state(self._ends(not self._fraction))
                self._builder.point(after[order], fraction)
            else:
                after[order] = self._builder.state(order in self._wanted)
                self._builder.point(after[order], self._tails[order])
            if is_last and not self._is_mantissa:
                self._builder.digits(after[order], 0, 9, self._longer)
        if index == 0:
            self._read_first_digit(before[Order.EQUAL], digit, after)
            return after
        for order, source in before.items():
            if order != Order.EQUAL:
                self._builder.digits(source, 0, 9, after[order])
                continue
            self._builder.digits(source, 0, digit - 1, after[Order.LESS])
            self._builder.digits(source, digit, digit, after[Order.EQUAL])
            self._builder.digits(source, digit + 1, 9, after[Order.GREATER])
        return after

    def _read_first_digit(self, start: int, digit: int, after: dict[Order, int]) -> None:
        """A leading zero is the only digit before the point."""
        builder = self._builder
        if digit == 0:
            zero = builder.state(self._ends(not self._fraction))
            builder.point(zero, self._first_of_fraction)
            builder.digits(start, 0, 0, zero)
        else:
            if not self._is_mantissa:
                zero = builder.state(Order.LESS in self._wanted)
                builder.point(zero, self._tails[Order.LESS])
                builder.digits(start, 0, 0, zero)
            builder.digits(start, 1, digit - 1, after[Order.LESS])
            builder.digits(start, digit, digit, after[Order.EQUAL])
        builder.digits(start, digit + 1, 9, after[Order.GREATER])

    def _ends(self, is_equal: bool) -> bool:
        return (Order.EQUAL if is_equal else Order.LESS) in self._wanted

    def _fraction_states(self) -> int:
        """The state behind the point of a number that is equal so far."""
        builder = self._builder
        self._first_of_fraction = state = builder.state(False)
        ends = {order: self._endless_fraction(order) for order in (Order.LESS, Order.GREATER)}
        for index, digit in enumerate(self._fraction):
            following = builder.state(self._ends(index == len(self._fraction) - 1))
            builder.digits(state, 0, int(digit) - 1, ends[Order.LESS])
            builder.digits(state, int(digit), int(digit), following)
            builder.digits(state, int(digit) + 1, 9, ends[Order.GREATER])
            state = following
        zeros = builder.state(Order.EQUAL in self._wanted)
        for source in (state, zeros):
            builder.digits(source, 0, 0, zeros)
            builder.digits(source, 1, 9, ends[Order.GREATER])
        return self._first_of_fraction

    def _endless_fraction(self, order: Order) -> int:
        state = self._builder.state(order in self._wanted)
        self._builder.digits(state, 0, 9, state)
        return state

    def _tail(self, order: Order) -> int:
        """The state behind the point where the order is known: one digit or more."""
        state = self._builder.state(False)
        self._builder.digits(state, 0, 9, self._endless_fraction(order))
        return state

    def _endless(self, order: Order) -> int:
        """The state before the point where the order is known: any digits, and perhaps a fraction."""
        state = self._builder.state(order in self._wanted)
        self._builder.digits(state, 0, 9, state)
        self._builder.point(state, self._tails[order])
        return state


def _residues(modulus: int, places: int) -> Automaton:
    """Plain decimals without a sign whose digits, `places` of them behind the point, are a multiple.

    There is at least one place.
    """
    if modulus > MAX_MODULUS:
        raise _too_many_remainders(MAX_MODULUS)
    builder = _Builder()

    scale = [int(10 ** (places - digits)) for digits in range(places + 1)]

    def is_multiple(residue: int, digits: int) -> bool:
        return residue * scale[digits] % modulus == 0

    start = builder.state(False)
    whole = [builder.state(is_multiple(residue, 0)) for residue in range(modulus)]
    zero = builder.state(True)
    builder.digits(start, 0, 0, zero)
    _count_digits(builder, start, 0, whole, modulus, first=1)
    for residue, state in enumerate(whole):
        _count_digits(builder, state, residue, whole, modulus)
    layer = [builder.state(False) for _ in range(modulus)]
    builder.point(zero, layer[0])
    for state, behind in zip(whole, layer, strict=True):
        builder.point(state, behind)
    for digits in range(1, places + 1):
        following = [builder.state(is_multiple(residue, digits)) for residue in range(modulus)]
        for residue, state in enumerate(layer):
            _count_digits(builder, state, residue, following, modulus)
        layer = following
    zeros = builder.state(True)
    builder.digits(zeros, 0, 0, zeros)
    builder.digits(layer[0], 0, 0, zeros)
    return builder.build()


def _count_digits(
    builder: _Builder, source: int, residue: int, targets: list[int], modulus: int, first: int = 0
) -> None:
    scaled = residue * 10
    builder.edges += [
        (source, targets[(scaled + digit) % modulus], _DIGITS[digit]) for digit in range(first, 10)
    ]


def _too_many_remainders(limit: int) -> GrammarLimitError:
    message = f"A multipleOf with more than {limit:,} remainders to be told apart cannot be kept track of"
    return GrammarLimitError(message, limit="modulus", value=limit, dialect="JSON schema")


class _Remainders:
    """Remainders of whole numbers, told apart only as far as the digits behind them tell them apart.

    `count` more digits make a remainder zero if they are what 10**count times the remainder lacks. While that
    power is less than the modulus, few lack so little. From then on all can be made zero, and those that are
    the same 10**count times are one: of 65,536 remainders 2,048 are left, and those few.
    """

    def __init__(self, modulus: int) -> None:
        self._modulus = modulus
        self._levels: list[tuple[int, int]] = []
        power, most = 1, 0
        while True:
            shared = gcd(power, modulus)
            self._levels.append((power, modulus // shared))
            if power >= modulus:
                break
            most += power // shared
            power *= 10
        self.most = min(modulus, most + self._levels[-1][1])

    def kind(self, remainder: int, first: int) -> tuple[int, int]:
        """How many digits, at least `first`, can make it zero, and what there is to know of it then."""
        modulus = self._modulus
        level = first
        while True:
            power, known = self._levels[level]
            if -power * remainder % modulus < power:
                return level, remainder % known
            level += 1


def _whole_multiples(modulus: int) -> Automaton:
    """Plain decimals without a sign that are multiples of a whole number."""
    remainders = _Remainders(modulus)
    if remainders.most > MAX_REMAINDERS:
        raise _too_many_remainders(MAX_REMAINDERS)
    builder = _Builder()
    start, zero, point, zeros = (builder.state(accepts) for accepts in (False, True, False, True))
    builder.digits(start, 0, 0, zero)
    builder.point(zero, point)
    builder.digits(point, 0, 0, zeros)
    builder.digits(zeros, 0, 0, zeros)
    states: dict[tuple[int, int], int] = {}
    pending = [(start, 0, 1, 0)]
    while pending:
        source, remainder, first_digit, level = pending.pop()
        for digit in range(first_digit, 10):
            following = (remainder * 10 + digit) % modulus
            kind = remainders.kind(following, max(level - 1, 0))
            target = states.get(kind)
            if target is None:
                target = states[kind] = builder.state(kind[0] == 0)
                pending.append((target, following, 0, kind[0]))
                if kind[0] == 0:
                    builder.point(target, point)
            builder.edges.append((source, target, _DIGITS[digit]))
    return builder.build()


def _with_zeros(modulus: int) -> Expr:
    """Whole multiples of a number that ends in zeros."""
    zeros = 0
    while modulus % 10 == 0:
        modulus //= 10
        zeros += 1
    fraction = parse_regex(r"(?:\.0+)?")
    front = RegularLanguage.from_expression(_whole_multiples(modulus))
    front = front.intersect(RegularLanguage.from_expression(parse_regex("[1-9][0-9]*")))
    nonzero = Sequence((front.to_expression(), Literal(b"0" * zeros)))
    return Sequence((Choice((Literal(b"0"), nonzero)), fraction))
