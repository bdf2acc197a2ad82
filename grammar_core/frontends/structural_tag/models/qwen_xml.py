"""Qwen3-Coder, Qwen 3.5, MiMo and Seed-OSS: a parameter a tag."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK_AND_BLANK_LINE,
    CallField,
    Reasoning,
    ToolCallFormat,
)

QWEN_3_CODER = ToolCallFormat(
    name="qwen_3_coder",
    trigger="<tool_call>\n<function=",
    call=(
        "<tool_call>\n<function=",
        CallField.NAME,
        ">\n",
        CallField.ARGUMENTS,
        "\n</function>\n</tool_call>",
    ),
    argument_style="qwen_xml",
    separator="\n",
    reasoning=THINK_AND_BLANK_LINE,
    templates=(("<tool_call>\\n<function=", "<parameter="), ("<tool_call>\n<function=", "<parameter=")),
    names=("qwen3coder", "qwen35", "qwen36", "nemotron3"),
)
"""Of Qwen 3.5 too, where it is called `qwen_3_5`."""

MIMO = ToolCallFormat(
    name="mimo",
    trigger="<tool_call>",
    call=(
        "<tool_call><function=",
        CallField.NAME,
        ">",
        CallField.ARGUMENTS,
        "</function></tool_call>",
    ),
    argument_style="qwen_xml",
    reasoning=Reasoning("<think>", "</think>", is_opened_by_prompt=False),
    reserved=("</tool_call>", "<function="),
    templates=(("<tool_call><function=", "<parameter="),),
    names=("mimo",),
)

SEED_OSS = ToolCallFormat(
    name="seed_oss",
    trigger="<seed:tool_call>",
    call=(
        "<seed:tool_call>\n<function=",
        CallField.NAME,
        ">\n",
        CallField.ARGUMENTS,
        "\n</function>\n</seed:tool_call>",
    ),
    argument_style="qwen_xml",
    reasoning=Reasoning("<seed:think>", "</seed:think>"),
    templates=(("<seed:tool_call>",),),
    names=("seedoss",),
)
