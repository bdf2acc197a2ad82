"""Keywords of arrays."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import JsonSchemaError
from tests.grammar_core.schema_texts import accepts, check, compiled

INTEGER = {"type": "integer"}
STRING = {"type": "string"}

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("items", {"type": "array", "items": INTEGER}, ["[]", "[1]", "[1, 2,3]"], ['["x"]', "[1,]", "[,1]", "1"]),
    ("free items", {"type": "array", "minItems": 1}, ['["x"]', "[[],{}]"], ["[]"]),
    (
        "bounds",
        {"items": INTEGER, "minItems": 2, "maxItems": 3},
        ["[1,2]", "[1,2,3]", '"x"'],
        ["[]", "[1]", "[1,2,3,4]"],
    ),
    ("only the empty array", {"type": "array", "items": False}, ["[]", "[ ]"], ["[1]"]),
    ("maxItems 0", {"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    (
        "prefixItems",
        {"type": "array", "prefixItems": [INTEGER, STRING]},
        ["[]", "[1]", '[1,"x"]', '[1,"x",null]'],
        ['["x"]', "[1,1]"],
    ),
    (
        "prefixItems and items",
        {
            "type": "array",
            "prefixItems": [INTEGER, STRING],
            "items": {"type": "null"},
            "minItems": 1,
            "maxItems": 4,
        },
        ["[1]", '[1,"x"]', '[1,"x",null,null]'],
        ["[]", '[1,"x",1]', '[1,"x",null,null,null]'],
    ),
    (
        "a prefix that cannot go on",
        {"type": "array", "prefixItems": [INTEGER, False], "minItems": 0},
        ["[]", "[1]"],
        ["[1,1]"],
    ),
    (
        "items as a list",
        {"type": "array", "items": [INTEGER, STRING], "additionalItems": False},
        ["[]", "[1]", '[1,"a"]'],
        ['["a",1]', '[1,"a",2]'],
    ),
    ("contains", {"type": "array", "contains": {"const": 7}}, ["[7]", "[1,7]", "[7,2,7]"], ["[]", "[1,2]"]),
    (
        "minContains and maxContains",
        {"type": "array", "contains": INTEGER, "minContains": 2, "maxContains": 3},
        ["[1,2]", '[1,"x",2]', "[1,2,3,null]"],
        ["[1]", "[]", "[1,2,3,4]"],
    ),
    ("minContains 0", {"type": "array", "contains": INTEGER, "minContains": 0}, ["[]", '["x"]', "[1]"], []),
    (
        "contains in a bounded array with a prefix",
        {"type": "array", "prefixItems": [STRING], "contains": INTEGER, "minItems": 2, "maxItems": 3},
        ['["x",1]', '["x",null,1]'],
        ["[1,1]", '["x","y"]', '["x"]', '["x",1,1,1]'],
    ),
    (
        "contains in a long array",
        {"type": "array", "contains": {"const": 7}, "minItems": 100, "maxItems": 100_000},
        ["[" + "1," * 99 + "7]"],
        ["[" + "1," * 98 + "7]", "[" + "1," * 99 + "1]"],
    ),
    (
        "uniqueItems of an enum",
        {
            "type": "array",
            "items": {"enum": [1, "x", None, [1], {"a": 1}]},
            "uniqueItems": True,
            "minItems": 2,
        },
        ['[1,"x"]', '[{"a":1},[1],null,"x",1]'],
        ["[1]", "[1,1]", '[1,"x",1]', "[[1],[1]]"],
    ),
    (
        "uniqueItems, equal numbers",
        {"type": "array", "items": {"enum": [1, 1.0, 2]}, "uniqueItems": True},
        ["[1,2]", "[2,1]"],
        ["[1,1.0]", "[1,1]"],
    ),
    (
        "uniqueItems of bounded integers",
        {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 4}, "uniqueItems": True},
        ["[]", "[4,2]", "[1,2,3,4]"],
        ["[1,1]", "[1,2,1]"],
    ),
    (
        "uniqueItems of booleans",
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
        ["[true,false]", "[false]"],
        ["[true,true]", "[true,false,true]"],
    ),
    (
        "uniqueItems of strings",
        {"type": "array", "items": STRING, "uniqueItems": True},
        ["[]", '["a"]', '["a","b"]', '["a","aa","A"]', '[""]', '["\\n","n"]'],
        ['["a","a"]', '["a","b","a"]', '["",""]', '["a","\\u0061"]', '["\\ud83d\\ude00","😀"]', "[1]"],
    ),
    (
        "uniqueItems of so many strings of a pattern",
        {"items": {"type": "string", "pattern": "^x"}, "uniqueItems": True, "minItems": 2, "maxItems": 3},
        ['["x","xy"]', '["x","xy","xz"]', "1"],
        ['["x"]', '["x","x"]', '["xy","x","xy"]', '["x","y"]', '["x","xa","xb","xc"]'],
    ),
    (
        "uniqueItems of strings and few other values",
        {"items": {"anyOf": [STRING, {"enum": [None, 1, 2, True]}]}, "uniqueItems": True, "type": "array"},
        ['["a",null,1,true,"b",2]', "[null]", '[1,"1"]'],
        ["[null,null]", '["a",1,1]', '[true,"a",true]', '["a",null,"a"]', "[3]"],
    ),
    (
        "uniqueItems of strings in one of two schemas",
        {
            "anyOf": [{"items": STRING, "uniqueItems": True}, {"items": STRING, "maxItems": 2}],
            "type": "array",
        },
        ['["a","a"]', '["a","b","c"]'],
        ['["a","b","a"]', '["a","a","b"]'],
    ),
    (
        "uniqueItems of lists of strings on their own",
        {"items": {"items": STRING, "type": "array", "uniqueItems": True}, "type": "array"},
        ['[["a","b"],["a"],["b","a"]]'],
        ['[["a"],["a","a"]]'],
    ),
    (
        "uniqueItems of items that differ anyway",
        {"type": "array", "prefixItems": [INTEGER, STRING], "items": False, "uniqueItems": True},
        ['[1,"1"]', "[1]"],
        ["[1,1]"],
    ),
    (
        "uniqueItems of one item",
        {"type": "array", "uniqueItems": True, "maxItems": 1},
        ["[]", '["x"]'],
        ["[1,2]"],
    ),
    (
        "uniqueItems of a few pairs",
        {"prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}], "items": False, "uniqueItems": True},
        ["[1,2]", "[2,3]", "[1]"],
        ["[2,2]"],
    ),
    (
        "unevaluatedItems",
        {"allOf": [{"prefixItems": [INTEGER]}], "unevaluatedItems": False},
        ["[]", "[1]"],
        ["[1,1]", '["x"]'],
    ),
    (
        "unevaluatedItems spare what contains has met",
        {"contains": STRING, "unevaluatedItems": INTEGER},
        ['["x"]', '["x",1,"y"]'],
        ["[1]", '["x",null]'],
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_array_keywords(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "pattern": "^(ab|x.*)$"}, "uniqueItems": True},
        {"type": "array", "prefixItems": [STRING], "items": STRING, "uniqueItems": True},
        {"type": "array", "items": STRING, "contains": {"const": "a"}, "uniqueItems": True},
        {"type": "array", "uniqueItems": True, "minItems": 2},
        {"properties": {"a": {"items": {"type": "object"}, "uniqueItems": True}}},
    ],
)
def test_unique_items_of_endless_values_are_refused_by_name(schema: Any) -> None:
    with pytest.raises(JsonSchemaError) as caught:
        compiled(schema)
    assert caught.value.keyword == "uniqueItems"
    assert caught.value.pointer.endswith("/uniqueItems")
    compiled(schema, loosen=["uniqueItems"])


def test_loosened_unique_items_keep_everything_else() -> None:
    schema = {"type": "array", "items": {"type": "number"}, "uniqueItems": True, "maxItems": 2}
    check(schema, ["[1,1]", "[1,2]"], ['["a"]', "[1,2,3]"], loosen=["uniqueItems"])


def test_a_million_items() -> None:
    schema = {"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 1_000_000}
    assert accepts(schema, "[1,2]")
    assert not accepts(schema, "[]")
