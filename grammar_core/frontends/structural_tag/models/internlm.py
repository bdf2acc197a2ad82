"""InternLM 2.5 and 3: JSON objects in an action."""

from grammar_core.frontends.structural_tag.models.tool_call_format import CallObject, ToolCallFormat

INTERNLM = ToolCallFormat(
    name="internlm",
    trigger="<|action_start|>",
    call=("<|action_start|><|plugin|>\n", CallObject("name", "parameters"), "<|action_end|>"),
    templates=(("<|action_start|>",),),
    tokens=("<|action_start|>", "<|plugin|>"),
    names=("internlm",),
)
