"""The members of one object of a structural tag, checked as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from grammar_core.frontends.structural_tag.errors import StructuralTagError

T = TypeVar("T")


class Fields:
    """The members of an object at `pointer` of the document. Every method names the member that is wrong."""

    def __init__(self, value: Any, pointer: str) -> None:
        if not isinstance(value, Mapping):
            raise StructuralTagError(f"An object is expected, not {_kind(value)}", pointer=pointer)
        self._members = value
        self.pointer = pointer

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self) -> set[Any]:
        """The names of all members."""
        return set(self._members)

    def pointer_to(self, *path: str | int) -> str:
        """The JSON pointer of a member."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
        return "".join((self.pointer, *(f"/{step}" for step in steps)))

    def fail(self, message: str, *path: str | int) -> NoReturn:
        """Raise the error about a member."""
        raise StructuralTagError(message, pointer=self.pointer_to(*path))

    def refuse_others(self, known: frozenset[str]) -> None:
        """Refuse members that the type does not have."""
        for name in self._members:
            if name not in known:
                self.fail(f"Unknown field {name!r}; the fields here are {', '.join(sorted(known))}", name)

    def value(self, name: str) -> Any:
        """A member that must be there, of any kind."""
        if name not in self._members:
            raise StructuralTagError(f"The field {name!r} is missing", pointer=self.pointer)
        return self._members[name]

    def text(self, name: str, default: str | None = None) -> str:
        """A member that is text."""
        value = self.value(name) if default is None else self._members.get(name, default)
        return self.as_text(value, name)

    def flag(self, name: str, default: bool) -> bool:
        """A member that is true or false."""
        return self._checked(self._members.get(name, default), bool, "true or false", name)

    def count(self, name: str, *, low: int, high: int) -> int:
        """A whole number that must be there."""
        value = self._checked(self.value(name), int, "a whole number", name)
        if not low <= value <= high:
            self.fail(f"The field {name!r} is {value}, which is not between {low} and {high:,}", name)
        return value

    def optional_count(self, name: str, *, high: int) -> int | None:
        """A whole number from 0 on; None where it is absent or null."""
        return None if self._members.get(name) is None else self.count(name, low=0, high=high)

    def items(self, name: str) -> list[Any]:
        """A list that must be there and have an item."""
        value = self._checked(self.value(name), (list, tuple), "a list", name)
        if not value:
            self.fail(f"The list {name!r} is empty", name)
        return list(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts that are not empty; none where it is absent."""
        value = self._checked(self._members.get(name, ()), (list, tuple), "a list of texts", name)
        for index, item in enumerate(value):
            if not self.as_text(item, name, index):
                self.fail(f"A text of {name!r} is empty", name, index)
        return tuple(dict.fromkeys(value))

    def values(self, name: str) -> list[Any]:
        """A list of anything; empty where it is absent."""
        return list(self._checked(self._members.get(name, ()), (list, tuple), "a list", name))

    def choice(self, name: str, options: tuple[str, ...]) -> str:
        """One of several texts, the first by default."""
        value = self._members.get(name, options[0])
        if value not in options:
            known = ", ".join(map(repr, options))
            self.fail(f"The field {name!r} is {_excerpt(value)}; it may be {known}", name)
        return str(value)

    def as_text(self, value: Any, *path: str | int) -> str:
        """A value that stands at `path`, which must be text that can be encoded."""
        text = self._checked(value, str, "text", *path)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("The text has half of a surrogate pair, which is no character", *path)
        return text

    def _checked(self, value: Any, kind: type[T] | tuple[type[T], ...], words: str, *path: str | int) -> T:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{path[0]!r} must be {words}, not {_kind(value)}", *path)
        return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = ((bool, "true or false"), (str, "text"), ((int, float), "a number"), ((list, tuple), "a list"))
    for kind, words in names:
        if isinstance(value, kind):
            return words
    return "an object" if isinstance(value, Mapping) else type(value).__name__


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
