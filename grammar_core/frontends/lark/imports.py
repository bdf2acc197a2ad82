"""The terminals of `%import common`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

from grammar_core.frontends.lark.errors import LarkError, UndefinedNameError
from grammar_core.frontends.lark.lexer import NAME, SKIP
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import Expr

_EXPONENT = r"[eE][+-]?[0-9]+"
_DECIMAL = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
_FLOAT = rf"(?:{_DECIMAL}(?:{_EXPONENT})?|[0-9]+{_EXPONENT})"
_NUMBER = rf"(?:{_FLOAT}|[0-9]+)"

# The definitions of Lark's own library, each as one pattern.
_PATTERNS = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[0-9A-Fa-f]",
    "INT": "[0-9]+",
    "SIGNED_INT": "[+-]?[0-9]+",
    "DECIMAL": _DECIMAL,
    "_EXP": _EXPONENT,
    "FLOAT": _FLOAT,
    "SIGNED_FLOAT": f"[+-]?{_FLOAT}",
    "NUMBER": _NUMBER,
    "SIGNED_NUMBER": f"[+-]?{_NUMBER}",
    "ESCAPED_STRING": r'"(?:[^"\\\n]|\\[^\n])*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[A-Za-z_][A-Za-z0-9_]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(?:\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "C_COMMENT": r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/",
    "SQL_COMMENT": r"--[^\n]*",
}

_SINGLE = re.compile(rf"({NAME})\.({NAME})(?:{SKIP}->{SKIP}({NAME}))?")
_LIST = re.compile(rf"({NAME}){SKIP}\(")
_LIST_ITEM = re.compile(rf"[\s]*({NAME})[\s]*([,)])")
_REST = re.compile(rf"{SKIP}\Z")


class Import(NamedTuple):
    """One imported terminal: under which name, and what it matches."""

    name: str
    expr: Expr
    offset: int


def read_imports(line: str, text: str, offset: int) -> list[Import]:
    """The imports of the directive `line`, which stands at `offset` of `text`. Raises LarkError."""
    reader = _Reader(line, text, offset)
    begin = len("%import") + len(line[len("%import") :]) - len(line[len("%import") :].lstrip(" \t"))
    single = _SINGLE.match(line, begin)
    if single:
        reader.require_common(single[1], begin)
        reader.require_end(single.end())
        found = reader.find(single[2], single.start(2))
        return [found._replace(name=single[3], offset=offset + single.start(3)) if single[3] else found]
    listed = _LIST.match(line, begin)
    if listed is None:
        reader.refuse("Expected common.NAME or common (NAME, …) after %import", begin)
    reader.require_common(listed[1], begin)
    return reader.read_list(listed.end())


class _Reader:
    def __init__(self, line: str, text: str, offset: int) -> None:
        self._line = line
        self._text = text
        self._offset = offset

    def read_list(self, begin: int) -> list[Import]:
        found = []
        while True:
            item = _LIST_ITEM.match(self._line, begin)
            if item is None:
                self.refuse("Expected a name and then , or ) in the list of imports", begin)
            found.append(self.find(item[1], item.start(1)))
            begin = item.end()
            if item[2] == ")":
                self.require_end(begin)
                return found

    def find(self, name: str, index: int) -> Import:
        if name not in _PATTERNS:
            message = f'The library common has no terminal "{name}"; it has {", ".join(_PATTERNS)}'
            raise UndefinedNameError.at(message, self._text, self._offset + index)
        return Import(name, common_terminal(name), self._offset + index)

    def require_common(self, library: str, index: int) -> None:
        if library != "common":
            self.refuse(f'Only the library common can be imported, not "{library}"', index)

    def require_end(self, index: int) -> None:
        if not _REST.match(self._line, index):
            rest = len(self._line[index:]) - len(self._line[index:].lstrip())
            self.refuse("Unexpected text after the import", index + rest)

    def refuse(self, message: str, index: int) -> NoReturn:
        raise LarkError.at(message, self._text, self._offset + index)


@lru_cache(maxsize=64)
def common_terminal(name: str) -> Expr:
    """What the terminal of the library matches."""
    return parse_regex(_PATTERNS[name], flags="")
