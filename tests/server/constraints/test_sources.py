"""What the kinds of constraints allow, compiled."""

from __future__ import annotations

import json

import pytest

from grammar_core import GrammarCompiler, GrammarError, GrammarMatcher, TokenizerInfo
from server.constraints import Source
from server.constraints.constraint import SourceError
from server.constraints.sources import (
    ANY_JSON_OBJECT,
    ChoiceSource,
    EbnfSource,
    JsonSource,
    LarkSource,
    RegexSource,
    StructuralTagSource,
)

BYTES = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[256])
POINT = json.dumps({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
TAG = json.dumps(
    {
        "type": "structural_tag",
        "structures": [{"begin": "<p>", "schema": json.loads(POINT), "end": "</p>"}],
        "triggers": ["<p"],
    }
)


def accepts(source: Source, text: str) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_source(source))
    return matcher.accept_string(text) and matcher.is_completed()


SPACES = " " * 32


@pytest.mark.parametrize(
    ("source", "accepted", "refused"),
    [
        (EbnfSource('root ::= "a"+'), ["a", "aa"], ["", "b"]),
        (EbnfSource('root ::= x\nx ::= "a"', (("x", ("b", "c")),)), ["b", "c"], ["a", "bc"]),
        (EbnfSource('root ::= x\nx ::= "a"', (("x", "[0-9]+"),)), ["12"], ["a"]),
        (LarkSource('start: "a" B\nB: /b+/'), ["abb"], ["a"]),
        (LarkSource('start: "a" @b', (("b", 'start: "b"'),)), ["ab"], ["a"]),
        (LarkSource('start: "a" @b', (("b", 'root ::= "b"'),)), ["ab"], ["a"]),
        (RegexSource("[a-c]{2}"), ["ab"], ["a", "abc"]),
        (RegexSource(""), [""], ["a"]),
        (ChoiceSource(("yes", "no", 'a"b\n')), ["yes", "no", 'a"b\n'], ["", "yesno"]),
        (ChoiceSource(("", "a")), ["", "a"], ["b"]),
        (JsonSource(ANY_JSON_OBJECT), ["{}", '{"a": [1, null]}'], ["[]", "1", ""]),
        (JsonSource(POINT), ['{"x":1}', '{\n\t"x": 1\n}', '{"x":1,"y":2}'], ['{"x":"1"}', "{}", "{"]),
        (JsonSource(POINT), [f'{{\n{SPACES}"x":1}}'], [f'{{{SPACES} "x":1}}', '{\n\n"x":1}']),
        (JsonSource(POINT, whitespace=None), ['{"x": 1}'], ['{"x":1}', '{ "x": 1}']),
        (JsonSource(POINT, whitespace="_?"), ['{_"x"_:_1_}', '{"x":1}'], ['{ "x":1}']),
        (JsonSource(POINT, closed=True), ['{"x":1}'], ['{"x":1,"y":2}']),
        (StructuralTagSource(TAG), ["a", 'a<p>{"x":1}</p>b', '<p>{"x":1,"y":2}</p>'], ['<p>{"x":""}</p>']),
        (StructuralTagSource(TAG), [f'<p>{{{SPACES}"x":1}}</p>'], [f'<p>{{{SPACES} "x":1}}</p>']),
    ],
)
def test_language(source: Source, accepted: list[str], refused: list[str]) -> None:
    assert [text for text in accepted if not accepts(source, text)] == []
    assert [text for text in refused if accepts(source, text)] == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (EbnfSource('root ::= "a"\n  | nothing'), "line 2, column 5"),
        (LarkSource("start: nothing"), "line 1, column 8"),
        (RegexSource("a("), "column 2"),
        (JsonSource("{"), "not JSON"),
        (JsonSource('{"properties": {"a": {"type": "text"}}}'), "/properties/a/type"),
        (JsonSource('{"abc": "def", "type": 7}'), "/type"),
        (JsonSource("{}", whitespace="("), "column 1"),
        (StructuralTagSource("{"), "not JSON"),
        (StructuralTagSource('{"type": "structural_tag", "format": {"type": "zzz"}}'), "/format/type"),
    ],
)
def test_errors_name_the_place(source: Source, words: str) -> None:
    with pytest.raises(GrammarError) as caught:
        source.build(BYTES)
    assert words in str(caught.value)


def test_error_of_a_replaced_rule_names_its_field() -> None:
    with pytest.raises(SourceError, match="line 1, column 1") as caught:
        EbnfSource('root ::= x\nx ::= "a"', (("x", "nothing"),)).build(BYTES)
    assert caught.value.param == "grammar_rules.x"


def test_error_of_the_white_space_names_its_field() -> None:
    with pytest.raises(SourceError, match="column 1") as caught:
        JsonSource("{}", whitespace="(", whitespace_param="guided_whitespace_pattern").build(BYTES)
    assert caught.value.param == "guided_whitespace_pattern"


def test_loosened_keywords_need_not_hold() -> None:
    schema = '{"type": "array", "items": {"type": "number"}, "uniqueItems": true}'
    with pytest.raises(GrammarError, match="/uniqueItems"):
        JsonSource(schema).build(BYTES)
    assert accepts(JsonSource(schema, loosen=("uniqueItems",)), "[1, 1]")


def test_deep_structural_tag_is_an_error() -> None:
    with pytest.raises(GrammarError):
        StructuralTagSource("[" * 100_000).build(BYTES)


def test_a_schema_that_names_the_members_of_tags_is_left_alone() -> None:
    schema = {"type": "object", "properties": {"json_schema": {"const": 1}}, "required": ["json_schema"]}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    assert accepts(StructuralTagSource(json.dumps(tag)), '{"json_schema": 1}')


def test_recursive_schema() -> None:
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
                "required": ["next"],
                "additionalProperties": False,
            }
        },
    }
    source = JsonSource(json.dumps(tree))
    assert accepts(source, '{"next": {"next": {"next": null}}}')
    assert not accepts(source, '{"next": {}}')


def test_many_optional_arrays() -> None:
    integers = {"type": "array", "items": {"type": "integer"}}
    names = [f"list_{number}" for number in range(12)]
    source = JsonSource(json.dumps({"type": "object", "properties": dict.fromkeys(names, integers)}))
    assert accepts(source, json.dumps({names[2]: [1, 2], names[9]: []}))


def test_keywords_of_nobody_say_nothing() -> None:
    assert accepts(JsonSource('{"abc": "def"}'), "[1, {}]")


def test_no_stop_token_is_allowed_inside_of_a_string() -> None:
    two_stops = TokenizerInfo(
        [*(bytes([byte]) for byte in range(256)), "</s>", "<end>"], stop_token_ids=[256, 257]
    )
    matcher = GrammarMatcher(GrammarCompiler(two_stops).compile_source(JsonSource('{"type": "string"}')))
    assert matcher.accept_string('"a')
    assert not any(matcher.accept_token(stop) for stop in (256, 257))
    assert matcher.accept_string('"')
    assert matcher.accept_token(257)


def test_escapes_of_the_grammars_text_do_not_depend_on_line_ends() -> None:
    assert accepts(EbnfSource('root ::= "a" x\r\nx ::= "b"\r\n'), "ab")
