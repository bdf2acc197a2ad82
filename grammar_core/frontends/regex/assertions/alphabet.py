"""Characters that no set of a pattern tells apart are one letter for its automaton."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from grammar_core.ir.char_ranges import Ranges, normalize_ranges


def partition(sets: Sequence[Ranges]) -> tuple[list[Ranges], list[int]]:
    """The letters, as sets of characters, and for each of the given sets its letters as a bit mask.

    Characters in none of the sets are in no letter.
    """
    changes: dict[int, int] = {}
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ 1 << number
            changes[high + 1] = changes.get(high + 1, 0) ^ 1 << number
    pieces: dict[int, list[tuple[int, int]]] = {}
    containing = 0
    for low, following in pairwise(sorted(changes)):
        containing ^= changes[low]
        if containing:
            pieces.setdefault(containing, []).append((low, following - 1))
    masks = [0] * len(sets)
    for letter, containing in enumerate(pieces):
        while containing:
            lowest = containing & -containing
            masks[lowest.bit_length() - 1] |= 1 << letter
            containing ^= lowest
    return [normalize_ranges(piece) for piece in pieces.values()], masks
