"""The formats of model families: the answers that each allows, for every choice of tools."""

from __future__ import annotations

import re
from typing import Any

import pytest

from grammar_core import Grammar
from grammar_core.frontends.structural_tag import StructuralTagError
from grammar_core.frontends.structural_tag.models import (
    DEFAULT_FORMAT,
    FORMATS,
    find_tool_call_format,
    format_named,
    get_model_structural_tag,
)
from grammar_core.frontends.structural_tag.models.tool_call_format import (
    CallField,
    CallObject,
    ToolCallFormat,
)
from tests.grammar_core.tag_texts import allows


def _function(name: str, *keys: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [_function("f", "k"), _function("g")]
_J = '{"k": "v"}'
_M = "]<]minimax[>["
_CALLS = "<｜tool▁calls▁begin｜>"

CALLS: dict[str, str] = {
    "llama": '{"name": "f", "parameters": {"k": "v"}}',
    "qwen_3": '<tool_call>\n{"name": "f", "arguments": {"k": "v"}}\n</tool_call>',
    "exaone": '<tool_call>{"name": "f", "arguments": {"k": "v"}}</tool_call>',
    "qwen_3_coder": "<tool_call>\n<function=f>\n<parameter=k>\nv\n</parameter>\n</function>\n</tool_call>",
    "mimo": "<tool_call><function=f><parameter=k>v</parameter></function></tool_call>",
    "seed_oss": (
        "<seed:tool_call>\n<function=f>\n<parameter=k>v</parameter>\n</function>\n</seed:tool_call>"
    ),
    "kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
        f"{_J}<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "deepseek_r1": (
        f"{_CALLS}<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{_J}\n```<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>"
    ),
    "deepseek_v3_1": (
        f"{_CALLS}<｜tool▁call▁begin｜>f<｜tool▁sep｜>{_J}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek_v3_2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
        '<｜DSML｜parameter name="k" string="true">v</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
        "</｜DSML｜function_calls>"
    ),
    "deepseek_v4": (
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n'
        '<｜DSML｜parameter name="k" string="true">v</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
        "</｜DSML｜tool_calls>"
    ),
    "deepseek_v4_1": (
        '<｜DSML｜ calls>\n<｜DSML｜ invoke name="f">\n'
        '<｜DSML｜ parameter name="k" string="true">v</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n'
        "</｜DSML｜ calls>"
    ),
    "glm_4_7": "<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>",
    "minimax": (
        '<minimax:tool_call>\n<invoke name="f">\n<parameter name="k">v</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
    "minimax_m3": (f'{_M}<tool_call>\n{_M}<invoke name="f">{_M}<k>v{_M}</k>{_M}</invoke>\n{_M}</tool_call>'),
    "gemma_4": '<|tool_call>call:f{k:<|"|>v<|"|>}<tool_call|>',
    "cohere": (
        '<cofl:tool_calls><cofl:tool_call id="0" name="f"><cofl:value name="k" type="raw">v</cofl:value>'
        "</cofl:tool_call></cofl:tool_calls>"
    ),
    "command_r": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"k": "v"}}]<|END_ACTION|>'
    ),
    "mistral": '[TOOL_CALLS] [{"name": "f", "arguments": {"k": "v"}}]',
    "mistral_v11": '[TOOL_CALLS]f[CALL_ID]123456abc[ARGS]{"k": "v"}',
    "mistral_v13": '[TOOL_CALLS]f[ARGS]{"k": "v"}',
    "granite": '<|tool_call|>[{"name": "f", "arguments": {"k": "v"}}]',
    "phi_4_mini": 'functools[{"name": "f", "arguments": {"k": "v"}}]',
    "jamba": '<tool_calls>[{"name": "f", "arguments": {"k": "v"}}]</tool_calls>',
    "internlm": '<|action_start|><|plugin|>\n{"name": "f", "parameters": {"k": "v"}}<|action_end|>',
    "harmony": f"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{_J}<|call|>",
    "kimi_k3": (
        '<|open|>tools<|sep|><|open|>call tool="f" index="0"<|sep|>'
        '<|open|>argument key="k" type="string"<|sep|>v<|close|>argument<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|>"
    ),
}
"""One call of the tool f in every format."""

