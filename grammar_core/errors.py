"""The errors that grammar authors see, with the place in their text.

Every error about a grammar is a `GrammarError`. It derives from both `RuntimeError` and
`ValueError`, so callers that catch either one keep working.
"""

from __future__ import annotations

import unicodedata
from typing import Self

_EXCERPT_WIDTH = 100
_ELLIPSIS = "…"


class GrammarError(RuntimeError, ValueError):
    """A grammar that cannot be used.

    `line` and `column` count characters from 1 and point at the offending construct; they are None
    where the grammar has no text (it was built in code, say). `source_line` is that whole line.
    `dialect` names the notation the text is written in.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        dialect: str = "EBNF",
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.source_line = source_line
        self.dialect = dialect
        super().__init__(self._render())

    @classmethod
    def at(cls, message: str, text: str, offset: int, *, dialect: str = "EBNF") -> Self:
        """The error for the construct that begins at character `offset` (from 0) of `text`."""
        line, column, source_line = locate(text, offset)
        return cls(message, line=line, column=column, source_line=source_line, dialect=dialect)

    def lines_up(self, lines: int) -> Self:
        """The same error in the same text without its first `lines` lines."""
        if self.line is not None:
            self.line -= lines
            self.args = (self._render(),)
        return self

    def _render(self) -> str:
        if self.line is None or self.column is None:
            return f"{self.dialect} error: {self.message}"
        head = f"{self.dialect} error at line {self.line}, column {self.column}: {self.message}"
        if self.source_line is None:
            return head
        return f"{head}\n{point_at(self.source_line, self.column)}"


class GrammarSyntaxError(GrammarError):
    """The text does not follow the notation."""


class UndefinedRuleError(GrammarError):
    """A rule is referenced, or chosen as the root, but never defined."""


class DuplicateRuleError(GrammarError):
    """A rule is defined twice."""


class UnsupportedFeatureError(GrammarError):
    """The text is well formed but asks for something that this version does not offer."""


class RuleReplacementError(GrammarError):
    """What is to replace the rule `rule` cannot be used."""

    def __init__(self, rule: str, cause: GrammarError) -> None:
        self.rule = rule
        super().__init__(
            f'In what replaces rule "{rule}": {cause.message}',
            line=cause.line,
            column=cause.column,
            source_line=cause.source_line,
            dialect=cause.dialect,
        )


class GrammarLimitError(GrammarError):
    """A limit on size, depth, time or memory was exceeded.

    `limit` is the limit's name and `value` what it allows, in the unit the message states.
    """

    def __init__(
        self,
        message: str,
        *,
        limit: str,
        value: int,
        line: int | None = None,
        column: int | None = None,
        source_line: str | None = None,
        dialect: str = "EBNF",
    ) -> None:
        self.limit = limit
        self.value = value
        super().__init__(message, line=line, column=column, source_line=source_line, dialect=dialect)

    @classmethod
    def at(
        cls, message: str, text: str, offset: int, *, dialect: str = "EBNF", limit: str = "", value: int = 0
    ) -> Self:
        """The error for the construct that begins at character `offset` (from 0) of `text`."""
        line, column, source_line = locate(text, offset)
        return cls(
            message,
            limit=limit,
            value=value,
            line=line,
            column=column,
            source_line=source_line,
            dialect=dialect,
        )


class DeserializeFormatError(RuntimeError, ValueError):
    """The serialized text is not JSON, lacks a member, or a member has the wrong form."""


class DeserializeVersionError(RuntimeError, ValueError):
    """The serialized text was written in another version of the format."""


def locate(text: str, offset: int) -> tuple[int, int, str]:
    """Line and column (characters, from 1) of an offset into text with "\\n" line breaks, and that line."""
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    source_line = text[begin:] if end < 0 else text[begin:end]
    return text.count("\n", 0, offset) + 1, offset - begin + 1, source_line


def point_at(source_line: str, column: int) -> str:
    """The source line and, under it, a caret at `column`; of a long line only the part around the column."""
    begin = max(0, min(column - 1 - _EXCERPT_WIDTH // 2, len(source_line) - _EXCERPT_WIDTH))
    excerpt = source_line[begin : begin + _EXCERPT_WIDTH]
    lead = _ELLIPSIS if begin else ""
    tail = _ELLIPSIS if begin + _EXCERPT_WIDTH < len(source_line) else ""
    before = lead + excerpt[: column - 1 - begin]
    return f"{lead}{excerpt}{tail}\n{''.join(map(_blank, before))}^"


def _blank(character: str) -> str:
    """White space as wide as the character is in a terminal, so that the caret stands under its column."""
    if character == "\t":
        return "\t"
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "
