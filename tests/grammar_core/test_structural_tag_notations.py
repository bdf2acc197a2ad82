"""The styles of `json_schema` other than JSON: what each allows for one schema, and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar
from grammar_core.frontends.structural_tag import StructuralTagError
from grammar_core.frontends.structural_tag.notations import STYLES
from tests.grammar_core.tag_texts import allows

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "o": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
        "a": {"type": "array", "items": {"type": "string"}},
        "e": {"enum": ["p", "q", 3]},
        "m": {"type": ["string", "null"], "maxLength": 3},
    },
    "required": ["s", "n"],
}
_M = "]<]minimax[>["
_Q = '<|"|>'


def _dsml(key: str, is_string: str, value: str, space: str = "") -> str:
    return f'<｜DSML｜{space}parameter name="{key}" string="{is_string}">{value}</｜DSML｜{space}parameter>'


def _kimi(key: str, kind: str, value: str) -> str:
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


def _glm(key: str, value: str, space: str = "\n") -> str:
    return f"<arg_key>{key}</arg_key>{space}<arg_value>{value}</arg_value>{space}"


def _m3(key: str, value: str) -> str:
    return f"{_M}<{key}>{value}{_M}</{key}>"


def _cohere(kind: str, value: str, key: str | None = None) -> str:
    name = "" if key is None else f' name="{key}"'
    return f'<cofl:value{name} type="{kind}">{value}</cofl:value>'


_CASES: dict[str, tuple[list[str], list[str]]] = {
    "json": (['{"s": "x", "n": 1, "e": 3}'], ['{"s": "x"}', '{"s": "x", "n": "1"}']),
    "qwen_xml": (
        [
            "<parameter=s>x</parameter><parameter=n>1</parameter>",
            "<parameter=s>\nx\n</parameter>\n<parameter=n>\n1\n</parameter>\n",
            '<parameter=s></parameter><parameter=n>1</parameter><parameter=o>{"x": "<"}</parameter>'
            '<parameter=a>["p"]</parameter><parameter=e>q</parameter><parameter=m>null</parameter>',
            "<parameter=s>x</parameter><parameter=n>1</parameter><parameter=e>3</parameter>",
        ],
        [
            "",
            "<parameter=s>x</parameter>",
            "<parameter=s>x</parameter><parameter=n>one</parameter>",
            "<parameter=s>x</parameter><parameter=n>1</parameter><parameter=e>r</parameter>",
            "<parameter=s>x</parameter><parameter=n>1</parameter><parameter=m>long</parameter>",
            "<parameter=n>1</parameter><parameter=s>x</parameter>",
            "<parameter=s>x</parameter><parameter=n>1</parameter><parameter=z>1</parameter>",
        ],
    ),
    "minimax_xml": (
        ['<parameter name="s">x\n</parameter>\n<parameter name="n">1</parameter>'],
        ['<parameter name="s">x</parameter><parameter name="n">x</parameter>'],
    ),
    "deepseek_xml": (
        [
            _dsml("s", "true", "x") + "\n" + _dsml("n", "false", "1") + "\n",
            _dsml("s", "true", "x") + _dsml("n", "false", "1") + _dsml("e", "true", "p"),
            _dsml("s", "true", "x") + _dsml("n", "false", "1") + _dsml("e", "false", "3"),
            _dsml("s", "true", "x") + _dsml("n", "false", "1") + _dsml("m", "false", "null"),
        ],
        [
            _dsml("s", "false", "x") + _dsml("n", "false", "1"),
            _dsml("s", "true", "x") + _dsml("n", "true", "1"),
            _dsml("s", "true", "x") + _dsml("n", "false", "1") + _dsml("e", "true", "3"),
        ],
    ),
    "deepseek_v4_1_xml": (
        [_dsml("s", "true", "x", " ") + _dsml("n", "false", "1", " ")],
        [_dsml("s", "true", "x") + _dsml("n", "false", "1")],
    ),
    "glm_xml": (
        [_glm("s", "x") + _glm("n", "1"), "\n" + _glm("s", "x", "") + _glm("n", "1", "")],
        [_glm("s", "x"), _glm("s", "x") + _glm("n", "y")],
    ),
    "kimi_k3_xml": (
        [_kimi("s", "string", "x") + _kimi("n", "number", "1") + _kimi("a", "array", '["b"]')],
        [_kimi("s", "string", "x") + _kimi("n", "string", "1")],
    ),
    "minimax_m3_xml": (
        [
            _m3("s", "x") + _m3("n", "1"),
            _m3("s", "x") + _m3("n", "1") + _m3("o", _m3("x", "y")) + _m3("a", _m3("item", "1") * 2),
            _m3("s", "") + "\n" + _m3("n", "1") + "\n" + _m3("a", ""),
        ],
        [
            _m3("s", "x"),
            _m3("s", "x") + _m3("n", "y"),
            _m3("s", "x") + f"{_M}<n>1{_M}</m>",
            _m3("s", "x") + _m3("n", "1") + _m3("o", "x"),
        ],
    ),
    "cohere_xml": (
        [
            _cohere("raw", "x", "s") + _cohere("json", "1", "n"),
            _cohere("raw", "x", "s")
            + _cohere("json", "1", "n")
            + _cohere("dict", _cohere("raw", "y", "x"), "o")
            + _cohere("list", _cohere("raw", "1") + _cohere("raw", "2"), "a")
            + _cohere("json", "3", "e")
            + _cohere("json", "null", "m"),
        ],
        [
            _cohere("raw", "x", "s"),
            _cohere("raw", "x", "s") + _cohere("raw", "1", "n"),
            _cohere("raw", "x", "s") + _cohere("json", "1", "n") + _cohere("raw", "long", "m"),
        ],
    ),
    "gemma": (
        [
            f'{{s:{_Q}a "b"{_Q},n:1}}',
            f"{{ s : {_Q}{_Q}, n: 1, o: {{x:{_Q}y{_Q}}}, a:[{_Q}1{_Q}], e:3, m:null}}",
        ],
        ["", "{}", '{s:"x",n:1}', f"{{s:{_Q}x{_Q},n:{_Q}1{_Q}}}", f"{{s:{_Q}x{_Q},n:1,m:{_Q}long{_Q}}}"],
    ),
}


def _format(style: str, schema: Any = _SCHEMA, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": schema, "style": style, **fields}


def test_every_style_has_cases() -> None:
    assert _CASES.keys() == set(STYLES)


@pytest.mark.parametrize("style", STYLES)
def test_texts(style: str) -> None:
    accepted, refused = _CASES[style]
    assert [text for text in accepted if not allows(_format(style), text)] == []
    assert [text for text in refused if allows(_format(style), text)] == []


@pytest.mark.parametrize("style", STYLES)
def test_grammars_are_well_formed(style: str) -> None:
    for schema in (_SCHEMA, True, {"type": "object", "additionalProperties": {"$ref": "#"}}):
        grammar = Grammar.from_structural_tag(_format(style, schema))
        Grammar.from_rules(grammar.rules)
        Grammar.from_ebnf(str(grammar))


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("qwen_xml", "<parameter=k>[1</parameter>"),
        ("glm_xml", _glm("k", "v")),
        ("deepseek_xml", _dsml("k", "false", "[1]") + _dsml("l", "true", "[1")),
        ("kimi_k3_xml", _kimi("k", "object", '{"a": 1}')),
        ("minimax_m3_xml", _m3("k", _m3("l", _m3("item", "x")))),
        ("cohere_xml", _cohere("list", _cohere("dict", _cohere("json", "1", "k")), "l")),
        ("gemma", f"{{k:[{{l:{_Q}x{_Q}}},true]}}"),
    ],
)
def test_anything(style: str, text: str) -> None:
    assert allows(_format(style, True), text)
    assert allows(_format(style, {"type": "object"}), text)
    assert not allows(_format(style, {"type": "object", "additionalProperties": False}), text)


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"json"}))
def test_arguments_are_objects(style: str) -> None:
    with pytest.raises(StructuralTagError, match="allows no object") as caught:
        Grammar.from_structural_tag(_format(style, {"type": "string"}))
    assert caught.value.pointer == "/json_schema"


def test_raw_strings_obey_their_keywords() -> None:
    schema = {
        "type": "object",
        "properties": {"d": {"type": "string", "pattern": "^[0-9]+$"}},
        "required": ["d"],
    }
    assert allows(_format("minimax_xml", schema), '<parameter name="d">12</parameter>')
    assert not allows(_format("minimax_xml", schema), '<parameter name="d">1x</parameter>')


def test_raw_strings_contain_neither_their_end_nor_what_is_excluded() -> None:
    format = _format("qwen_xml", {"type": "object", "properties": {"s": {"type": "string"}}}, excludes=["!"])
    assert allows(format, "<parameter=s></param></parameter>")
    assert not allows(format, "<parameter=s>a</parameter>b</parameter>")
    assert not allows(format, "<parameter=s>!</parameter>")


def test_long_strings_are_counted() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 100_000}}}
    format = _format("qwen_xml", schema)
    assert allows(format, f"<parameter=s>{'é' * 1_000}</parameter>")


def test_parameters_in_any_order() -> None:
    text = "<parameter=n>1</parameter><parameter=s>x</parameter>"
    assert allows(_format("qwen_xml", any_order=True), text)
    assert not allows(_format("qwen_xml", any_order=True), text + text)


@pytest.mark.parametrize(("style", "key"), [("qwen_xml", "a>b"), ("gemma", "a:b"), ("minimax_m3_xml", "a<b")])
def test_keys_that_cannot_be_written_are_refused(style: str, key: str) -> None:
    with pytest.raises(StructuralTagError, match="ends keys in this notation"):
        Grammar.from_structural_tag(_format(style, {"type": "object", "properties": {key: {}}}))


def test_keys_are_escaped_where_they_can_be() -> None:
    schema = {"type": "object", "properties": {'a"<b': {"type": "null"}}}
    assert allows(
        _format("cohere_xml", schema), '<cofl:value name="a&quot;&lt;b" type="json">null</cofl:value>'
    )


def test_the_older_name_of_a_style() -> None:
    format = {"type": "qwen_xml_parameter", "json_schema": _SCHEMA}
    assert [text for text in _CASES["qwen_xml"][0] if not allows(format, text)] == []
