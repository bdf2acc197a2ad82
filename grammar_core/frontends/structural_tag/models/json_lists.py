"""Families whose calls are the objects of one JSON list: Granite 3, Phi-4-mini, Jamba, Hunyuan, Command R."""

from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallObject,
    Reasoning,
    Section,
    ToolCallFormat,
)

GRANITE = ToolCallFormat(
    name="granite",
    trigger="<|tool_call|>",
    call=(CallObject(),),
    section=Section("<|tool_call|>[", "]", ", "),
    templates=(("<|tool_call|>", "<|start_of_role|>"),),
    names=("granite",),
)

PHI_4_MINI = ToolCallFormat(
    name="phi_4_mini",
    trigger="functools[",
    call=(CallObject(),),
    section=Section("functools[", "]", ", "),
    templates=(("functools[",), ("<|tool|>", "<|/tool|>")),
    names=("phi4mini",),
)

JAMBA = ToolCallFormat(
    name="jamba",
    trigger="<tool_calls>",
    call=(CallObject(),),
    section=Section("<tool_calls>[", "]</tool_calls>", ", "),
    templates=(("<tool_calls>",),),
    names=("jamba", "ai21jamba", "hunyuan"),
)

COMMAND_R = ToolCallFormat(
    name="command_r",
    trigger="<|START_ACTION|>",
    call=(CallObject("tool_name", "parameters", "tool_call_id"),),
    section=Section("<|START_ACTION|>[", "]<|END_ACTION|>", ", "),
    reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
    silent=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    templates=(("<|START_ACTION|>",),),
    names=("c4aicommand", "commandr", "commanda"),
)
