"""Keywords that combine schemas."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import JsonSchemaError
from tests.grammar_core.schema_texts import check, compiled

INTEGER = {"type": "integer"}
STRING = {"type": "string"}

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("allOf of enums", {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ['"b"'], ['"a"', '"c"']),
    (
        "allOf of objects",
        {"allOf": [{"properties": {"a": INTEGER}, "required": ["a"]}, {"properties": {"b": STRING}}]},
        ['{"a":1}', '{"a":1,"b":"x"}', '{"a":1,"c":null}'],
        ["{}", '{"a":"x"}', '{"a":1,"b":1}'],
    ),
    (
        "allOf closes each part by itself",
        {"allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}]},
        ["{}", '{"a":1}', "3"],
        ['{"b":1}', '{"a":1,"b":1}'],
    ),
    ("anyOf", {"anyOf": [INTEGER, {"minimum": 2}]}, ["1", "-3", "2.5", '"x"'], ["1.5"]),
    (
        "anyOf beside properties",
        {
            "type": "object",
            "properties": {"t": STRING},
            "required": ["t"],
            "anyOf": [
                {"required": ["a"], "properties": {"a": INTEGER}},
                {"required": ["b"], "properties": {"b": INTEGER}},
            ],
        },
        ['{"t":"x","a":1}', '{"t":"x","b":1}', '{"t":"x","a":1,"b":2}', '{"t":"x","a":"s","b":2}'],
        ['{"t":"x"}', '{"a":1}', '{"t":1,"a":1}', '{"t":"x","a":"s"}'],
    ),
    (
        "anyOf of null and boolean",
        {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        ["null", "true"],
        ["nulltrue"],
    ),
    (
        "oneOf that overlaps",
        {"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
        ["2", "3", "9"],
        ["6", "0", "1"],
    ),
    (
        "oneOf by required keys",
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}]},
        ['{"a":1}', '{"x":1,"b":1}', '{"c":1}'],
        ["{}", '{"a":1,"b":1}', '{"a":1,"b":1,"c":1}', '{"b":1,"c":1}'],
    ),
    (
        "oneOf by a discriminator",
        {
            "oneOf": [
                {"properties": {"t": {"const": "a"}, "v": INTEGER}, "required": ["t", "v"]},
                {"properties": {"t": {"const": "b"}, "v": STRING}, "required": ["t"]},
            ]
        },
        ['{"t":"a","v":1}', '{"t":"b","v":"x"}', '{"t":"b"}'],
        ['{"t":"a","v":"x"}', '{"t":"b","v":1}', '{"t":"c"}', "{}", "1"],
    ),
    ("not", {"type": "integer", "not": {"const": 0}}, ["1", "-7", "10"], ["0", '"x"']),
    ("not of a type", {"not": INTEGER}, ["1.5", '"x"', "null", "[]"], ["1", "-20"]),
    ("not of types", {"not": {"type": ["integer", "string"]}}, ["1.5", "null"], ["1", '"x"']),
    (
        "not of a pattern",
        {"type": "string", "not": {"pattern": "b"}},
        ['"aaa"', '""'],
        ['"abc"', '"\\u0062"'],
    ),
    ("not of a length", {"type": "string", "not": {"maxLength": 2}}, ['"abc"'], ['"ab"', '""']),
    (
        "not of properties",
        {"type": "object", "not": {"properties": {"a": INTEGER}}},
        ['{"a":"x"}', '{"b":1,"a":null}'],
        ["{}", '{"a":1}', '{"b":1}'],
    ),
    (
        "not of required",
        {"type": "object", "not": {"required": ["a", "b"]}},
        ["{}", '{"a":1}'],
        ['{"a":1,"b":1}'],
    ),
    (
        "not of additionalProperties",
        {"type": "object", "not": {"properties": {"a": {}}, "additionalProperties": INTEGER}},
        ['{"b":"x"}', '{"b":1,"c":"x"}', '{"a":1,"b":1,"c":"x","d":2}'],
        ["{}", '{"a":"x"}', '{"b":1}'],
    ),
    (
        "not of patternProperties",
        {"type": "object", "not": {"patternProperties": {"^x": INTEGER}}},
        ['{"x":"s"}', '{"x1":1,"x2":"s"}'],
        ["{}", '{"x":1}', '{"a":"s"}'],
    ),
    (
        "not of propertyNames",
        {"type": "object", "not": {"propertyNames": {"maxLength": 1}}},
        ['{"ab":1}', '{"a":1,"bc":2}'],
        ["{}", '{"a":1}'],
    ),
    (
        "two that no key may serve alone",
        {
            "type": "object",
            "not": {"anyOf": [{"propertyNames": {"const": "ab"}}, {"propertyNames": {"const": "cd"}}]},
        },
        ['{"ab":1,"cd":1}', '{"x":1}'],
        ["{}", '{"ab":1}', '{"cd":1}'],
    ),
    ("not of items", {"type": "array", "not": {"items": INTEGER}}, ['["x"]', '[1,"x"]'], ["[]", "[1,2]"]),
    ("not of contains", {"type": "array", "not": {"contains": INTEGER}}, ["[]", '["x"]'], ["[1]", '["x",1]']),
    (
        "not of counts",
        {"type": "array", "not": {"minItems": 1, "maxItems": 2}},
        ["[]", "[1,1,1]"],
        ["[1]", "[1,1]"],
    ),
    (
        "not of an object",
        {"not": {"enum": [{"a": 1}, [1]]}},
        ["{}", '{"a":2}', '{"a":1,"b":1}', "[]"],
        ['{"a":1}', "[1]"],
    ),
    ("double not", {"not": {"not": INTEGER}}, ["1"], ['"x"', "1.5"]),
    (
        "if, then and else",
        {
            "type": "object",
            "properties": {"k": {"enum": ["a", "b"]}, "v": {}},
            "required": ["k", "v"],
            "if": {"properties": {"k": {"const": "a"}}},
            "then": {"properties": {"v": INTEGER}},
            "else": {"properties": {"v": STRING}},
        },
        ['{"k":"a","v":1}', '{"k":"b","v":"s"}'],
        ['{"k":"a","v":"s"}', '{"k":"b","v":1}'],
    ),
    ("if and then", {"if": {"minimum": 5}, "then": {"multipleOf": 2}}, ["6", "3", '"x"'], ["7"]),
    ("if and else", {"if": {"minimum": 5}, "else": {"multipleOf": 2}}, ["7", "4", '"x"'], ["3"]),
    ("then without if", {"then": INTEGER}, ["1", '"x"'], []),
    (
        "unevaluatedProperties",
        {"allOf": [{"properties": {"a": INTEGER}}], "unevaluatedProperties": False},
        ["{}", '{"a":1}'],
        ['{"b":1}', '{"a":"x"}'],
    ),
    (
        "unevaluatedProperties after anyOf",
        {
            "anyOf": [
                {"properties": {"a": {}}, "required": ["a"]},
                {"properties": {"b": {}}, "required": ["b"]},
            ],
            "unevaluatedProperties": False,
        },
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
        ["{}", '{"a":1,"c":1}', '{"c":1}'],
    ),
    (
        "unevaluatedProperties do not see cousins",
        {"allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": False}]},
        ["{}"],
        ['{"a":1}'],
    ),
    (
        "siblings of all combinators meet",
        {"type": "integer", "minimum": 0, "anyOf": [{"maximum": 5}, {"const": 9}], "not": {"const": 3}},
        ["0", "5", "9"],
        ["-1", "3", "6"],
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_applicators(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


def test_many_overlapping_branches_collapse() -> None:
    branches = [{"type": "object", "required": [c], "properties": {c: INTEGER}} for c in "abcdefghij"]
    check({"oneOf": branches}, ['{"a":1}', '{"a":1,"b":"x"}'], ["{}", '{"a":1,"b":1}'])


def test_a_complement_that_cannot_be_told_is_refused_by_name() -> None:
    schema = {"properties": {"x": {"not": {"unevaluatedProperties": False}}}}
    with pytest.raises(JsonSchemaError) as caught:
        compiled(schema)
    assert caught.value.pointer == "/properties/x/not/unevaluatedProperties"
    check(schema, ['{"x":{"a":1}}', "{}"], ["["], loosen=["unevaluatedProperties"])


def test_a_schema_inside_itself_at_the_same_value() -> None:
    with pytest.raises(JsonSchemaError, match="itself"):
        compiled({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, INTEGER]}}, "$ref": "#/$defs/a"})
    with pytest.raises(JsonSchemaError, match="itself"):
        compiled({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})
