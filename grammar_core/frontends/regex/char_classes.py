"""Character classes: from the text between brackets to a set of characters."""

from __future__ import annotations

import re

from grammar_core.deadline import check
from grammar_core.frontends.regex.case_folding import close_under_case
from grammar_core.frontends.regex.errors import RegexError
from grammar_core.frontends.regex.escapes import Escape, read_escape
from grammar_core.frontends.regex.flags import Flags
from grammar_core.ir.char_ranges import Ranges, complement_ranges, normalize_ranges

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_char_class(pattern: str, begin: int, flags: Flags) -> tuple[Ranges, int]:
    """The class whose bracket is at `begin`, and where it ends. Raises RegexError.

    [] is no character, [^] any.
    """
    negated = pattern.startswith("^", begin + 1)
    position = begin + 2 if negated else begin + 1
    ranges: list[tuple[int, int]] = []
    while pattern[position : position + 1] != "]":
        check()
        begin_of_range = position
        first = _read_member(pattern, position, flags, begin)
        position = first.end
        if _is_dash_of_range(pattern, position):
            last = _read_member(pattern, position + 1, flags, begin)
            ranges += _range(pattern, begin_of_range, first, last, flags)
            position = last.end
        else:
            ranges += _members(first)
    found = normalize_ranges(ranges)
    if flags.ignore_case:
        found = close_under_case(found, flags.unicode)
    return complement_ranges(found) if negated else found, position + 1


def _read_member(pattern: str, position: int, flags: Flags, begin: int) -> Escape:
    character = pattern[position : position + 1]
    if not character:
        raise RegexError.at("This class is not closed: ] is missing", pattern, begin)
    if character == "\\":
        return read_escape(pattern, position, flags, in_class=True)
    if _SURROGATE.match(character):
        raise RegexError.at("Half of a surrogate pair is not a character", pattern, position)
    return Escape(position + 1, character)


def _is_dash_of_range(pattern: str, position: int) -> bool:
    """Whether a range goes on here. A dash before the closing bracket is itself."""
    return pattern.startswith("-", position) and not pattern.startswith("]", position + 1)


def _range(pattern: str, begin: int, first: Escape, last: Escape, flags: Flags) -> list[tuple[int, int]]:
    if first.character is None or last.character is None:
        if flags.unicode:
            raise RegexError.at("A range goes from one character to another, not to a class", pattern, begin)
        return [*_members(first), (ord("-"), ord("-")), *_members(last)]
    if first.character > last.character:
        text = f"{_printable(first.character)}-{_printable(last.character)}"
        message = f"The range {text} is empty: its lower bound is above its upper bound"
        raise RegexError.at(message, pattern, begin)
    return [(ord(first.character), ord(last.character))]


def _members(member: Escape) -> Ranges:
    if member.character is None:
        return member.ranges
    return ((ord(member.character), ord(member.character)),)


def _printable(character: str) -> str:
    return character if character.isprintable() else f"U+{ord(character):04X}"
