"""What is wrong with a regular expression, and where."""

from __future__ import annotations

from typing import Self

from grammar_core.errors import GrammarLimitError, GrammarSyntaxError

DIALECT = "regex"


class RegexError(GrammarSyntaxError):
    """A regular expression that cannot be used. `column` counts its characters from 1."""

    @classmethod
    def at(cls, message: str, text: str, offset: int, *, dialect: str = DIALECT) -> Self:
        """The error for the construct that begins at character `offset` (from 0) of `text`."""
        return super().at(message, text, offset, dialect=dialect)


def limit_error(message: str, pattern: str, offset: int, limit: str, value: int) -> GrammarLimitError:
    """The error for a regular expression beyond a limit, at the construct that exceeds it."""
    return GrammarLimitError.at(message, pattern, offset, dialect=DIALECT, limit=limit, value=value)
