"""What users of other engines have found wrong with theirs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_core import JsonSchemaError
from tests.grammar_core.schema_texts import check, compiled

INTEGER = {"type": "integer"}
STRING = {"type": "string"}

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("an object without properties is free", {"type": "object"}, ["{}", '{"a":1}'], ["[]"]),
    ("an array without items is free", {"type": "array", "minItems": 2}, ['[1,"x"]'], ["[]", "[1]"]),
    (
        "siblings of anyOf count",
        {"properties": {"t": STRING}, "required": ["t"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ['{"t":"x","a":1}', '{"t":"x","b":1,"z":2}'],
        ['{"t":"x"}', '{"t":1,"a":1}', '{"a":1}'],
    ),
    (
        "declared keys after others",
        {"type": "object", "properties": {"a": INTEGER}, "required": ["a"], "additionalProperties": True},
        ['{"x":1,"a":2}', '{"a":2,"x":1}', '{"x":1,"a":2,"y":3}'],
        ['{"x":1}', '{"x":1,"a":"s"}'],
    ),
    (
        "a declared key cannot come as an extra one",
        {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": True},
        ['{"a":1}', '{"b":"x"}'],
        ['{"a":"wrong"}', '{"\\u0061":"wrong"}'],
    ),
    (
        "strings of bounded length keep their escapes",
        {"type": "string", "maxLength": 5},
        ['"a\\nb\\"c"', '"\\ud83d\\ude00\\ud83d\\ude00"', '"\\u00e9\\t\\\\\\/\\b"'],
        ['"abcdef"', '"\\n\\n\\n\\n\\n\\n"'],
    ),
    (
        "raw control characters are no JSON",
        {"type": "string", "maxLength": 5},
        ['"\\t"'],
        ['"\t"', '"\x00"', '"\x1f"'],
    ),
    ("pattern with maxLength", {"pattern": "^a+$", "maxLength": 3}, ['"aaa"'], ['"aaaa"', '"b"']),
    ("format with maxLength", {"format": "ipv4", "maxLength": 8}, ['"1.2.3.4"'], ['"100.200.100.200"']),
    ("maxLength", {"type": "string", "maxLength": 2}, ['"ab"'], ['"abc"']),
    (
        "minItems and maxItems",
        {"items": INTEGER, "minItems": 1, "maxItems": 2},
        ["[1]", "[1,2]"],
        ["[]", "[1,2,3]"],
    ),
    (
        "ranges around zero",
        {"type": "number", "minimum": -4, "maximum": 4},
        ["-0.5", "0", "4", "-4"],
        ["4.01", "-5"],
    ),
    ("a decimal minimum", {"type": "number", "minimum": 1.5}, ["1.5", "2"], ["1.4", "1x5"]),
    (
        "prefixItems do not force all items",
        {"type": "array", "prefixItems": [INTEGER, INTEGER]},
        ["[]", "[1]"],
        ['["x"]'],
    ),
    (
        "propertyNames with additionalProperties",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": INTEGER},
        ['{"ab":1}'],
        ['{"ab":"x"}', '{"A":1}'],
    ),
    ("enums beyond ASCII", {"enum": ["中文", "é"]}, ['"中文"', '"é"'], ['"ä¸"', '"e"']),
    ("email", {"format": "email"}, ['"a@b.c"'], ['"a@"', '"@b.c"']),
    (
        "days of months",
        {"format": "date"},
        ['"2024-02-29"'],
        ['"2024-02-30"', '"2023-02-29"', '"2024-04-31"'],
    ),
    ("numbers of addresses", {"format": "ipv4"}, ['"1.1.1.1"'], ['"01.1.1.1"', '"256.1.1.1"']),
    (
        "a large constant",
        {"const": 12345678901234567890},
        ["12345678901234567890"],
        ["1.2345678901234567e+19"],
    ),
    ("pattern is a search", {"type": "string", "pattern": "a"}, ['"xax"'], ['"xbx"']),
    ("patternProperties search", {"patternProperties": {"^a": INTEGER}}, ['{"ab":1}'], ['{"ab":"x"}']),
    (
        "keys with letters after the pattern",
        {"patternProperties": {"^a": INTEGER}, "additionalProperties": False},
        ['{"ab":1}'],
        ['{"b":1}'],
    ),
    ("an unknown keyword", {"abc": "def"}, ["1", '"x"'], []),
    (
        "a tree of references to itself",
        {
            "$defs": {"n": {"properties": {"c": {"$ref": "#/$defs/n"}}, "additionalProperties": False}},
            "$ref": "#/$defs/n",
        },
        ['{"c":{"c":{"c":{}}}}'],
        ['{"c":{"d":1}}'],
    ),
    (
        "twelve optional arrays",
        {
            "type": "object",
            "properties": {
                f"p{i}": {"type": "array", "items": STRING, "minItems": 0, "maxItems": 20} for i in range(12)
            },
        },
        ['{"p0":[],"p11":["x"]}'],
        ['{"p3":["x"],"p3":[]}', '{"p5":[1]}'],
    ),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_done_right(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


def test_white_space_can_be_bounded() -> None:
    schema = {"type": "object", "properties": {"a": INTEGER}}
    endless = '{"a":' + " " * 100 + "1}"
    check(schema, ['{ "a" : 1 }'], [endless], max_whitespace_cnt=1)
    check(schema, [endless], [])


@pytest.mark.parametrize("count", [10, 100])
def test_many_optional_properties_in_any_order(count: int) -> None:
    schema = {"properties": {f"p{i}": INTEGER for i in range(count)}, "additionalProperties": False}
    backwards = json.dumps({f"p{i}": 1 for i in reversed(range(count))})
    check(schema, [backwards], ['{"p1":1,"p0":1,"p1":1}'], any_order=True)


def test_deep_recursion_of_values() -> None:
    schema = {
        "$defs": {"n": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}},
        "$ref": "#/$defs/n",
    }
    check(schema, ["[" * 500 + "]" * 500, "[[null],null]"], ["[1]"])


def test_what_cannot_be_enforced_is_refused_and_never_ignored() -> None:
    for keyword, schema in (
        ("uniqueItems", {"type": "array", "uniqueItems": True}),
        ("pattern", {"type": "string", "pattern": r"(a)\1"}),
        ("format", {"type": "string", "format": "idn-hostname"}),
    ):
        with pytest.raises(JsonSchemaError) as caught:
            compiled({"properties": {"x": schema}})
        assert caught.value.keyword == keyword
        assert caught.value.pointer == f"/properties/x/{keyword}"
