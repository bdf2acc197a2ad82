"""Whether the answer to a prompt begins with thoughts, and what encloses them."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from grammar_core.frontends.structural_tag.models.tool_call_format import Reasoning


class ThinkingStart(enum.Enum):
    IN_PROMPT = "in_prompt"
    """The prompt ends within the thoughts."""
    MAY_FOLLOW = "may_follow"
    """The answer may begin with the mark of thoughts."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The marks that enclose thoughts, and where these begin."""

    marks: Reasoning
    start: ThinkingStart


# Of models whose tool calls are not known.
KNOWN_MARKS = (
    Reasoning("<think>", "</think>", "\n\n"),
    Reasoning("<seed:think>", "</seed:think>"),
    Reasoning("[THINK]", "[/THINK]"),
)


def thinking_marks(chat_template: str, of_format: Reasoning | None) -> Reasoning | None:
    """The marks of a model's thoughts; None for a model whose chat template does not speak of thoughts.

    `of_format` are those of its family, which say best what follows the thoughts.
    """
    known = KNOWN_MARKS if of_format is None else (of_format, *KNOWN_MARKS)
    return next((marks for marks in known if marks.end in chat_template), None)


def thinking_in_answer(marks: Reasoning | None, prompt: str, *, is_disabled: bool) -> Thinking | None:
    """Where the thoughts of the answer to `prompt` begin; None if there are none.

    A template that opens or closes the thoughts itself decides. Otherwise the model does, unless the request
    has disabled thinking.
    """
    if marks is None:
        return None
    ending = prompt.rstrip()
    if ending.endswith(marks.begin):
        return Thinking(marks, ThinkingStart.IN_PROMPT)
    if ending.endswith(marks.end) or is_disabled:
        return None
    return Thinking(marks, ThinkingStart.MAY_FOLLOW)
