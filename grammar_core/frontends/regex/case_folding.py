"""Which characters a pattern takes for the same when it ignores case.

With the flag u these have one simple case folding of Unicode; without it, one upper case, the way
ECMAScript has it: a character whose upper case is several characters stays itself, and no character
outside ASCII becomes one of ASCII.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from grammar_core.deadline import check_now
from grammar_core.ir.char_ranges import Ranges, normalize_ranges
from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE

# Planes 2 and up hold ideographs, tags and private characters: nothing with case.
_CODES_WITH_CASE = 0x20000
# Simple foldings that lower case does not give, of characters whose full folding is several characters.
_OTHER_SIMPLE_FOLDINGS = {0x1FD3: 0x0390, 0x1FE3: 0x03B0, 0xFB05: 0xFB06}


def close_under_case(ranges: Ranges, unicode: bool) -> Ranges:
    """The set with everything that is the same as one of its characters when case is ignored."""
    check_now()
    added = [(other, other) for others in _touched(ranges, unicode) for other in others]
    return normalize_ranges([*ranges, *added]) if added else ranges


def same_but_for_case(character: str, unicode: bool) -> tuple[int, ...]:
    """The code points that are the same as `character`, itself included; empty if there are no others."""
    return _classes(unicode).get(ord(character), ())


def _touched(ranges: Ranges, unicode: bool) -> Iterator[tuple[int, ...]]:
    classes = _classes(unicode)
    if sum(high - low + 1 for low, high in ranges) < len(classes):
        return (classes[code] for low, high in ranges for code in range(low, high + 1) if code in classes)
    starts = [low for low, _ in ranges]
    return (others for code, others in classes.items() if _contains(ranges, starts, code))


def _contains(ranges: Ranges, starts: list[int], code: int) -> bool:
    index = bisect_right(starts, code) - 1
    return index >= 0 and code <= ranges[index][1]


@lru_cache(maxsize=2)
def _classes(unicode: bool) -> dict[int, tuple[int, ...]]:
    """For every character that has others like it: all of them."""
    fold = _simple_folding if unicode else _upper_case
    members: dict[int, list[int]] = {}
    for code in range(_CODES_WITH_CASE):
        character = chr(code)
        # Only what has case can change or be changed into: a quick test for the many others.
        if FIRST_SURROGATE <= code <= LAST_SURROGATE or not _has_case(character):
            continue
        members.setdefault(fold(character), []).append(code)
    for target, codes in members.items():
        if target not in codes:
            codes.append(target)
    classes = (tuple(sorted(codes)) for codes in members.values() if len(codes) > 1)
    return {code: group for group in classes for code in group}


def _has_case(character: str) -> bool:
    return not (character.upper() == character.lower() == character.casefold() == character)


def _simple_folding(character: str) -> int:
    folded = character.casefold()
    if len(folded) == 1:
        return ord(folded)
    lowered = character.lower()
    code = ord(character)
    if code in _OTHER_SIMPLE_FOLDINGS:
        return _OTHER_SIMPLE_FOLDINGS[code]
    return ord(lowered) if len(lowered) == 1 else code


def _upper_case(character: str) -> int:
    upper = character.upper()
    if len(upper) != 1 or (ord(character) >= 0x80 > ord(upper)):
        return ord(character)
    return ord(upper)
