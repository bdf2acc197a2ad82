"""What a differential test against another validator has found: random schemas, values judged by both."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import JsonSchemaError
from tests.grammar_core.schema_texts import check, compiled

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

UNIQUE_CONSTANTS: list[tuple[str, Any, list[str], list[str]]] = [
    (
        "one constant",
        {"enum": [[[[[1]]], [[[2]]]]], "uniqueItems": True},
        ["[[[[1]]],[[[2]]]]"],
        ["[[[[1]]],[[[1]]]]", "[]"],
    ),
    (
        "objects",
        {"enum": [[{"a": {"b": {"c": True}}}, {"a": {"b": {"c": False}}}]], "uniqueItems": True},
        ['[{"a":{"b":{"c":true}}},{"a":{"b":{"c":false}}}]'],
        ['[{"a":{"b":{"c":true}}},{"a":{"b":{"c":true}}}]'],
    ),
    (
        "a value for each position",
        {
            "$schema": DRAFT_7,
            "items": [{"enum": [[[[[1]]]]]}, {"enum": [[[[[2]]]]]}],
            "uniqueItems": True,
            "minItems": 2,
            "maxItems": 2,
        },
        ["[[[[[1]]]],[[[[2]]]]]"],
        ["[[[[[1]]]],[[[[1]]]]]"],
    ),
    (
        "a constant for each position",
        {
            "$schema": DRAFT_7,
            "items": [{"const": [[[1]]]}, {"const": [[[2]]]}],
            "uniqueItems": True,
            "maxItems": 2,
        },
        ["[]", "[[[[1]]]]", "[[[[1]]],[[[2]]]]"],
        ["[[[[1]]],[[[1]]]]"],
    ),
    (
        "values that two positions share",
        {
            "prefixItems": [{"enum": [[[[[1]]]], [[[[2]]]]]}, {"enum": [[[[[2.0]]]], [[[[3]]]]]}],
            "items": False,
            "uniqueItems": True,
            "minItems": 2,
        },
        ["[[[[[1]]]],[[[[2]]]]]", "[[[[[2]]]],[[[[3]]]]]"],
        ["[[[[[2]]]],[[[[2]]]]]"],
    ),
    (
        "numbers that are equal, at any depth",
        {"enum": [[[[[1]]], [[[1.0]]]], 7], "uniqueItems": True},
        ["7"],
        ["[[[[1]]],[[[1.0]]]]", "[[[[1]]],[[[1]]]]"],
    ),
    (
        "objects whose keys come in another order",
        {"enum": [[{"a": {"x": [1], "y": 2}}, {"a": {"y": 2.0, "x": [1]}}], 7], "uniqueItems": True},
        ["7"],
        ['[{"a":{"x":[1],"y":2}},{"a":{"y":2.0,"x":[1]}}]'],
    ),
    (
        "a constant for all items",
        {"items": {"const": [[[1]]]}, "uniqueItems": True},
        ["[]", "[[[[1]]]]"],
        ["[[[[1]]],[[[1]]]]"],
    ),
    (
        "half is no object",
        {"items": {"enum": [0.5, {"": "1/2"}]}, "uniqueItems": True, "minItems": 2},
        ['[0.5,{"":"1/2"}]', '[{"":"1/2"},0.5]'],
        ["[0.5,0.5]", "[0.5]"],
    ),
]


@pytest.mark.parametrize(("name", "schema", "accepted", "refused"), UNIQUE_CONSTANTS)
def test_constants_are_compared_as_values(
    name: str, schema: Any, accepted: list[str], refused: list[str]
) -> None:
    """uniqueItems took constants that differ far inside for equal ones."""
    check(schema, accepted, refused)


def test_what_a_vocabulary_does_not_assert_excludes_nothing() -> None:
    """Types and constants where the metaschema leaves the validation vocabulary out."""
    applicators = {"https://json-schema.org/draft/2020-12/vocab/applicator": True}
    metaschema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$vocabulary": applicators}
    schema = {
        "$schema": "x:meta",
        "anyOf": [{"type": "string"}, {"enum": [2]}],
        "allOf": [{"const": 3}, {"properties": {"a": False}}],
    }
    check(schema, ["1", '"x"', "2", '{"b":1}'], ['{"a":1}'], documents={"x:meta": metaschema})


@pytest.mark.parametrize(
    "uri", [r"https:\/\/json-schema.org\/draft\/2020-12\/schema", DRAFT_2020, DRAFT_2019]
)
def test_metaschemas_are_enforced_at_every_depth(uri: str) -> None:
    """The metaschemas, where nothing else had dynamic references, did not see what is inside a schema."""
    wrong = ['{"$defs":{"foo":{"type":1}}}', '{"properties":{"a":{"not":{"minimum":"x"}}}}']
    schema = f'{{"allOf": [{{"enum": [{wrong[0]}, {wrong[1]}, {{}}]}}, {{"$ref": "{uri}"}}]}}'
    check(schema, ["{}"], wrong)
    check({"$ref": "x:m"}, ["{}"], wrong, documents={"x:m": schema})


def test_dynamic_references_may_be_escaped() -> None:
    """Keywords of a schema's text are those that its value has, however they are written."""
    schema = r"""{"$id": "x:o", "allOf": [{"$ref": "list"}], "$defs": {
        "strings": {"\u0024dynamicAnchor": "T", "type": "string"},
        "list": {"\u0024id": "list", "items": {"\u0024dynamicRef": "#T"},
                 "$defs": {"any": {"\u0024dynamicAnchor": "T"}}}}}"""
    check(schema, ['["a"]', "[]"], ["[1]"])


