"""Qwen 2.5 and 3, Hermes and their followers: JSON objects between tags."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK_AND_BLANK_LINE,
    CallObject,
    ToolCallFormat,
)

QWEN_3 = ToolCallFormat(
    name="qwen_3",
    trigger="<tool_call>",
    call=("<tool_call>\n", CallObject(), "\n</tool_call>"),
    separator="\n",
    reasoning=THINK_AND_BLANK_LINE,
    templates=(("<tool_call>", '"arguments"'), ("<tool_call>", "tool_call.arguments")),
    names=("qwen", "qwq", "hermes", "smollm3", "granite4"),
)
