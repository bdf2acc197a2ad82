"""Places in a text, and text that is cut short of a whole character."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

# The least code point that takes so many bytes.
_SHORTEST_ENCODED = {2: 0x80, 3: 0x800, 4: 0x10000}


class TextPosition(NamedTuple):
    """A place between characters: bytes and characters before it from 0, line and column from 1."""

    byte_offset: int
    character_offset: int
    line: int
    column: int


class DecodedText(NamedTuple):
    """UTF-8 text as far as it is valid, and the bytes from there on."""

    text: str
    rest: bytes


def decode_text(data: bytes) -> DecodedText:
    """The longest beginning that is valid UTF-8."""
    try:
        return DecodedText(data.decode(), b"")
    except UnicodeDecodeError as error:
        return DecodedText(data[: error.start].decode(), data[error.start :])


class PositionMap:
    """Positions of character offsets in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._breaks = [offset for offset, character in enumerate(text) if character == "\n"]

    @cached_property
    def _byte_offsets(self) -> list[int]:
        return list(accumulate((len(character.encode()) for character in self._text), initial=0))

    def at(self, offset: int) -> TextPosition:
        """The position before character number `offset`."""
        breaks = bisect_right(self._breaks, offset - 1)
        begin = self._breaks[breaks - 1] + 1 if breaks else 0
        byte_offset = offset if self._text.isascii() else self._byte_offsets[offset]
        return TextPosition(byte_offset, offset, breaks + 1, offset - begin + 1)

    def line_of(self, position: TextPosition) -> str:
        """The whole line that the position is on."""
        begin = position.character_offset - position.column + 1
        end = self._text.find("\n", begin)
        return self._text[begin:] if end < 0 else self._text[begin:end]


def code_points_beginning(data: bytes) -> tuple[int, int] | None:
    """The code points whose UTF-8 begins with these bytes, one at least and not a whole character."""
    length = _length_of_character(data[0])
    if len(data) >= length or any(not 0x80 <= byte <= 0xBF for byte in data[1:]):
        return None
    missing = 6 * (length - len(data))
    value = data[0] & (0x7F >> length)
    for byte in data[1:]:
        value = value << 6 | byte & 0x3F
    first = max(value << missing, _SHORTEST_ENCODED[length])
    last = min((value + 1 << missing) - 1, MAX_CODE_POINT)
    return (first, last) if first <= last else None


def _length_of_character(lead: int) -> int:
    """Bytes of the characters of several bytes that begin with `lead`; 0 if there are none."""
    for length, (low, high) in ((2, (0xC2, 0xDF)), (3, (0xE0, 0xEF)), (4, (0xF0, 0xF4))):
        if low <= lead <= high:
            return length
    return 0


def intersect(ranges: Ranges, low: int, high: int) -> Ranges:
    """The characters of the ranges from `low` to `high`."""
    cut = ((max(first, low), min(last, high)) for first, last in ranges)
    parts = [(first, last) for first, last in cut if first <= last]
    return tuple(part for part in parts if not FIRST_SURROGATE <= part[0] <= part[1] <= LAST_SURROGATE)