_NAMES = [format.name for format in FORMATS]
_ORDINARY = [format.name for format in FORMATS if format.answer is None]


def _tag(name: str, choice: Any = "auto", reasoning: Any = "disabled", **options: Any) -> dict[str, Any]:
    return get_model_structural_tag(name, TOOLS, choice, reasoning, **options)


def _answer(name: str, call: str, text: str = "") -> str:
    """An answer of text and calls, in formats that put it together in their own way too."""
    if name == "kimi_k3":
        return f"{text}<|close|>response<|sep|>{call}<|close|>message<|sep|>"
    if name == "harmony":
        preamble = f"<|channel|>commentary<|message|>{text}<|end|><|start|>assistant" if text else ""
        return preamble + call
    return text + call


def test_every_format_has_a_case() -> None:
    assert CALLS.keys() == set(_NAMES)
    assert len(_NAMES) == len(set(_NAMES))


@pytest.mark.parametrize("name", _NAMES)
def test_calls(name: str) -> None:
    call = CALLS[name]
    assert allows(_tag(name), _answer(name, call, "Let me see. "))
    assert allows(_tag(name), _answer(name, call))
    assert not allows(_tag(name), _answer(name, re.sub(r"\bf\b", "h", call)))
    assert not allows(_tag(name), _answer(name, re.sub(r"\bk\b", "q", call)))
    assert not allows(_tag(name), _answer(name, call[:-1]))


@pytest.mark.parametrize("name", _NAMES)
def test_required(name: str) -> None:
    lead = format_named(name).lead
    assert allows(_tag(name, "required"), _answer(name, lead + CALLS[name]))
    assert not allows(_tag(name, "required"), _answer(name, ""))
    if name != "kimi_k3":
        assert not allows(_tag(name, "required"), _answer(name, CALLS[name], "x"))


@pytest.mark.parametrize("name", _NAMES)
def test_named(name: str) -> None:
    choice = {"type": "function", "function": {"name": "f"}}
    other = {"type": "function", "function": {"name": "g"}}
    lead = format_named(name).lead
    assert allows(_tag(name, choice), _answer(name, lead + CALLS[name]))
    assert not allows(_tag(name, other), _answer(name, lead + CALLS[name]))
    if name != "harmony":
        assert not allows(_tag(name, choice), _answer(name, CALLS[name] + CALLS[name]))


@pytest.mark.parametrize("name", _NAMES)
def test_none(name: str) -> None:
    for tag in (_tag(name, "none"), get_model_structural_tag(name, None, reasoning=False)):
        assert not allows(tag, _answer(name, CALLS[name]))


@pytest.mark.parametrize("name", _ORDINARY)
def test_free_text(name: str) -> None:
    for tag in (_tag(name), _tag(name, "none"), get_model_structural_tag(name, [], reasoning=False)):
        assert allows(tag, "")
        assert allows(tag, "Some text.")


@pytest.mark.parametrize("name", _ORDINARY)
def test_several_calls(name: str) -> None:
    call = CALLS[name]
    assert allows(_tag(name), f"{call}\n{call}")
    assert not allows(_tag(name, parallel_tool_calls=False), f"{call}\n{call}")
    assert allows(_tag(name, parallel_tool_calls=False), f"x{call}")


@pytest.mark.parametrize("name", [f.name for f in FORMATS if f.section is not None])
def test_nothing_follows_a_required_section(name: str) -> None:
    if name != "kimi_k3":
        assert not allows(_tag(name, "required"), f"{format_named(name).lead}{CALLS[name]} more")


@pytest.mark.parametrize("name", [f.name for f in FORMATS if f.section is not None])
def test_several_calls_in_a_section(name: str) -> None:
    format = format_named(name)
    assert format.section is not None
    begin, end = format.section.begin, format.section.end
    call = CALLS[name].removeprefix(begin).removesuffix(end)
    assert call != CALLS[name]
    both = f"{begin}{call}{format.section.separator}{call}{end}"
    assert allows(_tag(name), _answer(name, both))
    assert not allows(_tag(name, parallel_tool_calls=False), _answer(name, both))
    assert not allows(_tag(name), _answer(name, begin + end))


