"""Builds the structural tag of an answer: thoughts, free text and calls as a family of models writes them."""

from __future__ import annotations

import json
from typing import Any

from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan, FunctionTool
from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    CallObject,
    CallPart,
    Section,
    ToolCallFormat,
)

Format = dict[str, Any]

_INDEX = {"type": "regex", "pattern": "[0-9]+"}
_CALL_ID = {"type": "regex", "pattern": "[0-9A-Za-z]{9}"}


def answer_tag(format: ToolCallFormat, plan: AnswerPlan) -> Format:
    """The whole answer as a structural tag."""
    if format.answer is not None:
        return {"type": "structural_tag", "format": format.answer(format, plan)}
    parts = [*thoughts(format, plan), _after_thoughts(format, plan)]
    return {"type": "structural_tag", "format": parts[0] if len(parts) == 1 else sequence(*parts)}


def thoughts(format: ToolCallFormat, plan: AnswerPlan) -> list[Format]:
    """The thoughts before the answer: none or one format."""
    if format.reasoning is None or plan.reasoning == "disabled":
        return []
    begin, end, after = format.reasoning.begin, format.reasoning.end, format.reasoning.after
    inside = any_text(*_reserved(format), format.trigger)
    if plan.reasoning == "enabled":
        begin = "" if format.reasoning.is_opened_by_prompt else begin
        return [_followed(tag(begin, inside, end), after)]
    return [{"type": "optional", "content": _followed(tag(begin, inside, end), after)}]


def _followed(format: Format, text: str) -> Format:
    return sequence(format, const(text)) if text else format


def _after_thoughts(format: ToolCallFormat, plan: AnswerPlan) -> Format:
    if plan.calls == "none":
        return any_text(*_reserved(format), format.trigger)
    calls = [call_tag(format, tool, plan) for tool in plan.tools]
    is_single = not plan.is_parallel or plan.calls == "one"
    if format.section is not None:
        calls = [section_tag(format.section, calls, is_single)]
    if plan.calls == "one" or (plan.calls == "required" and format.section is not None):
        return sequence(const(format.lead), calls[0]) if format.lead else calls[0]
    return {
        "type": "triggered_tags",
        "triggers": [format.trigger],
        "tags": calls,
        "excludes": list(_reserved(format)),
        "at_least_one": plan.calls == "required",
        "stop_after_first": is_single,
    }


def section_tag(section: Section, calls: list[Format], is_single: bool) -> Format:
    """All calls of an answer in their section."""
    content = {
        "type": "tags_with_separator",
        "tags": calls,
        "separator": section.separator,
        "at_least_one": True,
        "stop_after_first": is_single,
    }
    return tag(section.begin, content, section.end)


def call_tag(format: ToolCallFormat, tool: FunctionTool, plan: AnswerPlan) -> Format:
    """One call of the tool, as a tag whose begin and end are what is fixed at both sides."""
    parts: list[str | Format] = []
    for part in format.call:
        for piece in _call_part(part, format, tool, plan):
            if isinstance(piece, str) and parts and isinstance(parts[-1], str):
                parts[-1] += piece
            else:
                parts.append(piece)
    begin = parts.pop(0) if isinstance(parts[0], str) else ""
    end = parts.pop() if isinstance(parts[-1], str) else ""
    content = [const(part) if isinstance(part, str) else part for part in parts]
    assert isinstance(begin, str)
    assert isinstance(end, str)
    return tag(begin, content[0] if len(content) == 1 else sequence(*content), end)


def _call_part(
    part: CallPart, format: ToolCallFormat, tool: FunctionTool, plan: AnswerPlan
) -> list[str | Format]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, CallObject):
        return _call_object(part, arguments(format, tool, plan), tool)
    pieces: dict[CallField, str | Format] = {
        CallField.NAME: tool.name,
        CallField.INDEX: _INDEX,
        CallField.CALL_ID: _CALL_ID,
        CallField.ARGUMENTS: arguments(format, tool, plan),
    }
    return [pieces[part]]


def _call_object(keys: CallObject, arguments: Format, tool: FunctionTool) -> list[str | Format]:
    begin: list[str | Format] = ["{"]
    if keys.id_key is not None:
        begin += [f'"{keys.id_key}": "', _INDEX, '", ']
    name = json.dumps(tool.name, ensure_ascii=False)
    return [*begin, f'"{keys.name_key}": {name}, "{keys.arguments_key}": ', arguments, "}"]


def arguments(format: ToolCallFormat, tool: FunctionTool, plan: AnswerPlan) -> Format:
    """The arguments of a call of the tool."""
    schema: Format = {"type": "json_schema", "json_schema": tool.parameters, **plan.schema_options}
    if format.argument_style != "json":
        schema["style"] = format.argument_style
        schema["excludes"] = list(format.reserved)
    return schema


def _reserved(format: ToolCallFormat) -> tuple[str, ...]:
    markers = () if format.reasoning is None else (format.reasoning.begin, format.reasoning.end)
    return (*markers, *format.reserved)


def tag(begin: str, content: Format, end: str | list[str]) -> Format:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def const(text: str) -> Format:
    return {"type": "const_string", "value": text}


def sequence(*elements: Format) -> Format:
    return {"type": "sequence", "elements": list(elements)}


def any_text(*excludes: str) -> Format:
    return {"type": "any_text", "excludes": list(dict.fromkeys(filter(None, excludes)))}
