"""Sets of numbers: exact membership, and the spellings that the engine accepts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from grammar_core import GrammarError, GrammarLimitError
from grammar_core.frontends.json_schema.numbers import NumberLanguage
from tests.grammar_core.json_schema.scalar_grammars import Accepts, grammar_of

Predicate = Callable[[Fraction], bool]
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_SCIENTIFIC = re.compile(r"-?(?:[1-9](?:\.[0-9]+)?|0(?:\.0+)?)[eE][+-]?[0-9]+")
_STEPS: list[int | float | Decimal] = [
    1,
    2,
    3,
    7,
    10,
    30,
    Decimal("0.5"),
    Decimal("0.01"),
    Decimal("2.5"),
    0.1,
]


def _random_number(rng: random.Random) -> int | Decimal:
    if rng.random() < 0.5:
        return rng.randint(-30, 30)
    return Decimal(rng.randint(-3000, 3000)).scaleb(rng.randint(-6, 4))


def _range(rng: random.Random) -> tuple[NumberLanguage, Predicate]:
    low, high = (_random_number(rng) if rng.random() < 0.7 else None for _ in range(2))
    no_low, no_high = rng.random() < 0.5, rng.random() < 0.5

    def holds(value: Fraction) -> bool:
        is_above = low is None or value > Fraction(low) or (value == Fraction(low) and not no_low)
        return is_above and (
            high is None or value < Fraction(high) or (value == Fraction(high) and not no_high)
        )

    return NumberLanguage.range(low, high, excludes_low=no_low, excludes_high=no_high), holds


def _basic(rng: random.Random) -> tuple[NumberLanguage, Predicate]:
    kind = rng.randrange(4)
    if kind == 0:
        return NumberLanguage.integers(), lambda value: value.denominator == 1
    if kind == 1:
        return _range(rng)
    if kind == 2:
        step = rng.choice(_STEPS)
        exact = Fraction(str(step))
        return NumberLanguage.multiple_of(step), lambda value: (value / exact).denominator == 1
    values = [_random_number(rng) for _ in range(rng.randint(0, 4))]
    return NumberLanguage.of_values(values), lambda value: value in {Fraction(each) for each in values}


def _combined(rng: random.Random, depth: int) -> tuple[NumberLanguage, Predicate]:
    if depth == 0 or rng.random() < 0.3:
        return _basic(rng)
    one, in_one = _combined(rng, depth - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return one.complement(), lambda value: not in_one(value)
    other, in_other = _combined(rng, depth - 1)
    if kind == 1:
        return one.union(other), lambda value: in_one(value) or in_other(value)
    return one.intersect(other), lambda value: in_one(value) and in_other(value)


def _random_text(rng: random.Random) -> str:
    whole = rng.choice(["0", str(rng.randint(0, 40)), str(rng.randint(0, 3000))])
    fraction = rng.choice(["", "", ".0", ".5", ".25", f".{rng.randint(0, 999):03}", ".10"])
    exponent = f"{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.choice(['0', '1', '2', '07', '3'])}"
    return rng.choice(["", "", "-"]) + whole + fraction + rng.choice(["", "", exponent])


@pytest.mark.parametrize("seed", range(150))
def test_combinations_are_exact(seed: int) -> None:
    rng = random.Random(seed)
    language, expected = _combined(rng, 3)
    samples = {text: Fraction(text) for text in (_random_text(rng) for _ in range(50))}
    for text, value in samples.items():
        assert language.contains(value) == expected(value), text
    if language.is_empty():
        assert not any(map(expected, samples.values()))
        return
    accepts = Accepts(language)
    for text, value in samples.items():
        if accepts(text):
            assert expected(value), text
        elif expected(value) and _PLAIN.fullmatch(text):
            # Refused only for its spelling: a given value's, or a fraction of an integer.
            assert language.finite_values(9) is not None or (
                not _INTEGER.fullmatch(text) and value.denominator == 1
            )


@pytest.mark.parametrize("seed", range(25))
def test_every_spelling_is_accepted_where_asked_for(seed: int) -> None:
    rng = random.Random(seed)
    language, expected = _combined(rng, 1)
    if language.is_empty():
        return
    accepts = Accepts(language, "any")
    for text in (_random_text(rng) for _ in range(60)):
        assert accepts(text) == expected(Fraction(text)), text


@pytest.mark.parametrize("seed", range(60))
def test_ranges_have_decimals_and_scientific_notation(seed: int) -> None:
    rng = random.Random(seed)
    language, expected = _range(rng)
    if language.finite_values(1) is not None:
        return
    accepts = Accepts(language)
    for text in (_random_text(rng) for _ in range(80)):
        if _PLAIN.fullmatch(text) or _SCIENTIFIC.fullmatch(text):
            assert accepts(text) == expected(Fraction(text)), text
        else:
            assert expected(Fraction(text)) or not accepts(text), text


@pytest.mark.parametrize("value", [0.1, 1e-07, 1e22, 1.5e300, 5e-324, -2.5e-9, 3.0, 100, -0.0])
def test_what_json_dumps_writes_is_natural(value: float) -> None:
    text = json.dumps(value)
    assert Accepts(NumberLanguage.all())(text)
    assert Accepts(NumberLanguage.range(-1, None))(text)
    assert Accepts(NumberLanguage.range(None, Decimal("2e300")))(text)
    assert Accepts(NumberLanguage.of_values([value]))(text)
    assert Accepts(NumberLanguage.of_values([7]).complement())(text)


def test_integers_have_neither_fraction_nor_exponent() -> None:
    accepts = Accepts(NumberLanguage.integers())
    for text in ["0", "-0", "-17", "9" * 300]:
        assert accepts(text)
    for text in ["01", "1.0", "1e2", "-", "+1", "", "1."]:
        assert not accepts(text)
    small = Accepts(NumberLanguage.integers().intersect(NumberLanguage.range(1, 5)))
    assert small("5")
    assert not any(map(small, ["0", "-0", "6", "5.0", "05"]))


def test_integers_in_any_spelling() -> None:
    accepts = Accepts(NumberLanguage.integers(), "any")
    for text in ["1.0", "1E2", "10e-1", "1200.00e-2", "1.25e2", "0e99", "-0.0", "0.05e2"]:
        assert accepts(text), text
    for text in ["1.5", "1e-1", "12.5e0", "1.25e1", "01"]:
        assert not accepts(text), text


def test_signs_alone_take_every_spelling() -> None:
    accepts = Accepts(NumberLanguage.range(0, None, excludes_low=True))
    for text in ["0.5", "12.5e3", "1E-999", "100e+100", "0.00001e-5"]:
        assert accepts(text), text
    for text in ["0", "-1", "0.0e5", "-0", "0.000"]:
        assert not accepts(text), text
    for text in ["0", "-0", "-0.00", "0e7"]:
        assert Accepts(NumberLanguage.range(0, None))(text)


def test_no_value_is_rounded() -> None:
    large = NumberLanguage.of_values([12345678901234567890])
    assert Accepts(large)("12345678901234567890")
    assert not Accepts(large)("12345678901234567891")
    assert not large.contains(Decimal("12345678901234567890.0000001"))
    assert NumberLanguage.of_values([0.1]).contains(Decimal("0.1"))
    assert not NumberLanguage.of_values([Decimal("0.1")]).contains(Fraction(0.1))
    assert Accepts(NumberLanguage.of_values([Decimal("1e400")]))("1E+400")
    assert NumberLanguage.range(None, Decimal("1e400")).contains(Decimal("9.9e399"))
    below = Accepts(NumberLanguage.range(None, Decimal("0.3"), excludes_high=True))
    assert below("0.29999999999999999999999999999999")
    assert not below("0.30000")


def test_given_values_are_spelled_as_they_are_given_or_plainly() -> None:
    accepts = Accepts(NumberLanguage.of_values([Decimal("1.0"), 2, Decimal("1E-7")]))
    assert all(map(accepts, ["1.0", "1", "2", "1E-7", "0.0000001"]))
    assert not any(map(accepts, ["2.0", "1.00", "1e0", "0.1e-6"]))


def test_multiples() -> None:
    cents = Accepts(NumberLanguage.multiple_of(Decimal("0.01")))
    assert all(map(cents, ["1.23", "-5", "0.10", "7.500", "0"]))
    assert not any(map(cents, ["1.234", "0.001"]))
    both = NumberLanguage.multiple_of(2).intersect(NumberLanguage.multiple_of(3))
    assert [value for value in range(20) if both.contains(value)] == [0, 6, 12, 18]
    one = NumberLanguage.multiple_of(2).intersect(NumberLanguage.multiple_of(3).complement())
    assert [value for value in range(10) if Accepts(one)(str(value))] == [2, 4, 8]
    millions = Accepts(NumberLanguage.integers().intersect(NumberLanguage.multiple_of(3_000_000)))
    assert millions("9000000")
    assert not millions("1000000")


def test_finite_sets_are_listed() -> None:
    sevens = NumberLanguage.integers().intersect(NumberLanguage.multiple_of(7))
    assert sevens.intersect(NumberLanguage.range(10, 30)).finite_values(3) == [*map(Fraction, (14, 21, 28))]
    assert sevens.intersect(NumberLanguage.range(10, 30)).finite_values(2) is None
    assert sevens.finite_values(1000) is None
    assert NumberLanguage.range(3, 3).finite_values(1) == [Fraction(3)]
    assert NumberLanguage.range(3, 3, excludes_low=True).is_empty()
    assert NumberLanguage.integers().intersect(NumberLanguage.range(0.1, 0.9)).is_empty()


def test_questions() -> None:
    assert NumberLanguage.all().is_all()
    assert NumberLanguage.none().complement().is_all()
    assert not NumberLanguage.integers().is_all()
    half = NumberLanguage.range(0, None)
    assert half.union(half.complement()).is_all()
    assert half.intersect(half.complement()).is_empty()


def test_limits_have_names() -> None:
    with pytest.raises(GrammarLimitError) as error:
        grammar_of(NumberLanguage.multiple_of(99_991))
    assert error.value.limit == "modulus"
    with pytest.raises(GrammarLimitError) as error:
        grammar_of(NumberLanguage.range(Decimal("1e5000"), None))
    assert error.value.limit == "number_digits"
    with pytest.raises(GrammarError, match="exponents beyond"):
        NumberLanguage.of_values([Decimal("1e999999999")])
    with pytest.raises(GrammarError, match="infinity"):
        NumberLanguage.of_values([float("inf")])


_MODULI = [
    2,
    3,
    7,
    11,
    12,
    15,
    16,
    64,
    99,
    125,
    128,
    375,
    1000,
    1001,
    4093,
    8008,
    8191,
    65_536,
    86_400,
    262_144,
]


@pytest.mark.parametrize("modulus", _MODULI)
def test_multiples_of_whole_numbers(modulus: int) -> None:
    rng = random.Random(modulus)
    language = NumberLanguage.multiple_of(modulus).language
    numbers = [rng.randrange(10 ** rng.randint(1, 12)) for _ in range(150)]
    for number in [*range(300), *numbers, *(number * modulus for number in numbers)]:
        for text in (str(number), f"-{number}.00"):
            assert language.contains(text) == (number % modulus == 0), text
    assert not any(
        map(language.contains, (f"{modulus}.5", f"0{modulus}", "00", "0.", f"{modulus}.", "", "-"))
    )
