"""The text of a regular expression to its tree: one pass, with an explicit stack of open groups.

alternation   = sequence { "|" sequence }
sequence      = { term [ quantifier [ "?" ] ] }
term          = character | escape | class | "." | "^" | "$" | group
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from grammar_core.deadline import check
from grammar_core.frontends.regex.case_folding import close_under_case, same_but_for_case
from grammar_core.frontends.regex.char_classes import read_char_class
from grammar_core.frontends.regex.character_sets import (
    JSON_STRING_CHARACTERS,
    NOT_LINE_TERMINATORS,
    NOT_NEWLINE,
    intersect_ranges,
    single_character,
)
from grammar_core.frontends.regex.errors import RegexError, limit_error
from grammar_core.frontends.regex.escapes import read_escape, word_characters
from grammar_core.frontends.regex.flags import Flags, parse_modifiers
from grammar_core.frontends.regex.group_names import GroupNames
from grammar_core.frontends.regex.limits import MAX_GROUP_NESTING, MAX_PATTERN_LENGTH, MAX_REPETITION
from grammar_core.frontends.regex.syntax_tree import (
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Look,
    Repetition,
    Text,
    Tree,
    concatenate,
)
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges

_PLAIN = re.compile(r"[^\\^$.*+?()\[\]{}|]+")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?P<low>[0-9]+)(?:(?P<comma>,)(?P<high>[0-9]*))?\})(?P<lazy>\??)")
_QUANTIFIERS = frozenset("*+?{")
_ONLY_UPPER_BOUND = re.compile(r"\{,[0-9]+\}")
_SIMPLE_BOUNDS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LOOKS = {"?=": (False, False), "?!": (False, True), "?<=": (True, False), "?<!": (True, True)}
_LOOK = re.compile(r"\?<?[=!]")
_NAME = re.compile(r"\?P?<(?P<name>[^<>]*)(?P<close>>?)")
_JSON_BREAKERS = re.compile(r'[\x00-\x1f"\\]')
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Group:
    """An open group: what its closing parenthesis makes of it, and the items read so far."""

    def __init__(self, offset: int, outer_flags: Flags, look: tuple[bool, bool] | None) -> None:
        self.offset = offset
        self.outer_flags = outer_flags
        self.look = look
        self.options: list[Tree] = []
        self.items: list[Tree] = []
        self.is_repeatable = False

    def add(self, item: Tree, is_repeatable: bool = True) -> None:
        self.items.append(item)
        self.is_repeatable = is_repeatable

    def end_option(self) -> None:
        self.options.append(concatenate(self.items))
        self.items = []
        self.is_repeatable = False

    def tree(self) -> Tree:
        self.end_option()
        return self.options[0] if len(self.options) == 1 else Alternation(tuple(self.options))


class Parser:
    """Reads one pattern. `json_string` leaves out what a JSON string must escape."""

    def __init__(self, pattern: str, flags: Flags, json_string: bool) -> None:
        if len(pattern) > MAX_PATTERN_LENGTH:
            message = f"The pattern is longer than {MAX_PATTERN_LENGTH:,} characters"
            raise limit_error(message, pattern, MAX_PATTERN_LENGTH, "pattern_length", MAX_PATTERN_LENGTH)
        self._pattern = pattern
        self._flags = flags
        self._json_string = json_string
        self._names = GroupNames(pattern)
        self._position = 0
        self._group = _Group(0, flags, None)
        self._open: list[_Group] = []
        self._boundaries: dict[tuple[Ranges, bool], Tree] = {}

    def parse(self) -> Tree:
        """The tree of the whole pattern. Raises RegexError and GrammarLimitError with the position."""
        while self._position < len(self._pattern):
            check()
            plain = _PLAIN.match(self._pattern, self._position)
            if plain:
                self._add_plain(plain[0])
            else:
                _READERS[self._pattern[self._position]](self)
        if self._open:
            self._refuse("This group is not closed: ) is missing", self._group.offset)
        return self._group.tree()

    # one method a construct: reads it and moves on

    def _add_plain(self, text: str) -> None:
        surrogate = _SURROGATE.search(text)
        if surrogate:
            self._refuse("Half of a surrogate pair is not a character", self._position + surrogate.start())
        self._position += len(text)
        if self._flags.ignore_case:
            for character in text:
                self._add_character(character)
        elif self._json_string and _JSON_BREAKERS.search(text):
            self._add_characters(())
        elif len(text) > 1 and self._pattern[self._position : self._position + 1] in _QUANTIFIERS:
            self._group.add(Text(text[:-1]))
            self._group.add(Text(text[-1]))
        else:
            self._group.add(Text(text))

    def _read_escape(self) -> None:
        escape = read_escape(self._pattern, self._position, self._flags, in_class=False)
        is_boundary = self._pattern[self._position + 1] in "bB"
        self._position = escape.end
        if is_boundary:
            self._group.add(self._boundary(escape.negated), is_repeatable=False)
        elif escape.character is not None:
            self._add_character(escape.character)
        elif self._flags.ignore_case:
            self._add_characters(close_under_case(escape.ranges, self._flags.unicode))
        else:
            self._add_characters(escape.ranges)

    def _read_class(self) -> None:
        ranges, self._position = read_char_class(self._pattern, self._position, self._flags)
        self._add_characters(ranges)

    def _read_dot(self) -> None:
        self._position += 1
        if self._flags.dot_all:
            self._add_characters(ANY_CHARACTER)
        else:
            self._add_characters(NOT_NEWLINE if self._flags.any_but_newline else NOT_LINE_TERMINATORS)

    def _read_anchor(self) -> None:
        at_end = self._pattern[self._position] == "$"
        self._position += 1
        self._group.add(Anchor(at_end, self._flags.multiline), is_repeatable=False)

    def _read_bar(self) -> None:
        self._position += 1
        self._group.end_option()
        self._names.end_option()

    def _read_open(self) -> None:
        begin = self._position
        if len(self._open) == MAX_GROUP_NESTING:
            message = f"Groups are nested more than {MAX_GROUP_NESTING:,} deep"
            raise limit_error(message, self._pattern, begin, "group_nesting", MAX_GROUP_NESTING)
        group = _Group(begin, self._flags, None)
        self._names.open_group()
        self._position += 1
        if self._pattern.startswith("?", begin + 1):
            self._read_group_kind(group)
        self._open.append(self._group)
        self._group = group

    def _read_group_kind(self, group: _Group) -> None:
        pattern, begin = self._pattern, self._position
        look = _LOOK.match(pattern, begin)
        if look:
            group.look = _LOOKS[look[0]]
            self._position = look.end()
        elif name := _NAME.match(pattern, begin):
            self._names.add(name["name"], name.start("name"), bool(name["close"]))
            self._position = name.end()
        elif pattern.startswith("?:", begin):
            self._position += 2
        elif pattern.startswith("?P=", begin):
            self._refuse("Back-references are not regular and not supported", group.offset)
        elif modifiers := parse_modifiers(pattern, begin + 1, self._flags):
            self._flags, self._position = modifiers
        else:
            self._refuse(f"Unknown kind of group: ({pattern[begin : begin + 2]}", group.offset)

    def _read_close(self) -> None:
        if not self._open:
            self._refuse("Unmatched ): no group is open here", self._position)
        closed, body = self._group, self._group.tree()
        self._position += 1
        self._flags = closed.outer_flags
        self._names.close_group()
        self._group = self._open.pop()
        if closed.look is None:
            self._group.add(body)
        else:
            behind, negated = closed.look
            # The web's older syntax lets a lookahead be repeated; with u it may not be.
            self._group.add(Look(body, behind, negated), not behind and not self._flags.unicode)

    def _read_quantifier(self) -> None:
        match = _QUANTIFIER.match(self._pattern, self._position)
        assert match is not None
        if not self._group.is_repeatable:
            self._refuse_quantifier(match[0])
        low, high = self._bounds(match)
        self._repeat_last(low, high)
        self._position = match.end()

    def _read_brace(self) -> None:
        if _QUANTIFIER.match(self._pattern, self._position):
            self._read_quantifier()
            return
        upper = _ONLY_UPPER_BOUND.match(self._pattern, self._position)
        if upper:
            count = upper[0][2:-1]
            self._refuse(f"{upper[0]} has no lower bound; write {{0,{count}}}, or \\{{ for the character")
        self._read_lone_bracket()

    def _read_lone_bracket(self) -> None:
        character = self._pattern[self._position]
        if self._flags.unicode:
            self._refuse(f"A lone {character} must be escaped with the flag u")
        self._position += 1
        self._add_character(character)

    # what the methods share

    def _bounds(self, match: re.Match[str]) -> tuple[int, int | None]:
        if match["low"] is None:
            return _SIMPLE_BOUNDS[match[0][0]]
        low = self._count(match["low"], match.start("low"))
        if not match["comma"]:
            return low, low
        if not match["high"]:
            return low, None
        high = self._count(match["high"], match.start("high"))
        if low > high:
            bounds = f"{{{low},{high}}}"
            self._refuse(f"The repetition {bounds} is empty: its lower bound is above its upper bound")
        return low, high

    def _count(self, digits: str, begin: int) -> int:
        digits = digits.lstrip("0") or "0"
        if len(digits) > 20 or int(digits) > MAX_REPETITION:
            message = f"Repetition counts end at {MAX_REPETITION:,}"
            raise limit_error(message, self._pattern, begin, "repetition", MAX_REPETITION)
        return int(digits)

    def _repeat_last(self, low: int, high: int | None) -> None:
        items = self._group.items
        items[-1] = Repetition(items[-1], low, high)
        self._group.is_repeatable = False

    def _add_character(self, character: str) -> None:
        others = same_but_for_case(character, self._flags.unicode) if self._flags.ignore_case else ()
        if others or (self._json_string and _JSON_BREAKERS.match(character)):
            self._add_characters(tuple((code, code) for code in others or (ord(character),)))
        else:
            self._group.add(Text(character))

    def _add_characters(self, ranges: Ranges) -> None:
        if self._json_string:
            ranges = intersect_ranges(ranges, JSON_STRING_CHARACTERS)
        single = single_character(ranges)
        self._group.add(Characters(ranges) if single is None else Text(single))

    def _boundary(self, negated: bool) -> Tree:
        key = word_characters(self._flags), negated
        if key not in self._boundaries:
            self._boundaries[key] = _boundary_tree(Characters(key[0]), negated)
        return self._boundaries[key]

    def _refuse_quantifier(self, quantifier: str) -> NoReturn:
        items = self._group.items
        if items and isinstance(items[-1], Repetition):
            message = f"Two quantifiers in a row; group the first, as in (?:a+){quantifier}"
            self._refuse(message)
        what = ", since an assertion takes no characters" if items else ""
        self._refuse(f"Nothing to repeat before {quantifier}{what}")

    def _refuse(self, message: str, offset: int | None = None) -> NoReturn:
        raise RegexError.at(message, self._pattern, self._position if offset is None else offset)


def _boundary_tree(word: Characters, negated: bool) -> Tree:
    """A place with a word character on just one side; with `negated`, on both sides or none."""
    sides = ((False, False), (True, True)) if negated else ((False, True), (True, False))
    options = (Concatenation((Look(word, True, before), Look(word, False, after))) for before, after in sides)
    return Alternation(tuple(options))


def any_text(json_string: bool) -> Tree:
    """Any number of any characters that the pattern may be asked about."""
    return Repetition(Characters(JSON_STRING_CHARACTERS if json_string else ANY_CHARACTER), 0, None)


_READERS: dict[str, Callable[[Parser], None]] = {
    "\\": Parser._read_escape,
    "[": Parser._read_class,
    "(": Parser._read_open,
    ")": Parser._read_close,
    "|": Parser._read_bar,
    ".": Parser._read_dot,
    "^": Parser._read_anchor,
    "$": Parser._read_anchor,
    "*": Parser._read_quantifier,
    "+": Parser._read_quantifier,
    "?": Parser._read_quantifier,
    "{": Parser._read_brace,
    "]": Parser._read_lone_bracket,
    "}": Parser._read_lone_bracket,
}
"""By the character that a construct begins with. A parser that held its own methods would be a circle."""