def _of(draft: str | None, schema: dict[str, Any]) -> dict[str, Any]:
    return schema if draft is None else {"$schema": draft, **schema}


DIALECTS = (None, "x:unknown", "http://json-schema.org/draft-04/schema#", DRAFT_7, DRAFT_2019, DRAFT_2020)


@pytest.mark.parametrize("draft", DIALECTS)
def test_dependencies_count_in_every_draft(draft: str | None) -> None:
    """2019-09 has replaced them; the optional part of the official suite keeps them in force after it too."""
    schema = _of(draft, {"type": "object", "dependencies": {"a": ["b"], "c": {"maxProperties": 1}}})
    check(schema, ['{"a":1,"b":1}', '{"c":1}', '{"b":1}'], ['{"a":1}', '{"c":1,"d":1}'])
    check(_of(draft, {"type": "object", "not": {"dependencies": {"a": ["b"]}}}), ['{"a":1}'], ["{}"])


def test_an_unknown_dialect_is_read_as_none() -> None:
    """All that a schema without $schema may use, under a $schema that nobody knows."""
    schema = {
        "$schema": "https://example.com/dialect",
        "items": [{"type": "integer", "minimum": 1, "exclusiveMinimum": True}],
        "additionalItems": {"type": "string", "nullable": True},
    }
    check(schema, ['[2,"x",null]', "[]"], ["[1]", "[2,3]"])
    lists = {"prefixItems": [{"type": "integer"}], "dependentRequired": {"a": ["b"]}}
    check({"$schema": "https://example.com/dialect", **lists}, ["[1]", "{}"], ['["x"]', '{"a":1}'])


