"""References, identifiers and drafts."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import JsonSchemaError
from tests.grammar_core.schema_texts import check, compiled

INTEGER = {"type": "integer"}
STRING = {"type": "string"}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    (
        "siblings of $ref count",
        {"$defs": {"s": STRING}, "$ref": "#/$defs/s", "maxLength": 2},
        ['"ab"'],
        ['"abc"', "1"],
    ),
    (
        "siblings of $ref do not count up to draft 7",
        {
            "$schema": DRAFT_7,
            "definitions": {"s": STRING},
            "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 2}},
        },
        ['{"a":"abc"}'],
        ['{"a":1}'],
    ),
    (
        "escapes in pointers",
        {"$defs": {"a/b~c%": INTEGER}, "$ref": "#/$defs/a~1b~0c%25"},
        ["1"],
        ['"x"'],
    ),
    (
        "a pointer into a list",
        {"anyOf": [STRING, {"items": {"$ref": "#/anyOf/0"}, "type": "array"}]},
        ['["x"]'],
        ["[1]"],
    ),
    (
        "a property's schema",
        {"properties": {"test": INTEGER, "b": {"$ref": "#/properties/test"}}},
        ['{"b":1}'],
        ['{"b":"x"}'],
    ),
    ("$anchor", {"$defs": {"s": {"$anchor": "foo", "type": "integer"}}, "$ref": "#foo"}, ["1"], ['"a"']),
    (
        "$id and relative references",
        {
            "$id": "https://example.com/root.json",
            "properties": {"a": {"$ref": "item.json"}, "b": {"$ref": "item.json#/$defs/inner"}},
            "$defs": {"x": {"$id": "item.json", "type": "integer", "$defs": {"inner": STRING}}},
        },
        ['{"a":1,"b":"x"}'],
        ['{"a":"x"}', '{"b":1}'],
    ),
    (
        "id of draft 4",
        {
            "$schema": DRAFT_4,
            "id": "http://example.com/root",
            "properties": {"a": {"$ref": "other"}},
            "definitions": {"o": {"id": "other", "type": "integer"}},
        },
        ['{"a":1}'],
        ['{"a":"x"}'],
    ),
    (
        "a tree",
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "value": INTEGER,
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
        },
        ['{"value":1}', '{"value":1,"children":[{"value":2,"children":[]},{"value":3}]}'],
        ['{"value":1,"children":[{}]}', '{"children":[]}'],
    ),
    (
        "the whole schema again",
        {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        ['{"a":{"a":{}}}'],
        ['{"a":{"b":1}}'],
    ),
    (
        "$dynamicRef finds the outermost $dynamicAnchor",
        {
            "$id": "https://example.com/strict-tree",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "https://example.com/tree",
                    "$dynamicAnchor": "node",
                    "type": "object",
                    "properties": {
                        "data": True,
                        "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
                    },
                }
            },
        },
        ['{"children":[{"data":1}]}'],
        ['{"children":[{"daat":1}]}', '{"daat":1}'],
    ),
    (
        "$recursiveRef",
        {
            "$schema": DRAFT_2019,
            "$id": "https://example.com/strict",
            "$recursiveAnchor": True,
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "https://example.com/tree",
                    "$recursiveAnchor": True,
                    "type": "object",
                    "properties": {"children": {"items": {"$recursiveRef": "#"}}},
                }
            },
        },
        ['{"children":[{"children":[]}]}'],
        ['{"children":[{"x":1}]}'],
    ),
    (
        "exclusive bounds of draft 4",
        {"$schema": DRAFT_4, "type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 3},
        ["2", "3"],
        ["1", "4"],
    ),
    ("const is no keyword of draft 4", {"$schema": DRAFT_4, "const": 1}, ["1", '"x"'], []),
    ("const is one of draft 6", {"$schema": DRAFT_6, "const": 1}, ["1"], ['"x"']),
    ("if is no keyword of draft 6", {"$schema": DRAFT_6, "if": True, "then": INTEGER}, ['"x"'], []),
    (
        "items as a list in draft 2019-09",
        {"$schema": DRAFT_2019, "items": [INTEGER], "unevaluatedItems": False},
        ["[1]"],
        ['["x"]', "[1,1]"],
    ),
    ("prefixItems is no keyword of draft 7", {"$schema": DRAFT_7, "prefixItems": [INTEGER]}, ['["x"]'], []),
    ("nullable where no draft is declared", {"type": "string", "nullable": True}, ["null", '"x"'], ["1"]),
    (
        "nullable is unknown to the drafts",
        {"$schema": DRAFT_7, "type": "string", "nullable": True},
        ['"x"'],
        ["null"],
    ),
    ("unknown keywords annotate", {"type": "integer", "x-foo": {"$ref": 17}, "foo": [1]}, ["1"], ['"x"']),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_references_and_drafts(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


def test_bundled_documents() -> None:
    documents = {"https://example.com/defs.json": {"$defs": {"n": INTEGER}, "items": {"$ref": "#/$defs/n"}}}
    check({"$ref": "https://example.com/defs.json"}, ["[1]"], ['["x"]'], documents=documents)
    check(
        {"items": {"$ref": "https://example.com/defs.json#/$defs/n"}}, ["[1]"], ['["x"]'], documents=documents
    )


def test_the_metaschema_is_at_hand() -> None:
    schema = {"$ref": DRAFT_7.rstrip("#")}
    check(
        schema,
        ['{"type":"integer"}', "true"],
        ['{"type":"foo"}', '{"minLength":-1}'],
        loosen=["format", "uniqueItems"],
    )


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, "/properties/a/$ref"),
        ({"$ref": "https://example.com/other.json"}, "/$ref"),
        ({"items": {"$ref": "#nowhere"}}, "/items/$ref"),
        ({"items": {"$ref": 3}}, "/items/$ref"),
    ],
)
def test_references_to_nothing(schema: Any, pointer: str) -> None:
    with pytest.raises(JsonSchemaError) as caught:
        compiled(schema)
    assert caught.value.pointer == pointer


def test_drafts_before_4_are_refused() -> None:
    with pytest.raises(JsonSchemaError, match="draft-03"):
        compiled({"$schema": "http://json-schema.org/draft-03/schema#"})


@pytest.mark.parametrize("segment", ["²", "٠", "01234", "9" * 5_000, "-1", "1"])
def test_a_pointer_that_names_no_item_of_a_list(segment: str) -> None:
    with pytest.raises(JsonSchemaError, match="Cannot find"):
        compiled({"$ref": f"#/allOf/{segment}", "allOf": [True]})


def test_an_identifier_that_is_no_uri_is_a_name_all_the_same() -> None:
    named = {"$id": "http://[x", "$ref": "#/$defs/a", "$defs": {"a": {"const": 1}}}
    check(named, ["1"], ["2"])
    with pytest.raises(JsonSchemaError, match="Cannot find"):
        compiled({"$id": "http://[x", "$ref": "http://[y"})
