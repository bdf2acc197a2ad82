"""Sets of code points as sorted, disjoint, non-adjacent inclusive ranges."""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

Ranges = tuple[tuple[int, int], ...]

_SURROGATES = (FIRST_SURROGATE, LAST_SURROGATE)
ANY_CHARACTER: Ranges = ((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT))


def normalize_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters in normal form, without surrogates."""
    merged = _merge(ranges)
    if any(low <= LAST_SURROGATE and high >= FIRST_SURROGATE for low, high in merged):
        return _complement_of([*_complement_of(merged), _SURROGATES])
    return tuple(merged)


def complement_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Every Unicode scalar value outside the ranges, in normal form."""
    return _complement_of([*ranges, _SURROGATES])


def _merge(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return merged


def _complement_of(ranges: Iterable[tuple[int, int]]) -> Ranges:
    gaps = []
    begin = 0
    for low, high in _merge(ranges):
        if begin < low:
            gaps.append((begin, low - 1))
        begin = high + 1
    if begin <= MAX_CODE_POINT:
        gaps.append((begin, MAX_CODE_POINT))
    return tuple(gaps)
