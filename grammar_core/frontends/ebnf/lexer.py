"""Tokens of EBNF text: one regular expression, and what to say where it does not match.

The parser walks `TOKEN.finditer(text)` itself; a token is a match, its kind is `match.lastgroup`:

    name      a rule reference                 operator  ? * + or {…}
    assign    a name and the ::= after it      bar       |
    literal   "…"                              open      (
    class     […]                              ahead     (=
    bad       a character that begins no token close     )
    end       the end of the text

Between a name and its ::= there may be `options` in brackets. What stands in them, and between the
parentheses of a macro call, has tokens of its own.

White space and comments before a token belong to its match but not to its group. Every quantifier
is possessive, so matching is linear in the text.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from itertools import groupby

from grammar_core.errors import GrammarError, GrammarLimitError, GrammarSyntaxError
from grammar_core.frontends.ebnf.escapes import MalformedTokenError
from grammar_core.frontends.ebnf.limits import MAX_REPETITION, MAX_TEXT_LENGTH

SKIP = r"(?:[ \t\n\f\v]++|#[^\n]*+)*+"


# An option list has few parts, so that looking for its end stays cheap where a class follows a name.
_OPTIONS = r'\[(?:[^\[\]"#]++|"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"|#[^\n]*+){0,100}+\]'


def _name_pattern(more_name_characters: str = "") -> str:
    return rf"(?!\d)[\w.\-{more_name_characters}]++"


def _token_pattern(name: str) -> re.Pattern[str]:
    alternatives = (
        rf"(?P<name>{name})(?:{SKIP}(?:(?P<options>{_OPTIONS}){SKIP})?+(?P<assign>::=))?+",
        r'(?P<literal>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")',
        r"(?P<class>\[[^\]\\\n]*+(?:\\[^\n][^\]\\\n]*+)*+\])",
        rf"(?P<operator>[?*+]|\{{{SKIP}[0-9]++{SKIP}(?:,{SKIP}(?:-?[0-9]++)?+{SKIP})?+\}})",
        r"(?P<bar>\|)",
        rf"(?P<open>\((?!{SKIP}=))",
        rf"(?P<ahead>\({SKIP}=)",
        r"(?P<close>\))",
        r"(?P<end>\Z)",
        r"(?P<bad>.)",
    )
    return re.compile(f"{SKIP}(?:{'|'.join(alternatives)})", re.DOTALL)


NAME = _name_pattern()
TOKEN = _token_pattern(NAME)

_COMMENT = re.compile(r"#[^\n]*")
_UNCLOSED_OPTIONS = re.compile(r"\[[^\n]*::=")
_SIMPLE_BOUNDS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class RepetitionLimitError(MalformedTokenError):
    """A repetition count above the limit."""


def prepare_text(text: str) -> str:
    """The text without a byte-order mark and with "\\n" line breaks. Raises GrammarError if it is no text."""
    if len(text) > MAX_TEXT_LENGTH:
        raise GrammarLimitError(
            f"The grammar has {len(text):,} characters; the limit is {MAX_TEXT_LENGTH:,}",
            limit="text_length",
            value=MAX_TEXT_LENGTH,
        )
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    _refuse_lone_surrogates(text)
    return text


def _refuse_lone_surrogates(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = "The grammar contains half of a surrogate pair, which is not a character"
        raise GrammarSyntaxError.at(message, text, error.start) from None


def token_pattern(name: str) -> re.Pattern[str]:
    """`TOKEN` when names look like `name`."""
    return TOKEN if name == NAME else _token_pattern(name)


@lru_cache(maxsize=1)
def name_pattern_with_marks() -> str:
    """`NAME` with the combining marks that words of many scripts contain.

    Python's `\\w` leaves them out, and listing them takes milliseconds, so this is for text that needs it.
    """
    marks = (point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point))[0] == "M")
    runs = (list(run) for _, run in groupby(enumerate(marks), lambda pair: pair[1] - pair[0]))
    return _name_pattern("".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs))


def has_combining_marks(text: str) -> bool:
    return not text.isascii() and any(unicodedata.category(character)[0] == "M" for character in set(text))


def is_first_on_line(text: str, offset: int) -> bool:
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return not before or before.isspace()


def parse_operator(text: str) -> tuple[int, int | None]:
    """Least and greatest count of a repetition operator. Raises MalformedTokenError."""
    simple = _SIMPLE_BOUNDS.get(text)
    if simple is not None:
        return simple
    low_text, comma, high_text = (part.strip() for part in _COMMENT.sub("", text[1:-1]).partition(","))
    low = _count(low_text)
    if not comma:
        return low, low
    if high_text in ("", "-1"):
        return low, None
    high = _count(high_text)
    if high < low:
        raise MalformedTokenError(f"The lower bound {low} is above the upper bound {high}", 0)
    return low, high


def _count(digits: str) -> int:
    if digits.startswith("-"):
        raise MalformedTokenError("An upper bound is a number, or -1 for no bound", 0)
    # Python refuses to convert very long digit strings, hence the look at the length first.
    if len(digits.lstrip("0")) > len(str(MAX_REPETITION)) or int(digits.lstrip("0") or "0") > MAX_REPETITION:
        raise RepetitionLimitError(f"A repetition count may be at most {MAX_REPETITION:,}", 0)
    return int(digits.lstrip("0") or "0")


def bad_token_error(text: str, offset: int) -> GrammarError:
    """The error for the character at `offset`, which begins no token."""
    character = text[offset]
    if character == '"':
        message = _unterminated(text, offset, '"', "String literal", '"')
    elif character == "[" and _follows_name(text, offset) and _UNCLOSED_OPTIONS.match(text, offset):
        message = "The option list is not closed before ::=: ] is missing"
    elif character == "[":
        message = _unterminated(text, offset, "]", "Character class", "[")
    elif character == "{":
        message = _malformed_bounds(text, offset)
    else:
        message = _BAD_CHARACTERS.get(character) or _unexpected(text, offset)
    return GrammarSyntaxError.at(message, text, offset)


_BAD_CHARACTERS = {
    "'": 'Unexpected \'; string literals are written in double quotes, such as "text"',
    "]": "Unexpected ]; no character class is open here (inside a class, write \\])",
    "}": 'Unexpected }; a literal brace is written "}"',
    "\\": "Unexpected \\; escapes are used inside literals and character classes",
    "/": 'Unexpected /; comments begin with #, and a slash to match is written "/"',
    "<": 'Unexpected <; rule names are written without angle brackets, and text to match as "<"',
    "=": "Unexpected =; a rule is defined with ::=",
}


def _follows_name(text: str, offset: int) -> bool:
    before = text[text.rfind("\n", 0, offset) + 1 : offset].split()
    return len(before) == 1


def _unterminated(text: str, offset: int, closer: str, what: str, opener: str) -> str:
    line_end = text.find("\n", offset)
    if line_end < 0:
        return f"{what} is not terminated: {closer} is missing"
    example = '"\\n"' if opener == '"' else "[\\n]"
    return f"{what} is not terminated on its line; a raw newline is not allowed in it, write {example}"


def _malformed_bounds(text: str, offset: int) -> str:
    inside = text[offset + 1 : offset + 40].lstrip()
    if inside.startswith(","):
        return "Expected a number after {: the lower bound is required (write {0,n} for at most n)"
    return "Malformed repetition: expected {n}, {n,} or {n,m} with decimal numbers"


def _unexpected(text: str, offset: int) -> str:
    character = text[offset]
    if text.startswith("::=", offset):
        return "Unexpected ::=; a rule name must stand before it"
    if character == ":":
        return "Unexpected :; a rule is defined with ::="
    if character.isdigit():
        return f"Unexpected {character}; a rule name cannot start with a digit"
    if character.isprintable():
        return f"Unexpected character {character}"
    return f"Unexpected character U+{ord(character):04X}"
