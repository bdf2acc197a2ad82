"""Llama 3.1 to 3.3: bare JSON objects."""

from grammar_core.frontends.structural_tag.models.tool_call_format import CallObject, ToolCallFormat

LLAMA = ToolCallFormat(
    name="llama",
    trigger='{"name": ',
    call=(CallObject("name", "parameters"),),
    separator="; ",
    reserved=("<think>", "</think>"),
    templates=(('{"name": function name, "parameters":',),),
    tokens=("<|python_tag|>", "<|eom_id|>"),
    names=("llama3", "metallama3"),
)
