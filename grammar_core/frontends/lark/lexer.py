"""Tokens of Lark text: one regular expression, and JSON where a directive takes it.

A token is a match; its kind is `match.lastgroup`:

    name      a reference                      colon     a name, its options and the : of a definition
    string    "…", with a flag                 dots      a string and the .. after it
    regex     /…/ with flags                   operator  ? * + {…} ~n or ~n..m
    bar       |, maybe on the next line        amp       &
    tilde     ~ before what it negates         alias     -> and a name
    open      (          close    )            opt       [          shut      ]
    ids       <[…]>      token    <…>          at        @name      bang      !
    lark      %lark {    brace    }            import    %import and the rest of it
    ignore    %ignore    json     %json        substring %regex     settings  %grammar_options …
    newline   the end of an item               end       the end of the text
    directive any other %…                     bad       a character that begins no token

White space and comments before a token belong to its match but not to its group. Every quantifier is
possessive, so matching is linear in the text.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from grammar_core.deadline import check
from grammar_core.errors import GrammarError
from grammar_core.frontends.lark.errors import LarkError, limit_error
from grammar_core.frontends.lark.limits import MAX_TEXT_LENGTH

_COMMENT = r"(?:\#|//)[^\n]*+"
SKIP = rf"(?:[ \t\f\v]++|{_COMMENT})*+"
_SKIP_LINES = rf"(?:[ \t\f\v\n]++|{_COMMENT})*+"
NAME = r"(?!\d)(?:\w|-(?!>))++"
STRING = r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
REGEX = r"/(?:[^/\\\n]++|\\[^\n])++/"
_OPTIONS = rf'\[(?:[^\[\]"/\n]++|{STRING}|{REGEX})*+\]'
_BOUNDS = r"\{[ \t]*+[0-9]*+[ \t]*+(?:,[ \t]*+[0-9]*+[ \t]*+)?+\}"
_COUNTS = r"~[ \t]*+[0-9]++(?:[ \t]*+\.\.[ \t]*+[0-9]++)?+"

TOKEN = re.compile(
    rf"{SKIP}(?:"
    rf"(?P<name>{NAME})(?:{SKIP}(?P<options>{_OPTIONS})?+{SKIP}(?P<colon>:(?!:)))?+"
    rf"|(?P<string>{STRING}(?:i(?![\w-]))?+)(?:{SKIP}(?P<dots>\.\.))?+"
    rf"|(?P<bar>(?:\n{_SKIP_LINES})?+\|)"
    rf"|(?P<newline>\n{_SKIP_LINES})"
    rf"|(?P<regex>(?:{REGEX})[a-zA-Z]*+)"
    rf"|(?P<operator>[?*+]|{_BOUNDS}|{_COUNTS})"
    r"|(?P<open>\()|(?P<close>\))|(?P<opt>\[)|(?P<shut>\])"
    rf"|(?P<alias>->{SKIP}{NAME})"
    r"|(?P<tilde>~)|(?P<amp>&)|(?P<bang>!)|(?P<brace>\})"
    r"|(?P<ids><\[[^\]\n]*+\]>)|(?P<token><(?!\[)[^<>\s]++>)"
    r"|(?P<at>@[\w-]++)"
    r"|(?P<import>%import\b[^\n(]*+(?:\([^)]*+\))?+[^\n]*+)"
    r"|(?P<ignore>%ignore\b)|(?P<json>%json\b)|(?P<substring>%regex\b)"
    rf"|(?P<lark>%lark\b{_SKIP_LINES}\{{)"
    r"|(?P<settings>%(?:grammar_options|llguidance)\b)"
    r"|(?P<directive>%\w*+)"
    r"|(?P<end>\Z)|(?P<bad>.))",
    re.DOTALL,
)
_WHITE = re.compile(r"[ \t\n\f\v]*")
_TAKES_JSON = frozenset(("json", "substring", "settings"))


class JsonText(NamedTuple):
    """The JSON value after a directive and where it begins; or what is wrong there."""

    value: Any
    begin: int
    problem: GrammarError | None


class Tokens(NamedTuple):
    """The tokens of a text. `values` has the JSON after a directive by the number of its token.

    `ignores` are the numbers of the namespaces with an `%ignore`: 0 is the whole text, each `%lark` block
    is one more, in the order in which they open.
    """

    matches: list[re.Match[str]]
    values: dict[int, JsonText]
    ignores: frozenset[int]


def prepare_text(text: str) -> str:
    """The text without a byte-order mark and with "\\n" line breaks. Raises GrammarError if it is no text."""
    if not isinstance(text, str):
        raise TypeError(f"a Lark grammar is text, not {type(text).__name__}")
    if len(text) > MAX_TEXT_LENGTH:
        message = f"The grammar has {len(text):,} characters; the limit is {MAX_TEXT_LENGTH:,}"
        raise limit_error(message, text[:100], 0, "text_length", MAX_TEXT_LENGTH)
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        _refuse_lone_surrogates(text)
    return text


def _refuse_lone_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = "The grammar contains half of a surrogate pair, which is not a character"
        raise LarkError.at(message, text, error.start) from None


def tokenize(text: str) -> Tokens:
    """All tokens, up to the first that is bad or JSON that is malformed: nothing is read beyond."""
    matches: list[re.Match[str]] = []
    values: dict[int, JsonText] = {}
    ignores: set[int] = set()
    namespaces, namespace_count = [0], 1
    resume: int | None = 0
    while resume is not None:
        begin, resume = resume, None
        for match in TOKEN.finditer(text, begin):
            check()
            matches.append(match)
            kind = match.lastgroup
            if kind in _TAKES_JSON:
                value, resume = _read_json(text, match.end())
                values[len(matches) - 1] = value
                break
            if kind == "ignore":
                ignores.add(namespaces[-1])
            elif kind == "lark":
                namespaces.append(namespace_count)
                namespace_count += 1
            elif kind == "brace" and len(namespaces) > 1:
                namespaces.pop()
            elif kind == "end" or kind == "bad":
                break
    return Tokens(matches, values, frozenset(ignores))


def _read_json(text: str, offset: int) -> tuple[JsonText, int | None]:
    """The value after `offset`, and where it ends; None where it is malformed."""
    white = _WHITE.match(text, offset)
    begin = white.end() if white else offset
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        return _bad_json(f"Expected JSON here: {error.msg}", text, error.pos), None
    except _NotJsonError as error:
        return _bad_json(f"{error} is not JSON", text, begin), None
    except ValueError:
        return _bad_json("The JSON has a number of too many digits", text, begin), None
    except RecursionError:
        return _bad_json("The JSON is nested too deep", text, begin), None
    return JsonText(value, begin, None), end


def _bad_json(message: str, text: str, offset: int) -> JsonText:
    return JsonText(None, offset, LarkError.at(message, text, offset))


class _NotJsonError(Exception):
    """NaN or an infinity."""


def _refuse_constant(name: str) -> Any:
    raise _NotJsonError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