OTHER_DRAFTS: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    (DRAFT_7, {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": False}}, ['{"a":1}'], []),
    (DRAFT_7, {"unevaluatedProperties": False, "unevaluatedItems": False}, ['{"a":1}', "[1]"], []),
    (DRAFT_7, {"prefixItems": [False], "minContains": 2, "contains": {}}, ["[1]"], ["[]"]),
    (DRAFT_7, {"$recursiveRef": "#/not", "$dynamicRef": "#/not", "not": False}, ["1"], []),
    (DRAFT_7, {"id": 1, "$anchor": 1, "type": "integer"}, ["1"], ['"x"']),
    (DRAFT_2019, {"prefixItems": [False], "items": [{"type": "integer"}]}, ["[1]"], ['["x"]']),
    (DRAFT_2019, {"$dynamicRef": "#/not", "not": False}, ["1"], []),
    (DRAFT_2020, {"$recursiveRef": "#/not", "not": False}, ["1"], []),
    (DRAFT_2020, {"prefixItems": [{}], "additionalItems": False}, ["[1,2]"], []),
    ("http://json-schema.org/draft-06/schema#", {"if": {}, "then": False}, ["1"], []),
    ("http://json-schema.org/draft-04/schema#", {"const": 1, "propertyNames": False}, ['{"a":1}'], []),
    ("http://json-schema.org/draft-04/schema#", {"contains": False, "$id": 1}, ["[1]"], []),
]


@pytest.mark.parametrize(("draft", "schema", "accepted", "refused"), OTHER_DRAFTS)
def test_keywords_of_other_drafts_annotate(
    draft: str, schema: dict[str, Any], accepted: list[str], refused: list[str]
) -> None:
    """What the declared draft does not have yet, or has no longer."""
    check({"$schema": draft, **schema}, accepted, refused)


def test_dynamic_anchors_of_other_drafts_name_nothing() -> None:
    """A $dynamicAnchor under 2019-09, and a $recursiveAnchor under 2020-12."""
    named = {"$ref": "#name", "$defs": {"a": {"$dynamicAnchor": "name"}}}
    compiled({"$schema": DRAFT_2020, **named})
    with pytest.raises(JsonSchemaError, match="Cannot find"):
        compiled({"$schema": DRAFT_2019, **named})


def test_constants_are_spelled_as_json_writers_spell_them() -> None:
    """json.dumps and JSON.stringify write an exponent where constants were only taken without one."""
    large = "1" + "0" * 21
    texts = ["1e-05", "1e-5", "0.00001", "1e+22", "1e21", "1e+21", large, "5"]
    check('{"enum": [1e-05, 1e+22, 1e21, 5]}', texts, ["5.0", "5e0", "1E-05", "1e-06"])
    check({"const": -1.5e-07}, ["-1.5e-07", "-1.5e-7"], ["1.5e-07", "-15e-8"])
    check({"type": "number", "minimum": 1e-7, "maximum": 1e-7}, ["1e-07"], ["2e-07"])
    check({"not": {"not": {"enum": [[1e-7]]}}}, ["[1e-07]"], ["[1e-06]"])
    check('{"enum": [1e400, 1.0]}', ["1e400", "1.0", "1"], ["1e401", "1.00"])
    check({"enum": [1e-5, 1e22]}, ["1e-05", "1e+22", "10e-6"], ["1e-06"], lexical="any")


def test_plain_integers_stay_plain() -> None:
    """The exponents of constants are none of integers."""
    check({"type": "integer"}, ["1"], ["1.0", "1e5", "1e+22"])
    check({"enum": [10**22, 1]}, ["1" + "0" * 22, "1"], ["1e+22", "1.0"])


MULTIPLES: list[tuple[Any, list[str], list[str]]] = [
    (0.5, ["1e+20", "1.5e+16", "1.2345678901234567e+16", "-1e+300", "0e5", "1.5"], ["1.5e0", "1e-1"]),
    (0.01, ["1e+20", "1.5e-1", "1e-2"], ["1.234e0", "1e-3", "1.5e-2"]),
    (1e-05, ["1e-05", "-3e-05", "1.5e-04"], ["1e-06", "1.5e-05"]),
    (1000, ["1e+16", "1.234e6"], ["1e2", "1.2345e6", "1.2344e6"]),
]


@pytest.mark.parametrize(("step", "accepted", "refused"), MULTIPLES)
def test_multiples_may_have_exponents(step: Any, accepted: list[str], refused: list[str]) -> None:
    """json.dumps writes floats of 1e16 and more, and those below 1e-4, with one."""
    check({"type": "number", "multipleOf": step}, accepted, refused)
    check({"type": "integer", "multipleOf": step}, ["0"], [text for text in accepted if "e" in text])


def test_multiples_within_bounds_may_have_exponents() -> None:
    """Bounds beside a multipleOf hold for every spelling."""
    schema = {"type": "number", "multipleOf": 0.5, "minimum": 1e20, "maximum": 2e21}
    check(schema, ["1e+20", "1.5e+21", "2e+21"], ["9.9e+19", "3e+21", "1e-20", "0e1", "-1e20"])


@pytest.mark.parametrize("whole", [{"multipleOf": 1}, {"type": "integer"}])
def test_what_is_too_small_for_a_multiple_may_have_an_exponent(whole: Any) -> None:
    """json.dumps writes a small fraction with an exponent, which is no whole number."""
    check(
        {"type": "number", "not": whole}, ["1e-05", "-1.5e-09", "0.5", "9.9e-1"], ["1", "1e0", "0e-5", "2e-0"]
    )
    bounded = {"type": "number", "minimum": 1e-6, "maximum": 3, "not": whole}
    check(bounded, ["1e-05", "1e-6", "2.5"], ["1e-07", "-1e-05", "2"])
    check({**bounded, "allOf": [{"not": {"const": 1e-5}}]}, ["2e-05"], ["1e-05", "0.00001"])


UNIQUE_AND_CONTAINS: list[tuple[Any, list[str], list[str]]] = [
    ({"contains": {"const": 1}}, ["[1]", "[2,1]", "[3,1,2]"], ["[]", "[2]", "[2,3]", "[1,1]", "[1,2,2]"]),
    (
        {"contains": {"minimum": 2}, "minContains": 2},
        ["[2,3]", "[3,1,2]"],
        ["[2]", "[1,2]", "[2,2]", "[2,3,2]"],
    ),
    ({"contains": {"minimum": 2}, "maxContains": 1}, ["[2]", "[1,3]"], ["[1]", "[2,3]", "[3,3]"]),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 0}, ["[]", "[3,2]"], ["[1]", "[2,2]"]),
    ({"contains": True, "minContains": 2}, ["[1,2]", "[3,1,2]"], ["[1]", "[1,1]"]),
    ({"contains": {"const": 1}, "allOf": [{"contains": {"const": 2}}]}, ["[2,1]", "[1,3,2]"], ["[1,3]"]),
    (
        {"contains": {"const": 1}, "minItems": 2, "maxItems": 2},
        ["[1,2]", "[3,1]"],
        ["[1]", "[2,3]", "[1,2,3]"],
    ),
    ({"not": {"contains": {"const": 2}}}, ["[]", "[1,3]"], ["[2]", "[1,1]"]),
    ({"contains": {"const": 1}, "unevaluatedItems": False}, ["[1,2]"], ["[2]", "[1,1]"]),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), UNIQUE_AND_CONTAINS)
