"""What the rules of a request's grammar have captured, within a limit."""

from __future__ import annotations

from server.engine.request import Fault
from server.engine.sequence import Sequence

Captures = tuple[tuple[str, bytes], ...]

# Nested captures repeat their text: a short answer may have gigabytes of them.
MAX_CAPTURE_BYTES = 8 << 20
_BYTES_AROUND_CAPTURE = 32  # what the answer needs for each, besides name and text


def captures_of(sequence: Sequence) -> Captures | None:
    """What the rules have captured so far, if the request wants to know."""
    if sequence.matcher is None or not sequence.request.return_captures:
        return None
    return tuple(sequence.matcher.get_captures())


def excess_of(captures: Captures | None) -> Fault | None:
    """What is wrong with captures that are too large to be sent."""
    size = sum(len(name) + len(value) + _BYTES_AROUND_CAPTURE for name, value in captures or ())
    if size <= MAX_CAPTURE_BYTES:
        return None
    return Fault(f"The captures take {size:,} bytes; the limit is {MAX_CAPTURE_BYTES:,}.", "grammar_limit")
