"""Cohere's Command A+: values in a markup that names their types."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    Reasoning,
    Section,
    ToolCallFormat,
)

COHERE = ToolCallFormat(
    name="cohere",
    trigger="<cofl:tool_calls>",
    call=(
        '<cofl:tool_call id="',
        CallField.INDEX,
        '" name="',
        CallField.NAME,
        '">',
        CallField.ARGUMENTS,
        "</cofl:tool_call>",
    ),
    argument_style="cohere_xml",
    section=Section("<cofl:tool_calls>", "</cofl:tool_calls>"),
    reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
    call_id="{index}",
    templates=(("<cofl:",),),
    names=("cohere",),
)