def test_unique_items_of_few_values_are_counted(
    schema: dict[str, Any], accepted: list[str], refused: list[str]
) -> None:
    """uniqueItems together with contains was refused, however few values the items had."""
    check({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, **schema}, accepted, refused)


def test_unique_items_of_positions_are_counted() -> None:
    """As above, where the first items have schemas of their own, and where all differ anyway."""
    pairs = {"prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}], "items": False, "uniqueItems": True}
    check(
        {**pairs, "type": "array", "contains": {"const": 2}},
        ["[2]", "[1,2]", "[2,3]"],
        ["[1]", "[1,3]", "[2,2]"],
    )
    apart = {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "uniqueItems": True}
    check({**apart, "type": "array", "contains": {"const": "a"}}, ['[1,"a"]'], ["[]", "[1]", '[1,"b"]'])
    objects = {"items": {"enum": [{"a": {"b": 1}}, {"a": {"b": 2}}]}, "uniqueItems": True, "type": "array"}
    check(
        {**objects, "contains": {"const": {"a": {"b": 2}}}},
        ['[{"a":{"b":2}}]', '[{"a":{"b":1}},{"a":{"b":2}}]'],
        ['[{"a":{"b":1}}]', '[{"a":{"b":2}},{"a":{"b":2}}]'],
    )


def test_too_many_choices_of_counted_unique_items_are_refused() -> None:
    """Half of many values can be chosen in too many ways."""
    schema = {"items": {"enum": list(range(100))}, "uniqueItems": True}
    half = {"contains": {"minimum": 50}, "minContains": 25}
    with pytest.raises(JsonSchemaError, match="too many choices"):
        compiled({**schema, **half})
    loosened = {"type": "array", **schema, **half, "minContains": 1}
    check(loosened, ["[50]", "[1,99]"], ["[1]", "[50,50]", "[100]"])
    check(
        {**loosened, "minContains": 25}, ["[" + ",".join(["50"] * 25) + "]"], ["[50]"], loosen=["uniqueItems"]
    )


def test_large_whole_multiples() -> None:
    """Steps of more than 4,096 were refused, and several that come to more."""
    check(
        {"type": "integer", "multipleOf": 65_536},
        ["0", "65536", "-131072", "6553600"],
        ["1", "65537", "32768"],
    )
    several = {"type": "integer", "allOf": [{"multipleOf": 8}, {"multipleOf": 7}, {"multipleOf": 143}]}
    check(several, ["0", "8008", "80080"], ["1001", "8", "8009"])
    check({"type": "integer", "not": {"multipleOf": 8_191}}, ["1", "8192"], ["0", "8191", "16382"])
    with pytest.raises(JsonSchemaError, match="more than 8,192 remainders"):
        compiled({"type": "integer", "multipleOf": 10_007})


def test_equal_constants_keep_their_own_words() -> None:
    """Numbers and keys inside one constant were spelled as in another one that is equal."""
    schema = '{"enum": [[100, {"a": 1, "b": 2}], {"x": 1e2, "y": {"b": 2, "a": 1}}]}'
    accepted = ['[100,{"a":1,"b":2}]', '{"x":1e2,"y":{"b":2,"a":1}}', '{"x":100,"y":{"b":2,"a":1}}']
    check(schema, accepted, ['[1e2,{"a":1,"b":2}]', '[100,{"b":2,"a":1}]', '{"x":1e2,"y":{"a":1,"b":2}}'])
    check('{"enum": [[1e2], 3], "not": {"const": [100]}}', ["3"], ["[100]", "[1e2]"])