@pytest.mark.parametrize("name", [f.name for f in FORMATS if f.reasoning is not None])
def test_reasoning(name: str) -> None:
    reasoning = format_named(name).reasoning
    assert reasoning is not None
    begin = "<|open|>response<|sep|>" if name == "kimi_k3" else ""
    rest = f"thoughts{reasoning.end}{reasoning.after}{begin}{_answer(name, CALLS[name])}"
    opened = "" if reasoning.is_opened_by_prompt else reasoning.begin
    assert allows(_tag(name, reasoning="enabled"), opened + rest)
    assert allows(_tag(name, reasoning=True), opened + rest)
    assert not allows(_tag(name, reasoning="enabled"), f"{begin}{_answer(name, CALLS[name])}")
    assert allows(_tag(name, reasoning="auto"), f"{reasoning.begin}{rest}")
    assert allows(_tag(name, reasoning="auto"), f"{begin}{_answer(name, CALLS[name])}")
    assert not allows(_tag(name, reasoning="disabled"), f"{reasoning.begin}{rest}")


def test_harmony() -> None:
    final = "<|channel|>final<|message|>Hello.<|return|>"
    thought = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    call = CALLS["harmony"]
    assert allows(_tag("harmony"), final)
    assert allows(_tag("harmony", reasoning="enabled"), thought + thought + final)
    assert allows(_tag("harmony", reasoning="enabled"), thought + call)
    assert allows(_tag("harmony"), f"{call}<|start|>assistant{call}")
    assert not allows(_tag("harmony", parallel_tool_calls=False), f"{call}<|start|>assistant{call}")
    assert not allows(_tag("harmony"), thought + final)
    assert not allows(_tag("harmony", "required", "enabled"), thought + final)
    assert allows(_tag("harmony", "none"), final)


def test_kimi_k3_without_calls() -> None:
    answer = _answer("kimi_k3", "", "Hello.")
    assert allows(_tag("kimi_k3"), answer)
    assert allows(_tag("kimi_k3"), f"<|open|>response<|sep|>{answer}")
    assert not allows(_tag("kimi_k3", reasoning="auto"), answer)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_allowed_tools(mode: str) -> None:
    allowed = [{"type": "function", "function": {"name": "f"}}]
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": allowed}}
    assert allows(_tag("qwen_3", choice), CALLS["qwen_3"])
    assert not allows(_tag("qwen_3", choice), '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>')
    assert allows(_tag("qwen_3", choice), "text") == (mode == "auto")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("sometimes", "'none', 'auto', 'required' or an object"),
        ({"type": "zzz"}, "no object of the type"),
        ({"type": "function", "function": {"name": "zzz"}}, "no tool 'zzz'"),
        ({"type": "function"}, "names a function"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "x", "tools": [{}]}}, "no object of the type"),
        ({"type": "allowed_tools", "allowed_tools": {"tools": []}}, "no object of the type"),
    ],
)
def test_choices_that_are_none(choice: Any, words: str) -> None:
    with pytest.raises(StructuralTagError, match=words):
        _tag("qwen_3", choice)


def test_requests_that_are_wrong() -> None:
    with pytest.raises(StructuralTagError, match="there are no tools"):
        get_model_structural_tag("qwen_3", [], "required")
    with pytest.raises(StructuralTagError, match="no model format 'zzz'; the formats are harmony"):
        get_model_structural_tag("zzz", TOOLS)
    with pytest.raises(StructuralTagError, match="a function that has a name"):
        get_model_structural_tag("qwen_3", [{"type": "function"}])
    with pytest.raises(StructuralTagError, match="'enabled', 'disabled' or 'auto'"):
        get_model_structural_tag("qwen_3", TOOLS, reasoning="maybe")


def test_tools_without_parameters_take_any_object() -> None:
    tag = get_model_structural_tag("mistral_v13", [{"function": {"name": "f"}}], "required", False)
    assert allows(tag, '[TOOL_CALLS]f[ARGS]{"x": 1}')
    assert not allows(tag, "[TOOL_CALLS]f[ARGS]1")


