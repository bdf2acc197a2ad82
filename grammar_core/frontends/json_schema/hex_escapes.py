r"""Characters as \uXXXX escapes: two in a row, halves of a pair, for those above U+FFFF."""

from __future__ import annotations

from functools import lru_cache

from grammar_core.frontends.json_schema.digit_blocks import Digits, blocks_expression, digit_blocks
from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import CharClass, Expr, Literal

_FIRST_ASTRAL = 0x10000
_HIGH_HALVES, _LOW_HALVES = 0xD800, 0xDC00
_HALF = 0x400
_DIGITS = 4


def hex_escapes(ranges: Ranges) -> Expr | None:
    r"""What may follow the `\u` of an escape for a character of the set; None if there is none."""
    blocks = [block for low, high in ranges for block in _range_blocks(low, high)]
    return blocks_expression(blocks, _digit_class, middle=(_DIGITS, Literal(b"\\u")))


def _range_blocks(low: int, high: int) -> list[Digits]:
    """The range as blocks of four hex digits, or of eight, each digit in a range of its own."""
    found = []
    if low < _FIRST_ASTRAL:
        found += digit_blocks(low, min(high, _FIRST_ASTRAL - 1), _DIGITS, 16)
        low = _FIRST_ASTRAL
    if low > high:
        return found
    first, last = divmod(low - _FIRST_ASTRAL, _HALF), divmod(high - _FIRST_ASTRAL, _HALF)
    return found + _pairs(first, last)


def _pairs(first: tuple[int, int], last: tuple[int, int]) -> list[Digits]:
    """Blocks of both halves of a pair, for characters from `first` to `last` as (high half, low half)."""
    if first[0] == last[0]:
        return _products(first[0], first[0], first[1], last[1])
    begin, end = first[0], last[0]
    found = []
    if first[1] > 0:
        found += _products(begin, begin, first[1], _HALF - 1)
        begin += 1
    if last[1] < _HALF - 1:
        found += _products(end, end, 0, last[1])
        end -= 1
    return found + (_products(begin, end, 0, _HALF - 1) if begin <= end else [])


def _products(high_first: int, high_last: int, low_first: int, low_last: int) -> list[Digits]:
    low_blocks = digit_blocks(_LOW_HALVES + low_first, _LOW_HALVES + low_last, _DIGITS, 16)
    high_blocks = digit_blocks(_HIGH_HALVES + high_first, _HIGH_HALVES + high_last, _DIGITS, 16)
    return [high + low for high in high_blocks for low in low_blocks]


def _digit_class(digits: list[tuple[int, int]]) -> CharClass:
    return _class_of(tuple(digits))


@lru_cache(maxsize=4096)
def _class_of(digits: tuple[tuple[int, int], ...]) -> CharClass:
    codes = sorted(ord(f"{digit:x}") for low, high in digits for digit in range(low, high + 1))
    codes += [code - 32 for code in codes if code >= ord("a")]
    ranges: list[tuple[int, int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return CharClass(tuple(ranges))
