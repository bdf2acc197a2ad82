"""GLM 4.5 to 4.7: the name, then pairs of keys and values."""

from grammar_core.frontends.structural_tag.models.tool_call_format import THINK, CallField, ToolCallFormat

GLM_4_7 = ToolCallFormat(
    name="glm_4_7",
    trigger="<tool_call>",
    call=("<tool_call>", CallField.NAME, CallField.ARGUMENTS, "</tool_call>"),
    argument_style="glm_xml",
    separator="\n",
    reasoning=THINK,
    reserved=("</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    templates=(("<arg_key>", "<arg_value>"),),
    tokens=("<arg_key>", "<arg_value>"),
    names=("glm4", "glm5"),
)
