"""Ranges of numbers of one length as products of ranges of digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from grammar_core.deadline import check
from grammar_core.ir.nodes import EMPTY, Choice, Expr, Sequence

Digits = tuple[tuple[int, int], ...]
"""Of each digit the lowest and the highest, first digit first."""


class _Trie(NamedTuple):
    branches: dict[tuple[int, int], _Trie]


def digit_blocks(low: int, high: int, length: int, base: int) -> list[Digits]:
    """The numbers of `length` digits from `low` to `high`."""
    if length == 0:
        return [()]
    unit = base ** (length - 1)
    (first, low_rest), (last, high_rest) = divmod(low, unit), divmod(high, unit)
    if first == last:
        return _behind(first, digit_blocks(low_rest, high_rest, length - 1, base))
    found: list[Digits] = []
    ending: list[Digits] = []
    if low_rest > 0:
        found = _behind(first, digit_blocks(low_rest, unit - 1, length - 1, base))
        first += 1
    if high_rest < unit - 1:
        ending = _behind(last, digit_blocks(0, high_rest, length - 1, base))
        last -= 1
    if first <= last:
        found.append(((first, last), *((0, base - 1),) * (length - 1)))
    return found + ending


def blocks_expression(
    blocks: Iterable[Digits],
    digit: Callable[[list[tuple[int, int]]], Expr],
    *,
    middle: tuple[int, Expr] | None = None,
) -> Expr | None:
    """Any of the blocks, with `digit` for the digits of some ranges; None if there are no blocks.

    `middle` is what stands after so many digits.
    """
    root = _Trie({})
    for digits in blocks:
        node = root
        for each in digits:
            node = node.branches.setdefault(each, _Trie({}))
    return _expression(root, 0, digit, middle) if root.branches else None


def _behind(digit: int, rests: list[Digits]) -> list[Digits]:
    return [((digit, digit), *rest) for rest in rests]


def _expression(
    node: _Trie,
    depth: int,
    digit: Callable[[list[tuple[int, int]]], Expr],
    middle: tuple[int, Expr] | None,
) -> Expr:
    """What the branches match. As deep as the numbers are long."""
    by_rest: dict[Expr, list[tuple[int, int]]] = {}
    for digits, branch in node.branches.items():
        check()
        rest = _expression(branch, depth + 1, digit, middle) if branch.branches else EMPTY
        if middle is not None and middle[0] == depth + 1 and branch.branches:
            rest = _then(middle[1], rest)
        by_rest.setdefault(rest, []).append(digits)
    options = tuple(_then(digit(digits), rest) for rest, digits in by_rest.items())
    return options[0] if len(options) == 1 else Choice(options)


def _then(first: Expr, rest: Expr) -> Expr:
    if type(rest) is Sequence:
        return Sequence((first, *rest.items)) if rest.items else first
    return Sequence((first, rest))
