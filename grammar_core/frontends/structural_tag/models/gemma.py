"""Gemma 4: objects with bare keys and strings between tokens."""

from grammar_core.frontends.structural_tag.models.tool_call_format import CallField, Reasoning, ToolCallFormat

GEMMA_4 = ToolCallFormat(
    name="gemma_4",
    trigger="<|tool_call>",
    call=("<|tool_call>call:", CallField.NAME, CallField.ARGUMENTS, "<tool_call|>"),
    argument_style="gemma",
    reasoning=Reasoning("<|channel>thought\n", "<channel|>", is_opened_by_prompt=False),
    reserved=("<|channel>", "<tool_call|>"),
    templates=(("<|tool_call>",),),
    tokens=("<|tool_call>", "<tool_call|>"),
    names=("gemma4",),
)
