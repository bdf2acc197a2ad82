"""The processor time that building a grammar may take, and the way to end it from another thread.

A compile begins a deadline on its thread. Whatever works for it calls `check` in every loop whose length
the author of a grammar decides, and `check_now` around pieces that may take a millisecond or more; the native
core looks at the same deadline. Where none has begun, they do nothing. An expired deadline raises at every
further look, so code that catches errors of grammars goes no further; where it would take them for an answer,
it looks first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from grammar_core import _native

Cancellation = _native.Cancellation
"""`cancel()` ends the compile that was given it, in whatever thread it runs, with CancelledError."""

check = _native.check_deadline
"""Raise GrammarLimitError or CancelledError where this thread's deadline is over; about 30 ns."""

check_now = _native.check_deadline_now
"""As `check`, but at once: that one looks at the clock every 64th time only."""


class CancelledError(RuntimeError):
    """The compile was given up, because nobody waits for it. Says nothing about the grammar."""


@contextmanager
def deadline(seconds: float, cancellation: Cancellation | None = None) -> Iterator[None]:
    """What is done inside, on this thread, takes at most `seconds` of its processor time.

    Beyond that it ends with GrammarLimitError of the limit "time". Of deadlines inside one another the inner
    one counts.
    """
    native = _native.Deadline(seconds, cancellation)
    native.begin()
    try:
        check_now()
        yield
    finally:
        native.end()
