"""Tells thoughts and answer apart, piece by piece."""

from __future__ import annotations

from server.reasoning.thinking import Thinking, ThinkingStart


class ThoughtSplitter:
    """Reads the text of one answer. The marks around the thoughts, and what is known to follow them, are
    part of neither."""

    def __init__(self, thinking: Thinking) -> None:
        self._marks = thinking.marks
        self._read = self._inside if thinking.start is ThinkingStart.IN_PROMPT else self._before
        self._held = ""

    @property
    def is_in_thoughts(self) -> bool:
        return self._read == self._inside

    def feed(self, text: str) -> tuple[str, str]:
        """What this piece adds to the thoughts and to the answer."""
        self._held += text
        thoughts, answer = "", ""
        reading = None
        while reading != self._read:  # what a mark ends, another state goes on with
            reading = self._read
            more_thoughts, more_answer = self._read()
            thoughts += more_thoughts
            answer += more_answer
        return thoughts, answer

    def finish(self) -> tuple[str, str]:
        """What was held back, at the end of the answer."""
        held, self._held = self._held, ""
        return (held, "") if self.is_in_thoughts else ("", held)

    def _before(self) -> tuple[str, str]:
        text = self._held.lstrip()
        begin = self._marks.begin
        if text.startswith(begin):
            self._held = text[len(begin) :]
            self._read = self._inside
        elif not begin.startswith(text):
            self._read = self._after_all
        return "", ""

    def _inside(self) -> tuple[str, str]:
        thoughts, mark, rest = self._held.partition(self._marks.end)
        if mark:
            self._held = rest
            self._read = self._between
            return thoughts, ""
        kept = len(thoughts) - _open_ending(thoughts, self._marks.end)
        self._held = thoughts[kept:]
        return thoughts[:kept], ""

    def _between(self) -> tuple[str, str]:
        after = self._marks.after
        if self._held.startswith(after):
            self._held = self._held[len(after) :]
            self._read = self._after_all
        elif not after.startswith(self._held):
            self._read = self._after_all
        return "", ""

    def _after_all(self) -> tuple[str, str]:
        answer, self._held = self._held, ""
        return "", answer


def _open_ending(text: str, mark: str) -> int:
    """Length of the longest ending of `text` that is the beginning of `mark`, and not all of it."""
    lengths = range(min(len(mark) - 1, len(text)), 0, -1)
    return next((length for length in lengths if text.endswith(mark[:length])), 0)
