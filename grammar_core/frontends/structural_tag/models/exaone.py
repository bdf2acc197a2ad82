"""EXAONE 4: as Hermes, without line breaks."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    THINK_AND_BLANK_LINE,
    CallObject,
    ToolCallFormat,
)

EXAONE = ToolCallFormat(
    name="exaone",
    trigger="<tool_call>",
    call=("<tool_call>", CallObject(), "</tool_call>"),
    separator="\n",
    reasoning=THINK_AND_BLANK_LINE,
    templates=(("[|assistant|]", "<tool_call>"),),
    names=("exaone",),
)
