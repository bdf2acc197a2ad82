"""What an answer must be and how it is to be read, decided from a request and the prompt it renders to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from server.answer_reader import AnswerForm
from server.constraints import ConfiguredGrammars, Constraint, requested_constraint
from server.constraints.options import loosened
from server.errors import invalid_request
from server.model_family import ModelFamily
from server.reasoning.message_source import MessageSource, covers_messages
from server.reasoning.request import disables_thinking, template_kwargs
from server.reasoning.source import ThoughtfulSource, covers_thoughts
from server.reasoning.thinking import Thinking, thinking_in_answer
from server.schemas.chat_request import ChatCompletionRequest
from server.tool_calls.source import ToolCallSource
from server.tool_calls.tools import OfferedTool, ToolUse, requested_tools


@dataclass(frozen=True)
class Wish:
    """What a request asks for, before its prompt is known."""

    constraint: Constraint | None
    tools: ToolUse | None
    template_kwargs: dict[str, Any]

    @property
    def offered(self) -> tuple[OfferedTool, ...]:
        """The tools that the prompt tells the model of."""
        return self.tools.tools if self.tools else ()


@dataclass(frozen=True)
class AnswerPlan:
    """The constraint of the whole text, thoughts and calls included, and how that text is to be read."""

    constraint: Constraint | None
    form: AnswerForm
    shown_tokens: Mapping[int, bytes] = field(default_factory=dict)


class AnswerPlanner:
    """Plans the answers of one model."""

    def __init__(self, family: ModelFamily, template: str, configured: ConfiguredGrammars) -> None:
        self._family = family
        self._template = template
        self._configured = configured
        self._has_messages = family.format.has_messages

    def wish(self, request: ChatCompletionRequest) -> Wish:
        """Raises ApiError, 400, for constraints, tools and reasoning fields that cannot be together."""
        constraint = requested_constraint(request, self._configured, has_tools=bool(request.tools))
        tools = requested_tools(request, constraint)
        if self._family.marks is None and request.thinking_token_budget not in (None, -1):
            message = "This model does not think: its chat template knows no marks of thoughts."
            raise invalid_request(message, param="thinking_token_budget", code="unsupported_parameter")
        return Wish(constraint, tools, template_kwargs(request, self._template))

    def plan(self, request: ChatCompletionRequest, wish: Wish, prompt: str) -> AnswerPlan:
        thinking = thinking_in_answer(
            self._family.marks, prompt, is_disabled=disables_thinking(request, wish.template_kwargs)
        )
        form = AnswerForm(
            thinking=thinking,
            hides_thoughts=request.include_reasoning is False,
            tools=wish.tools,
            format=self._family.format if wish.tools or self._has_messages else None,
        )
        shown = self._family.shown_tokens if thinking or form.format else {}
        return AnswerPlan(self._constraint(request, wish, thinking), form, shown)

    def _constraint(
        self, request: ChatCompletionRequest, wish: Wish, thinking: Thinking | None
    ) -> Constraint | None:
        constraint = wish.constraint
        if wish.tools is not None:
            constraint = Constraint("tools", self._tool_source(request, wish.tools))
        elif constraint is not None and self._has_messages:
            constraint = self._in_messages(constraint)
        budget = request.thinking_token_budget
        budget = None if budget == -1 else budget
        if thinking is None or (constraint is None and budget is None):
            return constraint
        if constraint is not None and covers_thoughts(constraint.source, thinking):
            return constraint
        thoughtful = ThoughtfulSource(constraint.source if constraint else None, thinking, budget)
        return Constraint(constraint.param if constraint else "thinking_token_budget", thoughtful)

    def _in_messages(self, constraint: Constraint) -> Constraint:
        if covers_messages(constraint.source, self._family.format):
            return constraint
        return replace(constraint, source=MessageSource(constraint.source, self._family.format))

    def _tool_source(self, request: ChatCompletionRequest, tools: ToolUse) -> ToolCallSource:
        keywords = loosened(request.guided_json_loosen or [], "guided_json_loosen")
        whitespace = request.guided_whitespace_pattern
        if whitespace is None:
            return ToolCallSource(self._family.format, tools, keywords)
        return ToolCallSource(self._family.format, tools, keywords, whitespace)
