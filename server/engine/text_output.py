"""From token ids to text: whole characters only, and nothing of a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from types import MappingProxyType


class TextOutput:
    """Collects the tokens of one answer and gives out its text as early as it is certain.

    `vocabulary` maps ids to bytes; control tokens have none and so do not show, unless `shown_tokens` has
    bytes for them. A character split over tokens is held back until it is complete; bytes that can never
    become one turn into U+FFFD. Text that may be the beginning of a stop string is held back as well, and
    no more than that. With `includes_stop` the stop string that is found is given out too.
    """

    def __init__(
        self,
        vocabulary: Sequence[bytes],
        stop: tuple[str, ...] = (),
        shown_tokens: Mapping[int, bytes] = MappingProxyType({}),
        *,
        includes_stop: bool = False,
    ) -> None:
        self._vocabulary = vocabulary
        self._shown_tokens = shown_tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = stop
        self._includes_stop = includes_stop
        self._held = ""
        self.stopped_by: str | None = None

    def push(self, token_id: int, *, may_stop: bool = True) -> str:
        """The text that has become certain. After a stop string (see `stopped_by`) push no more.

        What was pushed while it might not stop is no part of a stop string later.
        """
        self._held += self._decoder.decode(self._shown_tokens.get(token_id) or self._vocabulary[token_id])
        if not may_stop:
            return self._release(len(self._held))
        found = _earliest(self._held, self._stop)
        if found is not None:
            start, self.stopped_by = found
            return self._release(start + len(self.stopped_by) if self._includes_stop else start)
        return self._release(len(self._held) - _open_ending(self._held, self._stop))

    def flush(self) -> str:
        """What is still held back, at the end of the answer; an incomplete character is dropped."""
        if self.stopped_by is not None:
            return ""
        return self._release(len(self._held))

    def _release(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text


def _earliest(text: str, stop: tuple[str, ...]) -> tuple[int, str] | None:
    """The stop string that is complete first, and where it begins; of those the one that begins first."""
    matches = [(start + len(s), start, s) for s in stop if (start := text.find(s)) >= 0]
    if not matches:
        return None
    _, start, found = min(matches)
    return start, found


def _open_ending(text: str, stop: tuple[str, ...]) -> int:
    """Length of the longest ending of `text` that is the beginning of a stop string."""
    longest = 0
    for string in stop:
        for length in range(min(len(string) - 1, len(text)), longest, -1):
            if text.endswith(string[:length]):
                longest = length
                break
    return longest
