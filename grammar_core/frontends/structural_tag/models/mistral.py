"""Mistral: a JSON list after a token; since version 11 of its tokenizer tokens around name and arguments."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    CallObject,
    Section,
    ToolCallFormat,
)

MISTRAL = ToolCallFormat(
    name="mistral",
    trigger="[TOOL_CALLS]",
    call=(CallObject(),),
    section=Section("[TOOL_CALLS] [", "]", ", "),
    templates=(("[TOOL_CALLS]",),),
    tokens=("[TOOL_CALLS]",),
    names=("mistral", "mixtral", "ministral"),
)

MISTRAL_V11 = ToolCallFormat(
    name="mistral_v11",
    trigger="[TOOL_CALLS]",
    call=(
        "[TOOL_CALLS]",
        CallField.NAME,
        "[CALL_ID]",
        CallField.CALL_ID,
        "[ARGS]",
        CallField.ARGUMENTS,
    ),
    call_id="{index}",
    templates=(("[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"),),
    names=("mistralsmall32",),
)

MISTRAL_V13 = ToolCallFormat(
    name="mistral_v13",
    trigger="[TOOL_CALLS]",
    call=("[TOOL_CALLS]", CallField.NAME, "[ARGS]", CallField.ARGUMENTS),
    templates=(("[TOOL_CALLS]", "[ARGS]"),),
    tokens=("[TOOL_CALLS]", "[ARGS]"),
    names=("devstral", "magistral", "mistralmedium31", "mistrallarge3", "ministral3"),
)
