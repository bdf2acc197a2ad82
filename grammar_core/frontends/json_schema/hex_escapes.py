r"""Characters as \uXXXX escapes: two in a row, halves of a pair, for those above U+FFFF."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Expr, Literal, Sequence

_FIRST_ASTRAL = 0x10000
_HIGH_HALVES, _LOW_HALVES = 0xD800, 0xDC00
_HALF = 0x400
_DIGITS = 4

Spans: TypeAlias = tuple[tuple[int, int, Ranges], ...]
"""Ranges of numbers, each with the low halves that follow it; none follow a whole character."""


def hex_escapes(ranges: Ranges) -> Expr | None:
    r"""What may follow the `\u` of an escape for a character of the set; None if there is none."""
    spans: list[tuple[int, int, Ranges]]
    spans = [(low, min(high, _FIRST_ASTRAL - 1), ()) for low, high in ranges if low < _FIRST_ASTRAL]
    astral = [(max(low, _FIRST_ASTRAL), high) for low, high in ranges if high >= _FIRST_ASTRAL]
    spans = sorted((*spans, *_high_halves(astral)))
    return _numbers(tuple(spans), _DIGITS) if spans else None


def _high_halves(ranges: list[tuple[int, int]]) -> list[tuple[int, int, Ranges]]:
    """The first halves of characters above U+FFFF, with their second ones."""
    behind: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for low, high in ranges:
        first, last = divmod(low - _FIRST_ASTRAL, _HALF), divmod(high - _FIRST_ASTRAL, _HALF)
        if first[0] == last[0]:
            behind.setdefault((first[0], first[0]), []).append((first[1], last[1]))
            continue
        begin, end = first[0], last[0]
        if first[1] > 0:
            behind.setdefault((begin, begin), []).append((first[1], _HALF - 1))
            begin += 1
        if last[1] < _HALF - 1:
            behind.setdefault((end, end), []).append((0, last[1]))
            end -= 1
        if begin <= end:
            behind[begin, end] = [(0, _HALF - 1)]
    return [
        (begin + _HIGH_HALVES, end + _HIGH_HALVES, tuple((a + _LOW_HALVES, b + _LOW_HALVES) for a, b in lows))
        for (begin, end), lows in behind.items()
    ]


@lru_cache(maxsize=4096)
def _numbers(spans: Spans, digits: int) -> Expr:
    """The numbers of so many hex digits in the spans, and what follows them. As deep as there are digits."""
    if digits == 0:
        ((_, _, lows),) = spans
        if not lows:
            return EMPTY
        return _then(Literal(b"\\u"), _numbers(tuple((low, high, ()) for low, high in lows), _DIGITS))
    unit = 16 ** (digits - 1)
    behind: dict[int, list[tuple[int, int, Ranges]]] = {}  # what follows each first digit
    for low, high, lows in spans:
        for digit in range(low // unit, high // unit + 1):
            rest = (max(low - digit * unit, 0), min(high - digit * unit, unit - 1), lows)
            behind.setdefault(digit, []).append(rest)
    by_rest: dict[Spans, list[int]] = {}
    for digit, rests in behind.items():
        by_rest.setdefault(tuple(rests), []).append(digit)
    options = tuple(
        _then(_digit_class(tuple(firsts)), _numbers(rest, digits - 1)) for rest, firsts in by_rest.items()
    )
    return options[0] if len(options) == 1 else Choice(options)


@lru_cache(maxsize=4096)
def _digit_class(digits: tuple[int, ...]) -> CharClass:
    codes = [ord(f"{digit:x}") for digit in digits]
    codes += [code - 32 for code in codes if code >= ord("a")]
    ranges: list[tuple[int, int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return CharClass(tuple(ranges))


def _then(first: Expr, rest: Expr) -> Expr:
    if type(rest) is Sequence:
        return Sequence((first, *rest.items)) if rest.items else first
    return Sequence((first, rest))
