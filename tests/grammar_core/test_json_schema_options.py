"""Options of Grammar.from_json_schema and GrammarCompiler.compile_json_schema."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest

from grammar_core import BOUNDED_WHITESPACE, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from tests.grammar_core.schema_texts import accepts, check

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name"],
    "additionalProperties": False,
}
VALUE = {"name": "x", "tags": [1, 2]}


def test_white_space_is_free_between_the_parts() -> None:
    check(
        PERSON,
        [json.dumps(VALUE), json.dumps(VALUE, indent=4), '{\t"name" :\r\n"x" , "tags":[ 1 ,2 ] }'],
        [' {"name":"x"}', '{"name":"x"} ', '{"na me":"x"}', '{"name":"x"}\n', '{"name":"x"\u00a0}'],
    )


def test_max_whitespace_cnt_bounds_each_gap() -> None:
    check(PERSON, ['{  "name"  :  "x"  }'], ['{   "name":"x"}', '{"name":"x"   }'], max_whitespace_cnt=2)


def test_bounded_whitespace_has_one_line_break_a_gap() -> None:
    check(
        PERSON,
        [json.dumps(VALUE, indent=4), json.dumps(VALUE), '{\r\n\t\t"name":"x"}'],
        ['{\n\n"name":"x"}', "{" + " " * 33 + '"name":"x"}', '{ \n"name":"x"}'],
        whitespace_pattern=BOUNDED_WHITESPACE,
    )


def test_whitespace_pattern() -> None:
    check(PERSON, ['{_"name"__:"x"_}'], ['{ "name":"x"}', '{___"name":"x"}'], whitespace_pattern="_{0,2}")


def test_one_line() -> None:
    texts = [json.dumps(VALUE), '{"name": "x"}', '{"name": "x", "tags": []}']
    check(PERSON, texts, ['{"name":"x"}', '{"name": "x","tags": []}', '{ "name": "x"}'], any_whitespace=False)


def test_separators() -> None:
    text = json.dumps(VALUE, separators=(",", ":"))
    check(PERSON, [text], [json.dumps(VALUE)], any_whitespace=False, separators=(",", ":"))


@pytest.mark.parametrize("indent", [0, 2, 4])
def test_indent(indent: int) -> None:
    value = {"name": "x", "tags": [1, 2]}
    empty = {"name": "x", "tags": []}
    texts = [json.dumps(value, indent=indent), json.dumps(empty, indent=indent)]
    check(
        PERSON,
        texts,
        [json.dumps(value), json.dumps(value, indent=indent + 1)],
        any_whitespace=False,
        indent=indent,
    )


def test_indent_with_separators() -> None:
    text = json.dumps(VALUE, indent=2, separators=(" ,", " : "))
    check(
        PERSON,
        [text],
        [json.dumps(VALUE, indent=2)],
        any_whitespace=False,
        indent=2,
        separators=(" ,", " : "),
    )


def test_indent_is_without_meaning_where_white_space_is_free() -> None:
    check(PERSON, [json.dumps(VALUE), json.dumps(VALUE, indent=3)], [], indent=2)


def test_a_schema_that_contains_itself_cannot_be_indented() -> None:
    with pytest.raises(ValueError, match="indented"):
        Grammar.from_json_schema({"items": {"$ref": "#"}, "type": "array"}, any_whitespace=False, indent=2)


def test_strict_mode_closes_what_is_declared() -> None:
    declared = {"type": "object", "properties": {"a": {}}, "required": ["b"]}
    check(declared, ['{"a":1,"b":1}', '{"b":1}'], ['{"b":1,"c":1}', '{"a":1}'], strict_mode=True)
    check(declared, ['{"b":1,"c":1}'], ['{"a":1}'])
    check({**declared, "additionalProperties": True}, ['{"b":1,"c":1}'], [], strict_mode=True)
    check({"prefixItems": [{}]}, ["[1]", "[]"], ["[1,1]"], strict_mode=True)
    check({"prefixItems": [{}], "items": {}}, ["[1,1]"], [], strict_mode=True)


def test_strict_mode_leaves_open_what_declares_nothing() -> None:
    check({"type": "object"}, ["{}", '{"a":1}'], [], strict_mode=True)
    check({"type": "object", "required": ["a"]}, ['{"a":1,"b":1}'], ["{}"], strict_mode=True)
    check({"type": "array", "minItems": 1}, ["[1]", "[1,2]"], ["[]"], strict_mode=True)


def test_strict_mode_closes_after_parts_are_put_together() -> None:
    schema = {"allOf": [{"type": "object", "properties": {"a": {}}}, {"properties": {"b": {}}}]}
    check(schema, ['{"a":1,"b":1}'], ['{"a":1,"c":1}'], strict_mode=True)


def test_strict_mode_is_the_default_of_the_library() -> None:
    assert not accepts({"properties": {"a": {}}}, '{"b":1}', strict_mode=True)
    assert str(Grammar.from_json_schema({"properties": {"a": {}}})) == str(
        Grammar.from_json_schema({"properties": {"a": {}}}, strict_mode=True)
    )


@pytest.mark.parametrize(
    "options",
    [
        {"max_whitespace_cnt": 0},
        {"max_whitespace_cnt": -1},
        {"indent": -1},
        {"separators": (",",)},
        {"separators": ", "},
        {"whitespace_pattern": " *", "max_whitespace_cnt": 2},
        {"whitespace_pattern": " *", "any_whitespace": False},
        {"lexical": "every"},
        {"loosen": ["type"]},
        {"loosen": ["nonsense"]},
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Grammar.from_json_schema({}, **options)


def test_text_values_and_models_are_schemas() -> None:
    class Model(pydantic.BaseModel):
        number: int

    for schema in (Model, Model.model_json_schema(), json.dumps(Model.model_json_schema())):
        check(schema, ['{"number":1}'], ['{"number":"x"}', "{}"])
    check(True, ["1"], [])


@pytest.mark.parametrize("schema", [None, 3, [1], object()])
def test_other_things_are_no_schemas(schema: Any) -> None:
    with pytest.raises(TypeError, match="JSON schema"):
        Grammar.from_json_schema(schema)


def test_printed_grammars_have_the_same_language() -> None:
    schema = {**PERSON, "additionalProperties": True, "minProperties": 2}
    printed = str(Grammar.from_json_schema(schema))
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"], stop_token_ids=[256])
    compiled = GrammarCompiler(info).compile_grammar(printed)
    for text, expected in (
        ('{"name":"x","tags":[]}', True),
        ('{"name":"x","other":{"a":null}}', True),
        ('{"name":"x"}', False),
        ('{"name":"x","tags":3}', False),
        ('{"\\u0074ags":3,"name":"x"}', False),
    ):
        matcher = GrammarMatcher(compiled)
        assert bool(matcher.accept_string(text) and matcher.is_completed()) is expected
    assert str(Grammar.from_ebnf(printed)) == printed


def test_serialized_grammars_have_the_same_language() -> None:
    grammar = Grammar.from_json_schema({"properties": {"a": {"type": "integer"}}}, strict_mode=False)
    again = Grammar.deserialize_json(grammar.serialize_json())
    assert again.rules == grammar.rules


def test_equal_schemas_compile_once() -> None:
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"], stop_token_ids=[256])
    compiler = GrammarCompiler(info)
    first = compiler.compile_json_schema(PERSON)
    assert compiler.compile_json_schema(json.dumps(PERSON, ensure_ascii=False)) is first
    assert compiler.compile_json_schema(PERSON, any_order=True) is not first
    assert compiler.compile_builtin_json_grammar() is compiler.compile_builtin_json_grammar()
    assert compiler.compile_regex("a+") is compiler.compile_regex("a+")


def test_builtin_json_grammar_is_objects_and_arrays() -> None:
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"], stop_token_ids=[256])
    compiled = GrammarCompiler(info).compile_builtin_json_grammar()
    for text, expected in (
        ("{}", True),
        ("[1, null]", True),
        ("1", False),
        (" {}", False),
        ('{"a":[{}]}', True),
    ):
        matcher = GrammarMatcher(compiled)
        assert bool(matcher.accept_string(text) and matcher.is_completed()) is expected
