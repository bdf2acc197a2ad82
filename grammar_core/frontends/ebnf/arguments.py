"""What stands between the parentheses of a macro call.

arguments = [ argument { "," argument } ]
argument  = value | name "=" value
value     = string | integer | "true" | "false" | rule name | tuple
tuple     = "(" [ value { "," value } [ "," ] ] ")"
"""

from __future__ import annotations

import re
from typing import NoReturn

from grammar_core.errors import GrammarLimitError, GrammarSyntaxError
from grammar_core.frontends.ebnf.escapes import MalformedTokenError, decode_literal
from grammar_core.frontends.ebnf.lexer import SKIP
from grammar_core.frontends.ebnf.limits import MAX_INTEGER, MAX_TUPLE_NESTING
from grammar_core.frontends.ebnf.macros.call import Argument

_PUNCTUATION = r"(?P<open>\()|(?P<close>\))|(?P<comma>,)|(?P<equals>=)"
_VALUE_FORMS = "strings, integers, true, false, rule names and tuples"
_BOOLEANS = {"true": True, "false": False}
# What may come next: a value that nothing needs to come before, one after a comma, or no value.
_FIRST, _NEXT, _NONE = range(3)


def argument_pattern(name: str) -> re.Pattern[str]:
    """Tokens of arguments, when rule names look like `name`."""
    alternatives = (
        r'(?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")',
        r"(?P<number>[-+]?\.?[0-9](?:(?<=[eE])[-+]|[\w.])*+)",
        rf"(?P<word>{name})",
        _PUNCTUATION,
        r"(?P<end>\Z)",
        r"(?P<bad>.)",
    )
    return re.compile(f"{SKIP}(?:{'|'.join(alternatives)})", re.DOTALL)


class ArgumentReader:
    """Reads the arguments of the call of `macro` at `offset` of `text`."""

    def __init__(self, text: str, pattern: re.Pattern[str], macro: str, offset: int) -> None:
        self._text = text
        self._pattern = pattern
        self._macro = macro
        self._offset = offset
        self.positional: list[Argument] = []
        self.named: dict[str, Argument] = {}
        # The name whose value comes next, and where it stands.
        self._name: tuple[str, int] | None = None
        # Tuples that are open: what they contain so far, and where they begin.
        self._tuples: list[tuple[list[Argument], int]] = []

    def read(self, begin: int) -> int:
        """Read from behind the opening parenthesis at `begin`; the offset behind the closing one."""
        position, expected = begin, _FIRST
        while True:
            match = self._token(position)
            position = match.end()
            if match.lastgroup == "close":
                self._check_close(match, expected)
                if not self._tuples:
                    return position
                self._add(self._pop_tuple())
                expected = _NONE
            elif expected == _NONE:
                self._check_comma(match)
                expected = _NEXT
            elif match.lastgroup == "open":
                self._push_tuple(match.start("open"))
                expected = _FIRST
            elif match.lastgroup == "word" and self._token(position).lastgroup == "equals":
                self._begin_named(match)
                position = self._token(position).end()
                expected = _FIRST
            else:
                self._add(self._value(match))
                expected = _NONE

    def _token(self, position: int) -> re.Match[str]:
        match = self._pattern.match(self._text, position)
        assert match is not None, "every character begins a token"
        return match

    def _add(self, argument: Argument) -> None:
        if self._tuples:
            self._tuples[-1][0].append(argument)
        elif self._name is None:
            self.positional.append(argument)
        else:
            name, begin = self._name
            self.named[name] = argument._replace(begin=begin)
            self._name = None

    def _push_tuple(self, offset: int) -> None:
        if len(self._tuples) == MAX_TUPLE_NESTING:
            message = f"Tuples are nested more than {MAX_TUPLE_NESTING} deep"
            raise GrammarLimitError.at(
                message, self._text, offset, limit="tuple_nesting", value=MAX_TUPLE_NESTING
            )
        self._tuples.append(([], offset))

    def _pop_tuple(self) -> Argument:
        items, offset = self._tuples.pop()
        return Argument("tuple", tuple(items), offset, offset)

    def _begin_named(self, match: re.Match[str]) -> None:
        name, offset = match["word"], match.start("word")
        if self._tuples:
            self._refuse(f"Named arguments such as {name}=… are not allowed inside tuples", offset)
        if self._name is not None:
            self._refuse(f"Expected the value of {self._name[0]}", offset)
        if name in self.named:
            self._refuse(f"The argument {name} is given twice", offset)
        self._name = name, offset

    def _value(self, match: re.Match[str]) -> Argument:
        kind = match.lastgroup or "bad"
        text, offset = match[kind], match.start(kind)
        if kind == "string":
            return Argument("string", self._string(text, offset), offset, offset)
        if kind == "number":
            return Argument("integer", self._integer(text, offset), offset, offset)
        if kind == "word" and text in _BOOLEANS:
            return Argument("boolean", _BOOLEANS[text], offset, offset)
        if kind == "word":
            if self._token(match.end()).lastgroup == "open":
                self._refuse(f"Macro calls such as {text}(…) cannot be passed to a macro", offset)
            return Argument("rule", text, offset, offset)
        return self._refuse_value(kind, offset)

    def _string(self, text: str, offset: int) -> str:
        try:
            return decode_literal(text).decode()
        except MalformedTokenError as error:
            self._refuse(error.message, offset + error.offset)

    def _integer(self, text: str, offset: int) -> int:
        digits = text.lstrip("+-")
        if not digits.isdecimal():
            self._refuse(f"Only decimal integers can be passed to a macro, not {text[:40]}", offset)
        if text[0] == "+":
            self._refuse("An integer is written without +", offset)
        significant = digits.lstrip("0") or "0"
        if len(significant) > len(str(MAX_INTEGER)) or int(significant) > MAX_INTEGER:
            message = f"An integer may be at most {MAX_INTEGER:,}"
            raise GrammarLimitError.at(message, self._text, offset, limit="integer", value=MAX_INTEGER)
        return -int(significant) if text[0] == "-" else int(significant)

    # refusals

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise GrammarSyntaxError.at(message, self._text, offset)

    def _check_close(self, match: re.Match[str], expected: int) -> None:
        if self._name is not None and not self._tuples:
            self._refuse(f"Expected the value of {self._name[0]}", match.start("close"))
        if expected == _NEXT and not self._tuples:
            message = f"The call of {self._macro} must not end in a comma; only tuples may"
            self._refuse(message, self._text.rindex(",", 0, match.start("close")))

    def _check_comma(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or "bad"
        if kind == "comma":
            return
        if kind == "end":
            self._refuse_end()
        message = (
            "Expected , or ) here: grammar expressions cannot be passed to a macro; "
            "give the expression a rule of its own and pass the name"
        )
        self._refuse(message, match.start(kind))

    def _refuse_value(self, kind: str, offset: int) -> NoReturn:
        if kind == "end":
            self._refuse_end()
        character = self._text[offset]
        if character == "[":
            self._refuse("Lists and character classes cannot be passed to a macro", offset)
        if character == "{":
            self._refuse("Objects cannot be passed to a macro", offset)
        if character == '"':
            self._refuse('String literal is not terminated on its line: " is missing', offset)
        self._refuse(f"Expected a value, not {character}; values are {_VALUE_FORMS}", offset)

    def _refuse_end(self) -> NoReturn:
        if self._tuples:
            self._refuse("This tuple is not closed: ) is missing", self._tuples[-1][1])
        self._refuse(f"The call of {self._macro} is not closed: ) is missing", self._offset)
