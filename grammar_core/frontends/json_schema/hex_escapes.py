r"""Characters as \uXXXX escapes: two in a row, halves of a pair, for those above U+FFFF."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Sequence

_FIRST_ASTRAL = 0x10000
_HIGH_HALVES, _LOW_HALVES = 0xD800, 0xDC00
_HALF = 0x400
_Digits = tuple[tuple[int, int], ...]  # of each digit the lowest and the highest, first digit first


class _Trie(NamedTuple):
    branches: dict[tuple[int, int], _Trie]


def hex_escapes(ranges: Ranges) -> Expr | None:
    r"""What may follow the `\u` of an escape for a character of the set; None if there is none."""
    root = _Trie({})
    for low, high in ranges:
        for digits in _digit_sequences(low, high):
            node = root
            for digit in digits:
                node = node.branches.setdefault(digit, _Trie({}))
    return _expression(root, 0) if root.branches else None


def _digit_sequences(low: int, high: int) -> list[_Digits]:
    """The range as blocks of four hex digits, or of eight, each digit in a range of its own."""
    found = []
    if low < _FIRST_ASTRAL:
        found += _blocks(low, min(high, _FIRST_ASTRAL - 1), 4)
        low = _FIRST_ASTRAL
    if low > high:
        return found
    first, last = divmod(low - _FIRST_ASTRAL, _HALF), divmod(high - _FIRST_ASTRAL, _HALF)
    return found + _pairs(first, last)


def _pairs(first: tuple[int, int], last: tuple[int, int]) -> list[_Digits]:
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


def _products(high_first: int, high_last: int, low_first: int, low_last: int) -> list[_Digits]:
    low_blocks = _blocks(_LOW_HALVES + low_first, _LOW_HALVES + low_last, 4)
    high_blocks = _blocks(_HIGH_HALVES + high_first, _HIGH_HALVES + high_last, 4)
    return [high + low for high in high_blocks for low in low_blocks]


def _blocks(low: int, high: int, digits: int) -> list[_Digits]:
    """Numbers of so many hex digits from `low` to `high`, as products of ranges of digits."""
    if digits == 0:
        return [()]
    unit = 16 ** (digits - 1)
    first, last = low // unit, high // unit
    if first == last:
        rests = _blocks(low - first * unit, high - first * unit, digits - 1)
        return [((first, first), *rest) for rest in rests]
    found: list[_Digits] = []
    if low > first * unit:
        found += [((first, first), *rest) for rest in _blocks(low - first * unit, unit - 1, digits - 1)]
        first += 1
    end: list[_Digits] = []
    if high < (last + 1) * unit - 1:
        end = [((last, last), *rest) for rest in _blocks(0, high - last * unit, digits - 1)]
        last -= 1
    if first <= last:
        found.append(((first, last), *((0, 15),) * (digits - 1)))
    return found + end


def _expression(node: _Trie, depth: int) -> Expr:
    """What the branches match. No deeper than the eight digits of a pair."""
    by_rest: dict[Expr, list[tuple[int, int]]] = {}
    for digits, branch in node.branches.items():
        rest = _rest(branch, depth + 1)
        by_rest.setdefault(rest, []).append(digits)
    options = tuple(_then(_digit_class(digits), rest) for rest, digits in by_rest.items())
    return options[0] if len(options) == 1 else Choice(options)


def _rest(branch: _Trie, depth: int) -> Expr:
    if not branch.branches:
        return Sequence(())
    following = _expression(branch, depth)
    return _then(Literal(b"\\u"), following) if depth == 4 else following


def _then(first: Expr, rest: Expr) -> Expr:
    if type(rest) is Sequence:
        return Sequence((first, *rest.items)) if rest.items else first
    return Sequence((first, rest))


def _digit_class(digits: list[tuple[int, int]]) -> CharClass:
    codes = sorted(ord(f"{digit:x}") for low, high in digits for digit in range(low, high + 1))
    codes += [code - 32 for code in codes if code >= ord("a")]
    ranges: list[tuple[int, int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return CharClass(tuple(ranges))
