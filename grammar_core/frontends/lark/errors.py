"""What is wrong with a Lark grammar, and where."""

from __future__ import annotations

from typing import Self

from grammar_core.errors import GrammarError, GrammarLimitError, GrammarSyntaxError

DIALECT = "Lark"


class LarkError(GrammarSyntaxError):
    """A Lark grammar that cannot be used."""

    @classmethod
    def at(cls, message: str, text: str, offset: int, *, dialect: str = DIALECT) -> Self:
        """The error for the construct that begins at character `offset` (from 0) of `text`."""
        return super().at(message, text, offset, dialect=dialect)


class UndefinedNameError(LarkError):
    """A rule, terminal, named grammar or special token is referenced that does not exist."""


class DuplicateNameError(LarkError):
    """A rule or terminal is defined twice."""


def limit_error(message: str, text: str, offset: int, limit: str, value: int) -> GrammarLimitError:
    """The error for a grammar beyond a limit, at the construct that exceeds it."""
    return GrammarLimitError.at(message, text, offset, dialect=DIALECT, limit=limit, value=value)


def moved_error(error: GrammarError, message: str, text: str, offset: int) -> GrammarError:
    """An error about a part of the grammar that has a notation of its own, as one about the grammar."""
    if isinstance(error, GrammarLimitError):
        return limit_error(message, text, offset, error.limit, error.value)
    return LarkError.at(message, text, offset)
