"""What to say where the text does not follow the notation. Everything here runs once, on the way out."""

from __future__ import annotations

import re

from grammar_core.frontends.lark.lexer import SKIP

_NEXT = re.compile(SKIP)
_PRIORITY = re.compile(r"\.\s*-?\d+\s*:")
_TEMPLATE = re.compile(r"\{\s*\w+\s*(?:,\s*\w+\s*)*\}\s*:")


def missing_colon(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The message about a name that begins a line and has no colon, and where it points."""
    skip = _NEXT.match(text, match.end("name"))
    offset = skip.end() if skip else match.end("name")
    name = match["name"]
    if text.startswith("::", offset):
        return "Rules with parameters (name::…) are not part of this dialect", offset
    if _PRIORITY.match(text, offset):
        return "Priorities (name.1:) are not part of this dialect: all readings are kept", offset
    if _TEMPLATE.match(text, offset):
        return "Templates (name{a, b}:) are not part of this dialect", offset
    if text.startswith("[", offset):
        return f'Expected : after the options of "{name}"; the list ends in ] on the same line', offset
    return f'Expected : after the name "{name}"', offset


def no_definition(text: str, offset: int) -> str:
    """The message about a line that begins neither a definition nor a directive."""
    message = bad_character(text, offset)
    if message.startswith("Unexpected character") or text[offset] in '"/([<|':
        return "Expected a definition (name: …) or a directive (%…)"
    return message if text[offset] not in "%@" else f"Expected a definition (name: …), not {text[offset]}…"


def unknown_directive(directive: str) -> str:
    """The message about a % and a word that is no directive."""
    if directive in ("%declare", "%override", "%extend"):
        return f"The directive {directive} is not part of this dialect"
    if directive in ("%if",):
        return "Conditions (%if) and rules with parameters are not part of this dialect"
    known = "%import, %ignore, %grammar_options, %json, %lark and %regex"
    return f"Unknown directive {directive}; there are {known}"


def bad_character(text: str, offset: int) -> str:
    """The message about a character that begins no token, or one that cannot stand here."""
    character = text[offset]
    message = _MESSAGES.get(character)
    if character == '"':
        return 'String literal is not terminated on its line: " is missing; a newline is written \\n'
    if character == "/":
        return "Regular expression is not terminated on its line: / is missing (inside, write \\/)"
    if text.startswith("::", offset):
        return "Rules with parameters (name::…) are not part of this dialect"
    if text.startswith("..", offset):
        return 'Unexpected ..; a range is written "a".."z", a repetition x~2..4'
    if message:
        return message
    if character.isdigit():
        return f"Unexpected {character}; a name cannot start with a digit"
    if character.isprintable():
        return f"Unexpected character {character}"
    return f"Unexpected character U+{ord(character):04X}"


_MESSAGES = {
    "'": 'Unexpected \'; strings are written in double quotes, such as "text"',
    "<": "Special token is not terminated: > is missing (there may be no white space in it)",
    "{": "Malformed repetition: expected {n}, {n,}, {,m} or {n,m} with decimal numbers",
    ":": "Unexpected :; a name must stand before it, at the beginning of a line",
    "=": "Unexpected =; a rule is defined with a colon, name: …",
    "@": "Expected the name of a grammar after @",
    "!": "Unexpected !; the prefixes ? and ! stand before the name that is defined",
    ".": "Unexpected .; any character is written /./",
    "}": "Unexpected }; no %lark block is open here",
    "\\": "Unexpected \\; escapes are used inside strings and regular expressions",
}
