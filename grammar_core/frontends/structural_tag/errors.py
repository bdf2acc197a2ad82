"""Errors about structural tags, with the place in the document."""

from __future__ import annotations

from typing import NoReturn

from grammar_core.errors import GrammarError, GrammarLimitError

DIALECT = "Structural tag"


class StructuralTagError(GrammarError):
    """A structural tag that cannot be used. `pointer` is the JSON pointer of what is wrong in it."""

    def __init__(self, message: str, *, pointer: str) -> None:
        self.pointer = pointer
        self._text = message
        super().__init__(_at(message, pointer), dialect=DIALECT)

    def moved_to(self, pointer: str) -> StructuralTagError:
        """The same error at another place."""
        return StructuralTagError(self._text, pointer=pointer)


class StructuralTagLimitError(StructuralTagError, GrammarLimitError):
    """A structural tag beyond a limit: `limit` is its name and `value` what it allows."""

    def __init__(self, message: str, *, pointer: str, limit: str, value: int) -> None:
        self.pointer = pointer
        self._text = message
        GrammarLimitError.__init__(self, _at(message, pointer), limit=limit, value=value, dialect=DIALECT)

    def moved_to(self, pointer: str) -> StructuralTagLimitError:
        """The same error at another place."""
        return StructuralTagLimitError(self._text, pointer=pointer, limit=self.limit, value=self.value)


def _at(message: str, pointer: str) -> str:
    return f"{message} (at {pointer or 'the top'})"


def reraise_at(error: GrammarError, pointer: str) -> NoReturn:
    """Raise the error of a grammar, schema or pattern inside of the tag as one at this place of the tag."""
    place = pointer + str(getattr(error, "pointer", ""))
    message = str(error)
    if isinstance(error, GrammarLimitError):
        raise StructuralTagLimitError(message, pointer=place, limit=error.limit, value=error.value) from error
    raise StructuralTagError(message, pointer=place) from error
