"""Text that arrives in pieces, for readers that are written as if all of it were there."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]
"""A reader: it yields whenever it needs more text than has come, and returns what it read."""


class EndOfTextError(Exception):
    """The text ended before what the reader looked for."""


class MismatchError(Exception):
    """The text is not what the reader looked for."""


class TextSource:
    """The text that has come. Readers look at it from `at` on and move `at` over what they have read.

    What was read is forgotten when more text comes, but for what stands behind `mark`.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.is_finished = False
        self._mark: int | None = None

    def add(self, piece: str) -> None:
        """More text has come. Positions in `text` change, and so `at` does."""
        begin = self.at if self._mark is None else self._mark
        self.text = self.text[begin:] + piece
        self.at -= begin
        if self._mark is not None:
            self._mark = 0

    def mark(self) -> None:
        """Remember this place, for `return_to_mark`."""
        self._mark = self.at

    def return_to_mark(self) -> None:
        """Go back to where `mark` was called last; the mark stays."""
        assert self._mark is not None
        self.at = self._mark

    def marked_text(self) -> str:
        """What was read since the mark."""
        return "" if self._mark is None else self.text[self._mark : self.at]

    def forget_mark(self) -> None:
        self._mark = None

    def find(self, text: str) -> int:
        """The position of the next occurrence among what has come, or -1."""
        return self.text.find(text, self.at)

    def more(self) -> Reading[None]:
        """Wait for text beyond what has come. Raises EndOfTextError if there will be none."""
        unread = len(self.text) - self.at
        while len(self.text) - self.at == unread:
            if self.is_finished:
                raise EndOfTextError
            yield

    def peek(self) -> Reading[str]:
        """The next character, which stays unread."""
        while self.at >= len(self.text):
            yield from self.more()
        return self.text[self.at]

    def skip_space(self) -> Reading[str]:
        """The next character that is no white space, which stays unread."""
        while (yield from self.peek()).isspace():
            self.at += 1
        return self.text[self.at]

    def literal(self, literal: str) -> Reading[None]:
        """Read this text; white space in it and before it may be any or none. Raises MismatchError."""
        for expected in literal:
            if expected.isspace():
                continue
            if (yield from self.skip_space()) != expected:
                raise MismatchError(literal)
            self.at += 1

    def next_is(self, literal: str) -> Reading[bool]:
        """Whether this text comes next, as for `literal`; it is read if it does. Forgets the mark."""
        self.mark()
        try:
            yield from self.literal(literal)
        except MismatchError:
            self.return_to_mark()
            return False
        finally:
            self.forget_mark()
        return True

    def collect(self, *markers: str) -> Reading[str]:
        """The text before the first of the markers, which is read as well."""
        pieces: list[str] = []
        yield from self.until(markers, pieces.append)
        return "".join(pieces)

    def until(self, markers: tuple[str, ...], emit: Callable[[str], None]) -> Reading[str]:
        """Emit the text before the first of the markers as it comes; read and return the marker.

        Where the text ends first, all of it is emitted and EndOfTextError raised.
        """
        while True:
            found = [(where, -len(m), m) for m in markers if (where := self.text.find(m, self.at)) >= 0]
            end = min(found)[0] if found else len(self.text) - held_back(self.text, self.at, markers)
            self.emit_to(end, emit)
            if found:
                marker = min(found)[2]
                self.at += len(marker)
                return marker
            try:
                yield from self.more()
            except EndOfTextError:
                self.emit_to(len(self.text), emit)
                raise

    def emit_to(self, end: int, emit: Callable[[str], None]) -> None:
        """Emit what stands before position `end`, if anything does, and read it."""
        if end > self.at:
            piece = self.text[self.at : end]
            self.at = end
            emit(piece)


def held_back(text: str, begin: int, markers: tuple[str, ...]) -> int:
    """How many characters at the end of `text[begin:]` may be the beginning of a marker."""
    longest = max(map(len, markers)) - 1
    for start in range(max(begin, len(text) - longest), len(text)):
        if any(marker.startswith(text[start:]) for marker in markers):
            return len(text) - start
    return 0
