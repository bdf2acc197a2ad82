"""Which constraint a request has: every field alone, every two together, options beside them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from grammar_core import BOUNDED_WHITESPACE
from server.constraints import ConfiguredGrammars, Source, requested_constraint
from server.constraints.sources import (
    ANY_JSON_OBJECT,
    ChoiceSource,
    EbnfSource,
    JsonSource,
    LarkSource,
    RegexSource,
    StructuralTagSource,
)
from server.errors import ApiError
from server.schemas.chat_request import parse_chat_request

EBNF = 'root ::= "a"'
LARK = 'start: "a"'
SCHEMA = {"type": "integer"}
SCHEMA_TEXT = '{"type":"integer"}'
TAG = {"type": "structural_tag", "format": {"type": "any_text"}}
TAG_TEXT = '{"type":"structural_tag","format":{"type":"any_text"}}'
CONFIGURED = ConfiguredGrammars({"ours": EBNF, "lark": LARK})


def resolve(**fields: Any) -> tuple[str, Source] | None:
    request = parse_chat_request({"messages": [{"role": "user", "content": "hi"}], **fields})
    constraint = requested_constraint(request, CONFIGURED)
    return None if constraint is None else (constraint.param, constraint.source)


def refusal(**fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        resolve(**fields)
    assert caught.value.status == 400
    return caught.value


# Field, value, the source it means, and the field that its errors name.
CASES: list[tuple[str, Any, Source, str]] = [
    ("guided_grammar", EBNF, EbnfSource(EBNF), "guided_grammar"),
    ("guided_lark", LARK, LarkSource(LARK), "guided_lark"),
    ("guided_json", SCHEMA, JsonSource(SCHEMA_TEXT), "guided_json"),
    ("guided_json", SCHEMA_TEXT, JsonSource(SCHEMA_TEXT), "guided_json"),
    ("guided_json", True, JsonSource("true"), "guided_json"),
    ("guided_regex", "a+", RegexSource("a+"), "guided_regex"),
    ("guided_regex", "", RegexSource(""), "guided_regex"),
    ("guided_choice", ["a", "b"], ChoiceSource(("a", "b")), "guided_choice"),
    ("grammar_ref", "ours", EbnfSource(EBNF), "grammar_ref"),
    ("grammar_ref", "lark", LarkSource(LARK), "grammar_ref"),
    ("structured_outputs", {"json": SCHEMA}, JsonSource(SCHEMA_TEXT), "structured_outputs.json"),
    ("structured_outputs", {"json": SCHEMA_TEXT}, JsonSource(SCHEMA_TEXT), "structured_outputs.json"),
    ("structured_outputs", {"regex": " "}, RegexSource(" "), "structured_outputs.regex"),
    ("structured_outputs", {"choice": ["x"]}, ChoiceSource(("x",)), "structured_outputs.choice"),
    ("structured_outputs", {"grammar": EBNF}, EbnfSource(EBNF), "structured_outputs.grammar"),
    ("structured_outputs", {"grammar": LARK}, LarkSource(LARK), "structured_outputs.grammar"),
    (
        "structured_outputs",
        {"json_object": True},
        JsonSource(ANY_JSON_OBJECT),
        "structured_outputs.json_object",
    ),
    (
        "structured_outputs",
        {"structural_tag": TAG_TEXT},
        StructuralTagSource(TAG_TEXT),
        "structured_outputs.structural_tag",
    ),
    ("structural_tag", TAG, StructuralTagSource(TAG_TEXT), "structural_tag"),
    ("response_format", {"type": "json_object"}, JsonSource(ANY_JSON_OBJECT), "response_format"),
    (
        "response_format",
        {"type": "json_object", "schema": SCHEMA},
        JsonSource(SCHEMA_TEXT),
        "response_format.schema",
    ),
    (
        "response_format",
        {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}},
        JsonSource(SCHEMA_TEXT),
        "response_format.json_schema.schema",
    ),
    (
        "response_format",
        {"type": "json_schema", "schema": SCHEMA},
        JsonSource(SCHEMA_TEXT),
        "response_format.schema",
    ),
    ("response_format", TAG, StructuralTagSource(TAG_TEXT), "response_format"),
    (
        "response_format",
        {"type": "structural_tag", "structures": [{"begin": "<a>"}], "triggers": ["<a"]},
        StructuralTagSource('{"type":"structural_tag","structures":[{"begin":"<a>"}],"triggers":["<a"]}'),
        "response_format",
    ),
    ("json_schema", SCHEMA_TEXT, JsonSource(SCHEMA_TEXT), "json_schema"),
    ("json_schema", SCHEMA, JsonSource(SCHEMA_TEXT), "json_schema"),
    ("regex", "a", RegexSource("a"), "regex"),
    ("ebnf", EBNF, EbnfSource(EBNF), "ebnf"),
    ("grammar", EBNF, EbnfSource(EBNF), "grammar"),
]


@pytest.mark.parametrize(("field", "value", "source", "param"), CASES)
def test_every_field_states_a_constraint(field: str, value: Any, source: Source, param: str) -> None:
    assert resolve(**{field: value}) == (param, source)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"guided_grammar": None, "response_format": None, "structured_outputs": None},
        {"response_format": {"type": "text"}},
        {"regex": "", "ebnf": "", "json_schema": "", "grammar": ""},
        {"return_captures": False},
    ],
)
def test_no_constraint(fields: dict[str, Any]) -> None:
    assert resolve(**fields) is None


def test_any_two_constraints_are_refused_by_name() -> None:
    one_of_each = {field: (value, param) for field, value, _, param in CASES}
    assert len(one_of_each) == 13
    for (one, (a, a_param)), (other, (b, b_param)) in itertools.combinations(one_of_each.items(), 2):
        error = refusal(**{one: a, other: b})
        assert f"'{a_param}'" in error.message
        assert f"'{b_param}'" in error.message
        assert error.code == "conflicting_constraints"


def test_two_constraints_in_structured_outputs_are_refused_by_name() -> None:
    error = refusal(structured_outputs={"json": SCHEMA, "regex": "a"})
    assert "'structured_outputs.json' and 'structured_outputs.regex'" in error.message


def test_one_grammar_in_the_fields_of_two_servers_is_one_constraint() -> None:
    twice = {"grammar": EBNF, "structured_outputs": {"grammar": EBNF}}
    assert resolve(**twice) == ("structured_outputs.grammar", EbnfSource(EBNF))
    assert "'grammar'" in refusal(grammar='root ::= "b"', structured_outputs={"grammar": EBNF}).message


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"guided_grammar": " \n"}, "guided_grammar"),
        ({"guided_lark": ""}, "guided_lark"),
        ({"guided_json": ""}, "guided_json"),
        ({"guided_json": 7}, "guided_json"),
        ({"guided_json": []}, "guided_json"),
        ({"guided_choice": []}, "guided_choice"),
        ({"guided_choice": "a"}, "guided_choice"),
        ({"guided_choice": ["a", 1]}, "guided_choice[1]"),
        ({"guided_regex": "a\0"}, "guided_regex"),
        ({"grammar_ref": "nope"}, "grammar_ref"),
        ({"structured_outputs": {}}, "structured_outputs"),
        ({"structured_outputs": {"whitespace_pattern": " "}}, "structured_outputs"),
        ({"structured_outputs": {"choice": []}}, "structured_outputs.choice"),
        ({"structured_outputs": {"grammar": ""}}, "structured_outputs.grammar"),
        ({"structured_outputs": {"json": " "}}, "structured_outputs.json"),
        ({"structured_outputs": {"structural_tag": ""}}, "structured_outputs.structural_tag"),
        ({"structured_outputs": {"json_object": False}}, "structured_outputs.json_object"),
        ({"structured_outputs": {"regexp": "a"}}, "structured_outputs.regexp"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}, "response_format"),
        (
            {"response_format": {"type": "json_schema", "schema": {}, "json_schema": {"schema": {}}}},
            "response_format.schema",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": 7}}},
            "response_format.json_schema.schema",
        ),
        ({"response_format": {"type": "structural_tag"}}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": "json"}, "response_format"),
        ({"guided_whitespace_pattern": " *"}, "guided_whitespace_pattern"),
        ({"guided_whitespace_pattern": " *", "guided_regex": "a"}, "guided_whitespace_pattern"),
        (
            {"structured_outputs": {"regex": "a", "disable_any_whitespace": True}},
            "structured_outputs.disable_any_whitespace",
        ),
        (
            {"structured_outputs": {"json": {}, "disable_any_whitespace": True, "whitespace_pattern": ""}},
            "structured_outputs.disable_any_whitespace",
        ),
        ({"guided_json_loosen": ["format"]}, "guided_json_loosen"),
        ({"guided_json_loosen": ["required"], "guided_json": {}}, "guided_json_loosen"),
        ({"structured_outputs": {"json": {}, "loosen": ["formt"]}}, "structured_outputs.loosen"),
        ({"named_grammars": {"a": LARK}}, "named_grammars"),
        ({"named_grammars": {"a": LARK}, "guided_grammar": EBNF}, "named_grammars"),
        ({"grammar_rules": {"a": ["b"]}}, "grammar_rules"),
        ({"grammar_rules": {"a": ["b"]}, "guided_regex": "a"}, "grammar_rules"),
        ({"grammar_rules": {"a": []}, "guided_grammar": EBNF}, "grammar_rules.a"),
        ({"grammar_rules": {"a": ["b", 1]}, "guided_grammar": EBNF}, "grammar_rules.a[1]"),
        ({"return_captures": True}, "return_captures"),
        ({"guided_decoding_backend": "xgrammar"}, "guided_decoding_backend"),
        ({"guided_anything": {}}, "guided_anything"),
    ],
)
def test_what_states_nothing_or_belongs_elsewhere_is_refused(fields: dict[str, Any], param: str) -> None:
    assert refusal(**fields).param == param


def test_json_is_open_and_its_white_space_bounded() -> None:
    source = JsonSource(SCHEMA_TEXT)
    assert (source.whitespace, source.closed, source.loosen) == (BOUNDED_WHITESPACE, False, ())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"guided_whitespace_pattern": " ?"}, {"whitespace": " ?"}),
        ({"guided_json_loosen": ["uniqueItems"]}, {"loosen": ("uniqueItems",)}),
    ],
)
@pytest.mark.parametrize(
    "constraint",
    [
        {"guided_json": SCHEMA},
        {"json_schema": SCHEMA},
        {"response_format": {"type": "json_schema", "schema": SCHEMA}},
    ],
)
def test_options_of_json(
    constraint: dict[str, Any], fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    resolved = resolve(**constraint, **fields)
    assert resolved is not None
    assert resolved[1] == JsonSource(SCHEMA_TEXT, **expected)


def test_options_in_structured_outputs() -> None:
    options = {"disable_any_whitespace": True, "disable_additional_properties": True, "loosen": ["format"]}
    resolved = resolve(structured_outputs={"json": SCHEMA, **options})
    assert resolved is not None
    assert resolved[1] == JsonSource(SCHEMA_TEXT, whitespace=None, closed=True, loosen=("format",))
    spaced = resolve(structured_outputs={"json": SCHEMA, "whitespace_pattern": "\n?"})
    assert spaced is not None
    assert spaced[1] == JsonSource(SCHEMA_TEXT, whitespace="\n?")


def test_named_grammars_and_rules_belong_to_the_grammar() -> None:
    lark = resolve(guided_lark=LARK, named_grammars={"b": LARK})
    assert lark == ("guided_lark", LarkSource(LARK, (("b", LARK),)))
    ebnf = resolve(grammar_ref="ours", grammar_rules={"root": ["x", "y"], "b": '"c"'})
    assert ebnf == ("grammar_ref", EbnfSource(EBNF, (("root", ("x", "y")), ("b", '"c"'))))