def test_names_are_escaped_in_json() -> None:
    tag = get_model_structural_tag("mistral", [{"function": {"name": 'a"b'}}], "required", False)
    assert allows(tag, '[TOOL_CALLS] [{"name": "a\\"b", "arguments": {}}]')


def test_a_format_of_ones_own() -> None:
    format = ToolCallFormat(
        name="mine", trigger="@", call=("@", CallField.NAME, "(", CallField.ARGUMENTS, ")")
    )
    assert allows(get_model_structural_tag(format, TOOLS, reasoning=False), 'x @f({"k": "v"}) y')


@pytest.mark.parametrize("format", FORMATS, ids=_NAMES)
def test_formats_are_well_formed(format: ToolCallFormat) -> None:
    objects = [part for part in format.call if isinstance(part, CallObject)]
    fields = [part for part in format.call if isinstance(part, CallField)]
    assert (len(objects) == 1 and not fields) or (
        not objects and {CallField.NAME, CallField.ARGUMENTS} <= set(fields)
    )
    first = format.call[0] if format.section is None else format.section.begin
    begin = '{"name": ' if isinstance(first, CallObject) else first
    assert isinstance(begin, str)
    assert begin.startswith(format.trigger)
    assert format_named(format.name) is format


@pytest.mark.parametrize("name", _NAMES)
def test_128_tools_of_20_fields(name: str) -> None:
    kinds: list[Any] = [{"type": "string"}, {"type": "integer"}, {"enum": ["a", "b"]}, {"type": "boolean"}]
    tools = [
        {
            "function": {
                "name": f"tool_{tool}",
                "parameters": {
                    "type": "object",
                    "properties": {f"field_{tool}_{i}": kinds[i % 4] for i in range(20)},
                },
            }
        }
        for tool in range(128)
    ]
    grammar = Grammar.from_structural_tag(get_model_structural_tag(name, tools, "required", False))
    assert "tool_127" in str(grammar)


@pytest.mark.parametrize(
    ("template", "name", "vocabulary", "expected"),
    [
        ("{{ '<tool_call>' }} tool_call.arguments", "whatever", (), "qwen_3"),
        ("<tool_call>\n<function=x>\n<parameter=y>", "", (), "qwen_3_coder"),
        ("'<tool_call><function=' '<parameter='", "", (), "mimo"),
        ("<tool_call>{name}<arg_key>k</arg_key><arg_value>", "", (), "glm_4_7"),
        ("<｜tool▁calls▁begin｜> ```json", "", (), "deepseek_r1"),
        ("<｜tool▁calls▁begin｜>", "", (), "deepseek_v3_1"),
        ("[TOOL_CALLS] [ARGS]", "", (), "mistral_v13"),
        ("[TOOL_CALLS] [CALL_ID] [ARGS]", "", (), "mistral_v11"),
        ("[TOOL_CALLS]", "", (), "mistral"),
        (None, "openai/gpt-oss-20b", (), "harmony"),
        ("no tools", "moonshotai/Kimi-K2-Instruct", (), "kimi"),
        (None, "Qwen/Qwen3-Coder-30B", (), "qwen_3_coder"),
        (None, "Qwen/Qwen3-0.6B", (), "qwen_3"),
        (None, "deepseek-ai/DeepSeek-V3.1", (), "deepseek_v3_1"),
        (None, "deepseek-ai/DeepSeek-V3-0324", (), "deepseek_r1"),
        (None, "mistralai/Mistral-Small-3.2-24B", (), "mistral_v11"),
        (None, "meta-llama/Llama-3.1-8B", (), "llama"),
        (None, "x", ("<|python_tag|>", "<|eom_id|>"), "llama"),
        (None, "x", ("<|channel|>", "<|message|>", "<|constrain|>"), "harmony"),
        (None, "SmolLM2-135M-Instruct", (), DEFAULT_FORMAT.name),
        (None, "", (), DEFAULT_FORMAT.name),
    ],
)
def test_finding_the_format(
    template: str | None, name: str, vocabulary: tuple[str, ...], expected: str
) -> None:
    assert find_tool_call_format(template, name, vocabulary).name == expected
