"""Schemas that are none, and schemas beyond a limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grammar_core import Grammar, GrammarError, GrammarLimitError, JsonSchemaError
from grammar_core.deadline import deadline
from grammar_core.frontends.json_schema import contradictions
from tests.grammar_core.schema_texts import accepts, compile_bytes, compiled

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


_NEVER = {"type": "string", "enum": [1]}
_LINKED = {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/a"}}}
_PAIR = {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/a"}}


def _holding(value: Any, name: str = "a") -> dict[str, Any]:
    """Objects that must have a member of this schema."""
    return {"type": "object", "required": [name], "properties": {name: value}}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (False, ""),
        ({"type": "string", "pattern": "^a$", "minLength": 5}, ""),
        (_holding({"type": "string", "pattern": "^a$", "minLength": 5}), "/properties/a"),
        (_holding(False), "/properties/a"),
        (_holding(_holding(_NEVER, "b")), "/properties/a/properties/b"),
        (_holding(_holding(_NEVER, "x/y")), "/properties/a/properties/x~1y"),
        ({"allOf": [_holding(_NEVER), {"properties": {"z": {}}}]}, "/allOf/0/properties/a"),
        ({**_holding(_NEVER), "anyOf": [{"required": ["b"]}, {"required": ["c"]}]}, "/properties/a"),
        ({"anyOf": [_holding(_holding(_NEVER)), {"enum": []}]}, "/anyOf/0/properties/a/properties/a"),
        (
            {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"allOf": [{"type": "string"}, {"type": "integer"}]},
                },
            },
            "/items/items",
        ),
        ({"type": "array", "contains": _holding(_NEVER)}, "/contains/properties/a"),
        (
            {"type": "array", "prefixItems": [{}, _holding(_NEVER)], "minItems": 2},
            "/prefixItems/1/properties/a",
        ),
        (
            _holding({"type": "array", "uniqueItems": True, "minItems": 3, "items": {"enum": [1, 2]}}),
            "/properties/a",
        ),
        (
            {"type": "object", "minProperties": 1, "patternProperties": {"^x": _holding(_NEVER)}},
            "/patternProperties/^x/properties/a",
        ),
        (
            {"$ref": "#/$defs/x", "$defs": {"x": _holding(_holding(_NEVER))}},
            "/$defs/x/properties/a/properties/a",
        ),
    ],
)
def test_a_contradiction_anywhere_is_named(schema: Any, pointer: str) -> None:
    with pytest.raises(JsonSchemaError, match="allows no value") as caught:
        compiled(schema, strict_mode=True)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("definitions", "pointer"),
    [
        ({"a": _LINKED}, "/$defs/a"),
        ({"a": _PAIR}, "/$defs/a"),
        ({"a": _holding({"$ref": "#/$defs/b"}), "b": {"anyOf": [_LINKED, _PAIR]}}, "/$defs/b"),
    ],
)
def test_values_without_end_are_none(definitions: Any, pointer: str) -> None:
    with pytest.raises(JsonSchemaError, match="would have another such one in it, without end") as caught:
        compiled(_holding({"$ref": "#/$defs/a"}) | {"$defs": definitions})
    assert caught.value.pointer == pointer


def test_places_that_contradict_each_other_are_both_named() -> None:
    parts = [_holding(_holding({"type": kind})) for kind in ("string", "integer")]
    with pytest.raises(JsonSchemaError, match="/allOf/1/properties/a/properties/a ") as caught:
        compiled({"allOf": parts})
    assert caught.value.pointer == "/allOf/0/properties/a/properties/a"


def test_members_of_which_too_few_can_be() -> None:
    members = {"a": {}, "b": _holding(_NEVER)}
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    assert accepts({**schema, "minProperties": 1}, '{"a": 1}')
    with pytest.raises(JsonSchemaError, match="allows no value") as caught:
        compiled(_holding({**schema, "minProperties": 2}))
    assert caught.value.pointer == "/properties/a"


def test_contradictions_that_need_not_be_met_are_none() -> None:
    endless = {"$ref": "#/$defs/a"}
    schema = {"type": "object", "properties": {"a": _holding(_NEVER), "n": endless}, "$defs": {"a": _LINKED}}
    assert accepts(schema, '{"b": 1}')
    assert not accepts(schema, '{"a": {"a": 1}}')
    assert accepts({"type": ["array", "null"], "minItems": 1, "items": _holding(_NEVER)}, "null")
    assert accepts({"type": "array", "items": _holding(_NEVER)}, "[]")


@pytest.mark.parametrize(
    "options", [{"any_order": True}, {"any_whitespace": False, "indent": 2}, {"lexical": "any"}]
)
def test_contradictions_are_named_with_every_option(options: dict[str, Any]) -> None:
    with pytest.raises(JsonSchemaError, match="allows no value") as caught:
        compiled(_holding(_holding(_NEVER)), **options)
    assert caught.value.pointer == "/properties/a/properties/a"


def test_white_space_that_cannot_be_is_no_fault_of_the_schema() -> None:
    with pytest.raises(GrammarError, match="cannot match any finite text"):
        compiled({"type": "array"}, whitespace_pattern="[^\\s\\S]")


def test_a_contradiction_is_looked_for_once_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contradictions, "DerivationGraph", None)
    assert accepts(_holding({"type": "null"}), '{"a": null}')
    with pytest.raises(TypeError):
        compiled(_holding(_holding(_NEVER)))


def test_the_search_for_a_contradiction_ends_with_the_time_of_the_compile() -> None:
    members = {f"m{i}": {"type": "string", "maxLength": i + 1} for i in range(300)}
    schema = {"type": "object", "properties": {**members, "a": _holding(_NEVER)}, "required": ["a"]}
    grammar = Grammar.from_json_schema(schema)
    with deadline(0.001):
        grammar.explain_emptiness()
    with pytest.raises(JsonSchemaError, match="allows no value"):
        grammar.explain_emptiness()


def test_a_contradiction_is_named_in_a_grammar_of_several() -> None:
    impossible = Grammar.from_json_schema(_holding(_holding(_NEVER)))
    possible = Grammar.from_ebnf('root ::= "a"')
    for grammar in (Grammar.concat(possible, impossible), Grammar.union(impossible, impossible)):
        with pytest.raises(JsonSchemaError, match="allows no value"):
            compile_bytes(grammar)
    compile_bytes(Grammar.union(possible, impossible))


def test_optional_members_that_contradict_themselves_never_come() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}}}
    assert accepts(schema, "{}")
    assert not accepts(schema, '{"a": 3}')
