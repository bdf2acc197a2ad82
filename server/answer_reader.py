"""What the text of an answer consists of: thoughts, content and tool calls, as it is being written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from server.reasoning.splitter import ThoughtSplitter
from server.reasoning.thinking import Thinking
from server.tool_calls.events import CallEnded, CallStarted, Event, ReasoningDelta, TextDelta
from server.tool_calls.parser import ToolCallParser
from server.tool_calls.tools import ToolUse


@dataclass(frozen=True)
class AnswerForm:
    """How the answers to a request are to be read. Every choice has a reader of its own.

    `format` is that of the tool calls, if there may be any, or of the messages an answer consists of.
    """

    thinking: Thinking | None = None
    hides_thoughts: bool = False
    tools: ToolUse | None = None
    format: ToolCallFormat | None = None

    def reader(self) -> AnswerReader:
        return AnswerReader(self)


class AnswerReader:
    """Reads one answer.

    `thought_tokens` are those of the pieces that were read within the thoughts.
    """

    def __init__(self, form: AnswerForm) -> None:
        self._thoughts = ThoughtSplitter(form.thinking) if form.thinking else None
        self._hides_thoughts = form.hides_thoughts
        self._calls = _parser(form)
        self._is_named = form.tools is not None and form.tools.is_named
        self._unwanted = _unwanted(form)
        self._open_calls = 0
        self._has_calls = False
        self.thought_tokens = 0

    @property
    def ends_with_calls(self) -> bool:
        """Whether the answer is one or more whole calls, and the model's own choice to make them."""
        return self._has_calls and not self._open_calls and not self._is_named

    def feed(self, text: str, token_count: int = 0) -> list[Event]:
        """The events that this piece of the answer completes."""
        if self._thoughts is None:
            return self._read_answer(text)
        was_inside = self._thoughts.is_in_thoughts
        thoughts, answer = self._thoughts.feed(text)
        if was_inside or thoughts:
            self.thought_tokens += token_count
        return [*self._read_thoughts(thoughts), *self._read_answer(answer)]

    def finish(self) -> list[Event]:
        """The events of what was held back, when the answer has ended."""
        events: list[Event] = []
        if self._thoughts is not None:
            thoughts, answer = self._thoughts.finish()
            events = [*self._read_thoughts(thoughts), *self._read_answer(answer)]
        return events if self._calls is None else [*events, *self._note(self._calls.finish())]

    def _read_thoughts(self, text: str) -> Iterable[Event]:
        return [ReasoningDelta(text)] if text and not self._hides_thoughts else []

    def _read_answer(self, text: str) -> list[Event]:
        if not text:
            return []
        return [TextDelta(text)] if self._calls is None else self._note(self._calls.feed(text))

    def _note(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, CallStarted):
                self._has_calls = True
                self._open_calls += 1
            elif isinstance(event, CallEnded):
                self._open_calls -= 1
        return [event for event in events if not isinstance(event, self._unwanted)]


def _unwanted(form: AnswerForm) -> tuple[type[Event], ...]:
    """Where calls have to be made, what stands between them is no text for the user."""
    unwanted: list[type[Event]] = [ReasoningDelta] if form.hides_thoughts else []
    if form.tools and form.tools.must and form.format and form.format.answer is None:
        unwanted.append(TextDelta)
    return tuple(unwanted)


def _parser(form: AnswerForm) -> ToolCallParser | None:
    if form.format is None:
        return None
    tools = form.tools.tools if form.tools else ()
    functions: list[dict[str, Any]] = [tool.as_function() for tool in tools]
    return ToolCallParser(form.format, functions)
