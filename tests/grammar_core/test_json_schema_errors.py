"""Schemas that are none, and schemas beyond a limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grammar_core import Grammar, GrammarError, GrammarLimitError, JsonSchemaError
from tests.grammar_core.schema_texts import accepts, compiled

MALFORMED: list[tuple[Any, str]] = [
    ({"type": 3}, "/type"),
    ({"type": "foo"}, "/type"),
    ({"type": []}, "/type"),
    ({"properties": {"a": {"type": ["string", "any"]}}}, "/properties/a/type"),
    ({"properties": []}, "/properties"),
    ({"properties": {"a": 3}}, "/properties/a"),
    ({"required": True}, "/required"),
    ({"required": [1]}, "/required"),
    ({"items": 3}, "/items"),
    ({"items": {"minItems": -1}}, "/items/minItems"),
    ({"maxLength": "3"}, "/maxLength"),
    ({"maxLength": 1.5}, "/maxLength"),
    ({"minimum": "3"}, "/minimum"),
    ({"multipleOf": 0}, "/multipleOf"),
    ({"pattern": 3}, "/pattern"),
    ({"pattern": "("}, "/pattern"),
    ({"patternProperties": {"(": {}}}, "/patternProperties"),
    ({"enum": 3}, "/enum"),
    ({"anyOf": {}}, "/anyOf"),
    ({"anyOf": []}, "/anyOf"),
    ({"allOf": [{}, 3]}, "/allOf/1"),
    ({"uniqueItems": "yes"}, "/uniqueItems"),
    ({"additionalProperties": "no"}, "/additionalProperties"),
    ({"$schema": 3}, "/$schema"),
    ({"properties": {"a/b": {"items": {"type": "x"}}}}, "/properties/a~1b/items/type"),
    ({"$defs": {"a": {"$anchor": "x"}}, "items": {"$anchor": "x"}}, "/items/$anchor"),
    ({"$defs": {"a": {"$anchor": "x"}}, "items": {"$dynamicAnchor": "x"}}, "/items/$dynamicAnchor"),
    ({"$defs": {"a": {"$id": "x"}}, "items": {"$id": "x"}}, "/items/$id"),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"id": "x"}, "b": {"id": "x"}},
            "items": {"$ref": "x"},
        },
        "/properties/a/id",
    ),
]


@pytest.mark.parametrize(("schema", "pointer"), MALFORMED)
def test_the_error_has_the_pointer_of_the_keyword(schema: Any, pointer: str) -> None:
    with pytest.raises(JsonSchemaError) as caught:
        compiled(schema)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "object, true or false"),
        ('{"a": NaN}', "NaN"),
        ('{"type": "string", "type": "integer"}', 'repeats the key "type"'),
        ("", "not JSON"),
    ],
)
def test_text_that_is_no_schema(text: str, message: str) -> None:
    with pytest.raises(JsonSchemaError, match=message):
        Grammar.from_json_schema(text)


def test_identifiers_of_old_drafts_may_be_copied_where_nothing_refers_to_them() -> None:
    a, b = {"id": "x", "type": "integer"}, {"id": "x", "type": "null"}
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": a, "b": b}}
    assert accepts(schema, '{"a": 1, "b": null}')
    assert not accepts(schema, '{"a": 1, "b": 1}')


def test_errors_are_grammar_errors() -> None:
    with pytest.raises(GrammarError):
        Grammar.from_json_schema({"type": "x"})
    with pytest.raises(ValueError, match="type"):
        Grammar.from_json_schema({"type": "x"})


@pytest.mark.parametrize("schema", [False, {"enum": []}, {"allOf": [{"type": "null"}, {"type": "string"}]}])
def test_a_schema_without_values(schema: Any) -> None:
    with pytest.raises(GrammarError):
        compiled(schema)


def test_a_thousand_nested_arrays() -> None:
    text = _nested_text(1_000)
    assert accepts(text, "[" * 1_000 + "1" + "]" * 1_000)
    assert not accepts(text, "[" * 1_000 + '"x"' + "]" * 1_000)


def _nested_text(depth: int) -> str:
    return '{"type":"array","items":' * depth + '{"type":"integer"}' + "}" * depth


def test_depth_has_a_limit_of_its_own() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_json_schema(_nested_text(300_000))
    assert caught.value.limit == "schema_depth"


def test_schemas_of_one_value_inside_one_another_have_a_limit() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_json_schema('{"allOf":[' * 300 + '{"type":"integer"}' + "]}" * 300)
    assert caught.value.limit == "in_place_depth"


def test_alternatives_have_a_limit() -> None:
    branches = [{"properties": {f"{c}{i}": {"const": i} for i in range(8)}} for c in "abcdefgh"]
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_json_schema({"properties": {"x": {"type": "object", "oneOf": branches}}})
    assert caught.value.limit == "alternatives"


def test_length_has_a_limit() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_json_schema('{"description": "' + "x" * 20_000_000 + '"}')
    assert caught.value.limit == "schema_length"


def test_a_hundred_tools() -> None:
    tool = {"type": "object", "properties": {f"f{i}": {"type": "string"} for i in range(20)}}
    tools = [
        {"properties": {"name": {"const": f"t{i}"}, "arguments": tool}, "required": ["name"]}
        for i in range(128)
    ]
    for keyword in ("anyOf", "oneOf"):
        assert accepts({"type": "object", keyword: tools}, '{"name":"t99","arguments":{"f3":"x"}}')
        assert not accepts({"type": "object", keyword: tools}, '{"name":"t99","arguments":{"f3":1}}')


def test_a_number_of_many_digits_is_refused_before_it_is_computed_with() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_json_schema('{"minimum": 0.' + "7" * 1_000_000 + "}")
    assert caught.value.limit == "number_digits"


def test_zeros_at_the_end_of_a_number_are_no_digits() -> None:
    assert accepts('{"const": 0.5' + "0" * 5_000 + "}", "0.5")


def test_patterns_whose_automaton_has_too_many_sets_of_characters() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        compiled({"allOf": [{"pattern": chr(ord("a") + index)} for index in range(13)]})
    assert caught.value.limit == "character_sets"


def test_a_key_repeated_among_many_is_found_at_once() -> None:
    keys = [*(f"k{index}" for index in range(200_000)), "k199999"]
    with pytest.raises(JsonSchemaError, match='repeats the key "k199999"'):
        Grammar.from_json_schema("{" + ", ".join(f'"{key}": 1' for key in keys) + "}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strict_mode": "yes"}, "strict_mode is True or False"),
        ({"any_order": None}, "any_order is True or False"),
        ({"documents": 5}, "documents maps URIs"),
        ({"loosen": [1]}, "names of keywords"),
    ],
)
def test_options_of_the_wrong_type(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Grammar.from_json_schema({}, **options)


def test_indentation_has_a_limit() -> None:
    with pytest.raises(ValueError, match="from 0 to 64"):
        Grammar.from_json_schema({}, any_whitespace=False, indent=10**9)


def test_numbers_of_python_have_a_range() -> None:
    with pytest.raises(ValueError, match="out of the range"):
        Grammar.from_json_schema({"maximum": Decimal("1e99999999")})


def test_an_id_is_a_text() -> None:
    with pytest.raises(JsonSchemaError, match="must be a text") as caught:
        Grammar.from_json_schema({"properties": {"a": {"$id": 5}}})
    assert caught.value.pointer == "/properties/a/$id"


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "enum": [1]},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}, "required": ["a"]}
        | {"type": "object"},
        {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}},
            "required": ["a"],
        },
    ],
)
def test_schemas_that_contradict_themselves(schema: Any) -> None:
    """From a corpus of real schemas, where such a one ended as an error of EBNF."""
    with pytest.raises(JsonSchemaError, match="allows no value"):
        Grammar.from_json_schema(schema)


def test_optional_members_that_contradict_themselves_never_come() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}}}
    assert accepts(schema, "{}")
    assert not accepts(schema, '{"a": 3}')
