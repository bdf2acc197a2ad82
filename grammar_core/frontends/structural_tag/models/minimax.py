"""MiniMax M2: a parameter a tag. MiniMax M3: tags all the way down, each after a marker."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK_AND_BLANK_LINE,
    CallField,
    Reasoning,
    Section,
    ToolCallFormat,
)

MINIMAX = ToolCallFormat(
    name="minimax",
    trigger="<minimax:tool_call>",
    call=('<invoke name="', CallField.NAME, '">\n', CallField.ARGUMENTS, "</invoke>\n"),
    argument_style="minimax_xml",
    section=Section("<minimax:tool_call>\n", "</minimax:tool_call>"),
    reasoning=THINK_AND_BLANK_LINE,
    templates=(("<minimax:tool_call>",),),
    names=("minimaxm2",),
)

_MARKER = "]<]minimax[>["

MINIMAX_M3 = ToolCallFormat(
    name="minimax_m3",
    trigger=f"{_MARKER}<tool_call>",
    call=(
        f'{_MARKER}<invoke name="',
        CallField.NAME,
        '">',
        CallField.ARGUMENTS,
        f"{_MARKER}</invoke>\n",
    ),
    argument_style="minimax_m3_xml",
    section=Section(f"{_MARKER}<tool_call>\n", f"{_MARKER}</tool_call>"),
    reasoning=Reasoning("<mm:think>", "</mm:think>"),
    reserved=(f"{_MARKER}</tool_call>", f"{_MARKER}<invoke", f"{_MARKER}</invoke>"),
    templates=((_MARKER,),),
    names=("minimaxm3",),
)
