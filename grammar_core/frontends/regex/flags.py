"""Flags of a whole pattern and of a group."""

from __future__ import annotations

import re
from typing import NamedTuple

from grammar_core.frontends.regex.errors import RegexError

_KNOWN = "imsu"
_FIELDS = {"i": "ignore_case", "m": "multiline", "s": "dot_all", "u": "unicode"}
_MODIFIERS = re.compile(r"(?P<on>[a-zA-Z]*)(?P<dash>-?)(?P<off>[a-zA-Z]*)(?P<end>[:)])")


class Flags(NamedTuple):
    """How the pattern is read: i, m, s and u. What a lone dot means without flags is up to the caller.

    With `any_but_newline` a dot without `s` leaves out U+000A only, and not the other line terminators.
    """

    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    unicode: bool = False
    any_but_newline: bool = False


def parse_flags(flags: str | None) -> Flags:
    """The flags of a pattern. None are no flags, and a dot that is any character."""
    if flags is None:
        return Flags(dot_all=True)
    _check(flags, flags, 0, _KNOWN)
    return Flags()._replace(**{_FIELDS[flag]: True for flag in flags})


def parse_modifiers(pattern: str, begin: int, flags: Flags) -> tuple[Flags, int] | None:
    """The flags inside a group like (?i-s:…) whose modifiers begin at `begin`, and where its body begins.

    None if there are no modifiers there at all.
    """
    match = _MODIFIERS.match(pattern, begin)
    if match is None or match.end() == begin + 1:
        return None
    on, off = match["on"], match["off"]
    _check(on + off, pattern, begin, "ims", len(on), len(match["dash"]))
    if not on and not off:
        raise RegexError.at("(?-: changes no flag; a plain group is (?:…)", pattern, begin)
    if match["end"] == ")":
        message = f"Flags cannot change halfway; write (?{match[0][:-1]}:…) around the part they are for"
        raise RegexError.at(message, pattern, begin - 2)
    changes = {_FIELDS[flag]: flag in on for flag in on + off}
    return flags._replace(**changes), match.end()


def _check(flags: str, text: str, begin: int, known: str, dash_at: int = 0, dash: int = 0) -> None:
    for index, flag in enumerate(flags):
        offset = begin + index + (dash if index >= dash_at else 0)
        if flag not in known:
            names = f"{', '.join(known[:-1])} and {known[-1]}"
            raise RegexError.at(f'Unknown flag "{flag}"; the flags are {names}', text, offset)
        if flag in flags[:index]:
            raise RegexError.at(f'The flag "{flag}" appears twice', text, offset)
