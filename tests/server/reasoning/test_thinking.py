"""Whether an answer begins with thoughts, by the chat template and the prompt it renders."""

from __future__ import annotations

import pytest

from grammar_core.frontends.structural_tag.models.tool_call_format import Reasoning
from server.reasoning.thinking import ThinkingStart, thinking_in_answer, thinking_marks

MARKS = thinking_marks("… content.split('</think>') …", None)


def test_marks_are_those_of_the_template() -> None:
    assert Reasoning("<think>", "</think>", "\n\n") == MARKS
    assert thinking_marks("nothing of the kind", None) is None
    assert thinking_marks("{{ '[THINK]' }}{{ '[/THINK]' }}", None) == Reasoning("[THINK]", "[/THINK]")


def test_marks_of_the_family_come_first() -> None:
    of_family = Reasoning("<think>", "</think>", "\n")
    assert thinking_marks("</think>", of_family) == of_family
    assert thinking_marks("no thoughts", of_family) is None


@pytest.mark.parametrize(
    ("prompt", "is_disabled", "start"),
    [
        ("<|user|>hi<|assistant|>", False, ThinkingStart.MAY_FOLLOW),
        ("<|user|>hi<|assistant|>", True, None),
        ("<|assistant|><think>\n", False, ThinkingStart.IN_PROMPT),
        ("<|assistant|><think>\n", True, ThinkingStart.IN_PROMPT),
        ("<|assistant|><think>\n\n</think>\n\n", False, None),
        ("<|assistant|></think>", False, None),
        ("<|user|>what is <think>?<|assistant|>", False, ThinkingStart.MAY_FOLLOW),
    ],
)
def test_the_prompts_end_decides(prompt: str, is_disabled: bool, start: ThinkingStart | None) -> None:
    thinking = thinking_in_answer(MARKS, prompt, is_disabled=is_disabled)
    assert (thinking.start if thinking else None) == start


def test_model_that_does_not_think() -> None:
    assert thinking_in_answer(None, "<think>", is_disabled=False) is None
