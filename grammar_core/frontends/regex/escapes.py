r"""Escapes: from a backslash in the pattern to the characters it stands for, or to what else it means."""

from __future__ import annotations

import re
from typing import NamedTuple

from grammar_core.frontends.regex.case_folding import close_under_case
from grammar_core.frontends.regex.character_sets import DIGITS, SPACE, WORD
from grammar_core.frontends.regex.errors import RegexError
from grammar_core.frontends.regex.flags import Flags
from grammar_core.frontends.regex.unicode_properties import UnknownPropertyError, property_ranges
from grammar_core.ir.char_ranges import Ranges, complement_ranges
from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_HEX = re.compile(r"x([0-9A-Fa-f]{2})")
_UTF16 = re.compile(r"u([0-9A-Fa-f]{4})")
_LOW_HALF = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]+)\}")
_PROPERTY = re.compile(r"[pP]\{([^{}]*)\}")
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_OTHER_ANCHORS = {"A": "^", "Z": "$", "z": "$", "G": "^"}


class Escape(NamedTuple):
    """What an escape that begins at a backslash means, and where it ends.

    One character, or a set of them; neither for a word boundary, which is `\\b` or, `negated`, `\\B`.
    """

    end: int
    character: str | None = None
    ranges: Ranges = ()
    negated: bool = False


def read_escape(pattern: str, begin: int, flags: Flags, in_class: bool) -> Escape:
    """The escape whose backslash is at `begin`. Raises RegexError."""
    letter = pattern[begin + 1 : begin + 2]
    if not letter:
        raise RegexError.at("The pattern ends within an escape", pattern, begin)
    if letter in "dDwWsS":
        return Escape(begin + 2, None, _named_set(letter, flags))
    if letter in _CONTROLS:
        return Escape(begin + 2, _CONTROLS[letter])
    if letter in "bB":
        return _boundary_or_backspace(pattern, begin, flags, in_class)
    if letter in "pP":
        return _property(pattern, begin)
    if letter in "xuc":
        return _numbered(pattern, begin)
    if letter.isascii() and letter.isdigit():
        return _digit(pattern, begin)
    return _identity(pattern, begin, flags, in_class)


def word_characters(flags: Flags) -> Ranges:
    r"""The characters of \w: with u and i also those that are one of them when case is ignored."""
    return close_under_case(WORD, True) if flags.unicode and flags.ignore_case else WORD


def _named_set(letter: str, flags: Flags) -> Ranges:
    kind = letter.lower()
    ranges = DIGITS if kind == "d" else SPACE if kind == "s" else word_characters(flags)
    return ranges if letter == kind else complement_ranges(ranges)


def _boundary_or_backspace(pattern: str, begin: int, flags: Flags, in_class: bool) -> Escape:
    letter = pattern[begin + 1]
    if not in_class:
        return Escape(begin + 2, negated=letter == "B")
    return Escape(begin + 2, "\b") if letter == "b" else _identity(pattern, begin, flags, in_class)


def _property(pattern: str, begin: int) -> Escape:
    match = _PROPERTY.match(pattern, begin + 1)
    if match is None:
        example = f"\\{pattern[begin + 1]}{{Letter}}"
        raise RegexError.at(f"A property needs a name in braces, as in {example}", pattern, begin)
    try:
        ranges = property_ranges(match[1])
    except UnknownPropertyError as error:
        raise RegexError.at(str(error), pattern, begin) from None
    return Escape(match.end(), None, complement_ranges(ranges) if match[0][0] == "P" else ranges)


def _numbered(pattern: str, begin: int) -> Escape:
    letter = pattern[begin + 1]
    if letter == "c":
        return _control_letter(pattern, begin)
    if letter == "x":
        match = _HEX.match(pattern, begin + 1)
        if match is None:
            raise RegexError.at("\\x needs two hex digits", pattern, begin)
        return Escape(match.end(), chr(int(match[1], 16)))
    if match := _CODE_POINT.match(pattern, begin + 1):
        return Escape(match.end(), _scalar_value(match[1], pattern, begin))
    match = _UTF16.match(pattern, begin + 1)
    if match is None:
        raise RegexError.at("\\u needs four hex digits, or any number of them in braces", pattern, begin)
    low = _LOW_HALF.match(pattern, match.end())
    if low and match[1].lower() >= "d800" and match[1].lower() < "dc00":
        code = 0x10000 + ((int(match[1], 16) - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return Escape(low.end(), chr(code))
    return Escape(match.end(), _scalar_value(match[1], pattern, begin))


def _scalar_value(digits: str, pattern: str, begin: int) -> str:
    digits = digits.lstrip("0") or "0"
    if len(digits) > 6 or int(digits, 16) > MAX_CODE_POINT:
        raise RegexError.at("Code points end at U+10FFFF", pattern, begin)
    code = int(digits, 16)
    if FIRST_SURROGATE <= code <= LAST_SURROGATE:
        raise RegexError.at(f"U+{code:04X} is half of a surrogate pair, not a character", pattern, begin)
    return chr(code)


def _control_letter(pattern: str, begin: int) -> Escape:
    letter = pattern[begin + 2 : begin + 3]
    if not (letter.isascii() and letter.isalpha()):
        raise RegexError.at("\\c needs a letter from A to Z", pattern, begin)
    return Escape(begin + 3, chr(ord(letter) % 32))


def _digit(pattern: str, begin: int) -> Escape:
    if pattern[begin + 1] != "0":
        raise RegexError.at("Back-references are not regular and not supported", pattern, begin)
    if pattern[begin + 2 : begin + 3].isdecimal():
        raise RegexError.at("\\0 takes no further digits; write the character as \\xHH", pattern, begin)
    return Escape(begin + 2, "\0")


def _identity(pattern: str, begin: int, flags: Flags, in_class: bool) -> Escape:
    letter = pattern[begin + 1]
    if letter == "k" and pattern.startswith("<", begin + 2):
        raise RegexError.at("Back-references are not regular and not supported", pattern, begin)
    if letter in _OTHER_ANCHORS and not in_class:
        message = f"\\{letter} is not an anchor of this dialect; it has {_OTHER_ANCHORS[letter]}"
        raise RegexError.at(message, pattern, begin)
    if flags.unicode and letter not in _SYNTAX and not (in_class and letter == "-"):
        raise RegexError.at(f"\\{letter} is not an escape, and the flag u allows no others", pattern, begin)
    if FIRST_SURROGATE <= ord(letter) <= LAST_SURROGATE:
        raise RegexError.at("Half of a surrogate pair is not a character", pattern, begin + 1)
    return Escape(begin + 2, letter)
