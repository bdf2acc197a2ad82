"""Thoughts and answer told apart, however the text is cut."""

from __future__ import annotations

import pytest

from server.reasoning.splitter import ThoughtSplitter
from server.reasoning.thinking import KNOWN_MARKS, Thinking, ThinkingStart

IN_PROMPT, MAY_FOLLOW = ThinkingStart.IN_PROMPT, ThinkingStart.MAY_FOLLOW


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("start", "text", "thoughts", "answer"),
    [
        (MAY_FOLLOW, "<think>\nhm <b></thi</think>\n\nHi </think>", "\nhm <b></thi", "Hi </think>"),
        (MAY_FOLLOW, "\n<think>a</think>b", "a", "b"),
        (MAY_FOLLOW, "Hi", "", "Hi"),
        (MAY_FOLLOW, " <thin Hi", "", " <thin Hi"),
        (MAY_FOLLOW, "<thi", "", "<thi"),
        (MAY_FOLLOW, "", "", ""),
        (IN_PROMPT, "a</think>\nb", "a", "\nb"),
        (IN_PROMPT, "a</think>\n\n\nb", "a", "\nb"),
        (IN_PROMPT, "a</think>\n\n", "a", ""),
        (IN_PROMPT, "a</thi", "a</thi", ""),
        (IN_PROMPT, "</think>b", "", "b"),
    ],
)
def test_splitting(start: ThinkingStart, text: str, thoughts: str, answer: str, piece: int) -> None:
    splitter = ThoughtSplitter(Thinking(KNOWN_MARKS[0], start))
    parts = [splitter.feed(text[at : at + piece]) for at in range(0, len(text), piece)]
    parts.append(splitter.finish())
    assert "".join(part for part, _ in parts) == thoughts
    assert "".join(part for _, part in parts) == answer
