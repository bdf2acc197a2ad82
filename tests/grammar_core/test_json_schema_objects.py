"""Keywords of objects."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from tests.grammar_core.schema_texts import check, compiled, matches

INTEGER = {"type": "integer"}

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    (
        "properties",
        {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string"}}},
        ["{}", '{"a":1}', '{"a":1,"b":"x"}', '{"b":"x"}', '{"x":null}', '{"x":1,"a":1,"y":2,"b":"","z":3}'],
        ['{"a":"x"}', '{"b":1}', '{"b":"x","a":1}', '{"a":1,"a":1}', "[]", "1", '{"a":1,}', '{"a":1'],
    ),
    (
        "a key that is not declared is not a declared one in disguise",
        {"properties": {"a": INTEGER, "a/b\n": INTEGER}},
        ['{"ab":"x"}', '{"":"x"}', '{"A":"x"}', '{"a/b":"x"}', '{"a/b\\n":1}', '{"a/b\\\\n":"x"}'],
        ['{"a":"x"}', '{"\\u0061":"x"}', '{"a/b\\n":"x"}', '{"a\\/b\\n":"x"}', '{"a/b\\u000a":"x"}'],
    ),
    (
        "required, declared or not",
        {"type": "object", "properties": {"a": INTEGER}, "required": ["a", "z"]},
        ['{"a":1,"z":[]}', '{"q":1,"a":1,"q2":2,"z":1}'],
        ["{}", '{"a":1}', '{"z":1}'],
    ),
    (
        "additionalProperties false",
        {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False},
        ["{}", '{"a":1}'],
        ['{"b":1}', '{"a":1,"b":1}'],
    ),
    (
        "additionalProperties as a schema",
        {"properties": {"a": {"type": "string"}}, "additionalProperties": INTEGER},
        ['{"b":1,"a":"x","c":2}', "7"],
        ['{"b":"x"}', '{"a":1}'],
    ),
    (
        "required and additionalProperties with a schema",
        {"type": "object", "required": ["n"], "additionalProperties": INTEGER},
        ['{"n":1}', '{"m":1,"n":1}'],
        ["{}", '{"n":"x"}'],
    ),
    (
        "a required key that may not be there",
        {
            "type": ["object", "null"],
            "required": ["b"],
            "properties": {"a": True},
            "additionalProperties": False,
        },
        ["null"],
        ["{}", '{"a":1}', '{"b":1}'],
    ),
    (
        "a property that is forbidden",
        {"type": "object", "properties": {"a": False, "b": INTEGER}},
        ["{}", '{"b":1}', '{"c":1}'],
        ['{"a":1}', '{"b":1,"a":null}'],
    ),
    (
        "patternProperties search, and meet properties",
        {
            "type": "object",
            "properties": {"score": {"multipleOf": 5}},
            "patternProperties": {"^s": INTEGER, "e$": {"minimum": 3}},
            "additionalProperties": False,
        },
        ['{"score":10}', '{"sx":-4}', '{"xe":3.5}', '{"se":4}'],
        ['{"score":3}', '{"score":2.5}', '{"sx":1.5}', '{"xe":1}', '{"se":1}', '{"se":3.5}', '{"x":1}'],
    ),
    (
        "patternProperties leave other keys alone",
        {"patternProperties": {"a": INTEGER}},
        ['{"b":"x"}', '{"xax":1}'],
        ['{"xax":"x"}'],
    ),
    (
        "propertyNames",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}},
        ["{}", '{"ab":1,"cd":2}'],
        ['{"A":1}', '{"abcd":1}', '{"ab":1,"C":2}'],
    ),
    (
        "propertyNames forbid a declared key",
        {"type": "object", "properties": {"ab": {}, "abcd": {}}, "propertyNames": {"maxLength": 3}},
        ["{}", '{"ab":1}'],
        ['{"abcd":1}'],
    ),
    (
        "minProperties and maxProperties",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}, "c": {}},
            "additionalProperties": False,
            "minProperties": 2,
            "maxProperties": 2,
        },
        ['{"a":1,"b":1}', '{"a":1,"c":1}', '{"b":1,"c":1}'],
        ["{}", '{"a":1}', '{"c":1}', '{"a":1,"b":1,"c":1}'],
    ),
    (
        "minProperties with other keys",
        {"type": "object", "minProperties": 2, "maxProperties": 3},
        ['{"a":1,"b":1}', '{"a":1,"b":1,"c":1}'],
        ["{}", '{"a":1}', '{"a":1,"b":1,"c":1,"d":1}'],
    ),
    (
        "dependentRequired",
        {"properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b", "z"]}},
        ["{}", '{"b":1}', '{"a":1,"b":1,"z":1}', '{"z":1}'],
        ['{"a":1}', '{"a":1,"b":1}', '{"a":1,"z":1}'],
    ),
    (
        "dependentRequired on what may not be there",
        {"properties": {"a": {}, "b": False}, "dependentRequired": {"a": ["b"], "c": ["a"]}},
        ["{}", '{"x":1}'],
        ['{"a":1}', '{"c":1}'],
    ),
    (
        "dependentSchemas",
        {
            "properties": {"a": {}},
            "dependentSchemas": {"a": {"properties": {"b": INTEGER}, "required": ["b"]}},
        },
        ["{}", '{"b":"x"}', '{"a":1,"b":1}'],
        ['{"a":1}', '{"a":1,"b":"x"}'],
    ),
    (
        "dependencies of the earlier drafts",
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        ["{}", '{"a":1,"b":1}', '{"c":1,"d":1}'],
        ['{"a":1}', '{"c":1}'],
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_object_keywords(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


def test_any_order_has_every_order_and_neither_duplicates_nor_gaps() -> None:
    names = ["a", "b", "c"]
    schema = {"type": "object", "properties": dict.fromkeys(names, INTEGER), "required": ["a", "c"]}
    grammar = compiled(schema, any_order=True)
    for order in permutations(names):
        assert matches(grammar, json.dumps(dict.fromkeys(order, 1)))
    assert matches(grammar, '{"c":1,"x":2,"a":1}')
    for text in ('{"a":1,"b":1}', '{"c":1,"c":1,"a":1}', '{"c":1,"a":1,"c":2}', "{}"):
        assert not matches(grammar, text)


def test_many_optional_properties_of_which_half_must_come() -> None:
    schema = {
        "type": "object",
        "properties": {f"p{i}": INTEGER for i in range(300)},
        "additionalProperties": False,
        "minProperties": 150,
    }
    half = json.dumps({f"p{i}": 1 for i in range(0, 300, 2)})
    fewer = json.dumps({f"p{i}": 1 for i in range(0, 298, 2)})
    check(schema, [half], [fewer])
    check(schema, [half], [fewer], any_order=True)
