"""Harmony, of gpt-oss: thoughts, answer and calls are messages, each with a header."""

from __future__ import annotations

from typing import Any

from grammar_core.frontends.structural_tag.models import tag_building as build
from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan
from grammar_core.frontends.structural_tag.models.tool_call_format import CallField, ToolCallFormat

_NEXT = "<|start|>assistant"
_HEADERS = (
    ("<|channel|>commentary to=functions.", "<|constrain|>json<|message|>"),
    ("<|channel|>commentary to=functions.", " <|constrain|>json<|message|>"),
    (" to=functions.", "<|channel|>commentary <|constrain|>json<|message|>"),
    (" to=functions.", "<|channel|>commentary json<|message|>"),
)
"""How the header of a call is written, before and behind the tool's name."""


def _harmony_answer(format: ToolCallFormat, plan: AnswerPlan) -> dict[str, Any]:
    """Messages that are followed by the beginning of the next one, and then the final one, or calls."""
    text = build.any_text()
    thoughts = (
        [] if plan.reasoning == "disabled" else [build.tag("<|channel|>analysis<|message|>", text, "<|end|>")]
    )
    preambles = (
        [build.tag("<|channel|>commentary<|message|>", text, "<|end|>")] if plan.calls == "auto" else []
    )
    final = build.tag("<|channel|>final<|message|>", text, ["<|return|>", "<|end|>"])
    calls = [
        build.tag(f"{before}{tool.name}{behind}", build.arguments(format, tool, plan), "<|call|>")
        for tool in plan.tools
        for before, behind in _HEADERS
    ]
    going_on = [*thoughts, *preambles]
    last = {"none": [final], "auto": [final, *calls]}.get(plan.calls, calls)
    is_single = not plan.is_parallel or plan.calls == "one"
    ending: dict[str, Any] = {
        "type": "tags_with_separator",
        "tags": last,
        "separator": _NEXT,
        "at_least_one": True,
        "stop_after_first": is_single or plan.calls == "none",
    }
    if not going_on:
        return ending
    before = build.sequence({"type": "or", "elements": going_on}, build.const(_NEXT))
    return build.sequence({"type": "star", "content": before}, ending)


HARMONY = ToolCallFormat(
    name="harmony",
    trigger="<|channel|>",
    call=(
        "<|channel|>commentary to=functions.",
        CallField.NAME,
        "<|constrain|>json<|message|>",
        CallField.ARGUMENTS,
        "<|call|>",
    ),
    has_messages=True,
    answer=_harmony_answer,
    templates=(("<|channel|>", "<|message|>"),),
    tokens=("<|channel|>", "<|message|>", "<|constrain|>"),
    names=("gptoss",),
)
