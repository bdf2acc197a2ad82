"""Kimi K2: calls with an index, in a section. Kimi K3: everything between pairs of one markup."""

from __future__ import annotations

from typing import Any

from grammar_core.frontends.structural_tag.models import tag_building as build
from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan
from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK,
    CallField,
    Reasoning,
    Section,
    ToolCallFormat,
)

KIMI = ToolCallFormat(
    name="kimi",
    trigger="<|tool_calls_section_begin|>",
    call=(
        "<|tool_call_begin|>functions.",
        CallField.NAME,
        ":",
        CallField.INDEX,
        "<|tool_call_argument_begin|>",
        CallField.ARGUMENTS,
        "<|tool_call_end|>",
    ),
    section=Section("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    reasoning=THINK,
    call_id="functions.{name}:{index}",
    reserved=("<|tool_call_begin|>",),
    templates=(("<|tool_calls_section_begin|>",),),
    tokens=("<|tool_calls_section_begin|>",),
    names=("kimik2",),
)

_RESPONSE_BEGIN = "<|open|>response<|sep|>"
_RESPONSE_END = "<|close|>response<|sep|>"
_MESSAGE_END = "<|close|>message<|sep|>"


def _kimi_k3_answer(format: ToolCallFormat, plan: AnswerPlan) -> dict[str, Any]:
    """Thoughts, a response, which may be empty, and a section of calls."""
    text = build.any_text("<|open|>", "<|close|>")
    begin = build.const(_RESPONSE_BEGIN)
    if plan.reasoning == "disabled":
        # A prompt that asks for no thoughts ends with the beginning of the response.
        begin = {"type": "optional", "content": begin}
    parts = [*build.thoughts(format, plan), begin, build.tag("", text, _RESPONSE_END)]
    if plan.calls != "none":
        assert format.section is not None
        calls = [build.call_tag(format, tool, plan) for tool in plan.tools]
        section = build.section_tag(format.section, calls, not plan.is_parallel or plan.calls == "one")
        parts.append({"type": "optional", "content": section} if plan.calls == "auto" else section)
    return build.sequence(*parts, build.const(_MESSAGE_END))


KIMI_K3 = ToolCallFormat(
    name="kimi_k3",
    trigger="<|open|>tools<|sep|>",
    call=(
        '<|open|>call tool="',
        CallField.NAME,
        '" index="',
        CallField.INDEX,
        '"<|sep|>',
        CallField.ARGUMENTS,
        "<|close|>call<|sep|>",
    ),
    argument_style="kimi_k3_xml",
    section=Section("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    reasoning=Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    call_id="{name}:{index}",
    reserved=("<|open|>", "<|close|>", "<|sep|>"),
    silent=(_RESPONSE_BEGIN, _RESPONSE_END, _MESSAGE_END),
    answer=_kimi_k3_answer,
    templates=(("<|open|>", "<|sep|>"),),
    tokens=("<|open|>", "<|sep|>", "<|close|>"),
    names=("kimik3",),
)
