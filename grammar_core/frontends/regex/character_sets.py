"""The named sets of characters of ECMAScript, and operations on sets."""

from __future__ import annotations

from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges, complement_ranges, normalize_ranges

DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
# White space and line terminators of ECMAScript: the category Zs, and these.
SPACE: Ranges = normalize_ranges(
    [
        *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
        *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    ]
)
LINE_TERMINATORS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
NOT_LINE_TERMINATORS = complement_ranges(LINE_TERMINATORS)
NOT_NEWLINE = complement_ranges([(0x0A, 0x0A)])
# What must be escaped in a JSON string: controls, the quote and the backslash.
JSON_STRING_CHARACTERS = complement_ranges([(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])


def intersect_ranges(one: Ranges, other: Ranges) -> Ranges:
    """The characters in both sets."""
    if one == ANY_CHARACTER:
        return other
    return complement_ranges([*complement_ranges(one), *complement_ranges(other)])


def single_character(ranges: Ranges) -> str | None:
    """The only character of the set, if there is just one."""
    return chr(ranges[0][0]) if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else None
