"""What is no structural tag, or too large a one: errors with a JSON pointer, and limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

import grammar_core.frontends.structural_tag.lowering as lowering_module
from grammar_core import Grammar, GrammarError, GrammarLimitError
from grammar_core.frontends.structural_tag import StructuralTagError
from grammar_core.frontends.structural_tag.errors import StructuralTagLimitError
from grammar_core.frontends.structural_tag.notations import STYLES
from tests.grammar_core.schema_texts import compile_bytes
from tests.grammar_core.tag_texts import ANY, T, U, const, sequence, tag, triggered

_SCHEMA = {"type": "json_schema", "json_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("format", "pointer", "words"),
    [
        ([], "/structures", "'structures' is empty"),
        (3, "", "An object is expected, not a number"),
        (None, "", "not null"),
        ({}, "", "no type, and its fields are those of none"),
        ({"type": "zzz"}, "/type", "no format type 'zzz'; the types are const_string"),
        ({"type": 3}, "/type", "'type' must be text, not a number"),
        ({"type": "const_string"}, "", "'value' is missing"),
        ({"type": "const_string", "value": 1}, "/value", "'value' must be text, not a number"),
        ({"type": "const_string", "value": "\ud800"}, "/value", "surrogate"),
        ({"type": "const_string", "value": "a", "vlaue": "b"}, "/vlaue", "Unknown field 'vlaue'"),
        ({"type": "const_string", "value": "a", "a/b~": 1}, "/a~1b~0", "Unknown field"),
        (sequence(), "/elements", "'elements' is empty"),
        (sequence(const("a"), {"type": "or", "elements": [{}]}), "/elements/1/elements/0", "no type"),
        ({"type": "or", "elements": "ab"}, "/elements", "'elements' must be a list, not text"),
        ({"type": "optional"}, "", "'content' is missing"),
        ({"type": "repeat", "min": 3, "max": 2, "content": ANY}, "/max", "'max' is 2, which is less"),
        ({"type": "repeat", "min": -1, "max": 2, "content": ANY}, "/min", "-1, which is not between 0"),
        ({"type": "repeat", "min": 0, "max": -2, "content": ANY}, "/max", "not between -1"),
        ({"type": "repeat", "min": True, "max": 2, "content": ANY}, "/min", "whole number, not true or"),
        ({"type": "repeat", "min": 1.5, "max": 2, "content": ANY}, "/min", "whole number, not a number"),
        ({**ANY, "excludes": [""]}, "/excludes/0", "is empty"),
        ({**ANY, "excludes": "ab"}, "/excludes", "must be a list of texts, not text"),
        ({**ANY, "max_tokens": -1}, "/max_tokens", "not between 0 and 1,000,000"),
        ({**ANY, "max_chars": 2**40}, "/max_chars", "not between 0"),
        (tag("<a>", ANY, ""), "/end", "free text, so that an end"),
        (tag("<a>", sequence(ANY, const("x")), ["", ""]), "/end", "free text"),
        (tag("<a>", tag("<b>", ANY, ""), "</a>"), "/content/end", "free text"),
        (tag("<a>", ANY, []), "/end", "'end' is empty"),
        (tag("<a>", ANY, ["x", 3]), "/end/1", "'end' must be text, not a number"),
        (tag("<a>", ANY, ["x", "\ud800"]), "/end/1", "surrogate"),
        ({"type": "dispatch", "rules": [["\udfff", ANY]]}, "/rules/0/0", "surrogate"),
        ({"type": "dispatch", "rules": [[3, ANY]]}, "/rules/0/0", "must be text, not a number"),
        (tag("<a>", ANY, {"type": "regex", "pattern": "a"}), "/end/type", "may be 'token'"),
        (tag(3, ANY, "x"), "/begin", "An object is expected, not a number"),
        (triggered(["<t"], [T, U]), "/tags/1/begin", "begins with no trigger"),
        (triggered(["<", "<t"], [T]), "/tags/0/begin", "more than one trigger: '<', '<t'"),
        (triggered(["<t", "<u"], [T]), "/triggers/1", "No tag begins with the trigger '<u'"),
        (triggered([], [T]), "/triggers", "is empty"),
        (triggered([""], [T]), "/triggers/0", "is empty"),
        (triggered(["<t"], []), "/tags", "is empty"),
        (triggered(["<t"], [T], excludes=["<"]), "/triggers/0", "'<t' has '"),
        (triggered(["<t"], [T], excludes=["t"]), "/triggers/0", "'<t' has '"),
        (triggered(["<t"], [const("<t>")]), "/tags/0/type", "may be 'tag'"),
        (triggered(["<t"], [T], at_least_one=1), "/at_least_one", "true or false, not a number"),
        ({"type": "tags_with_separator", "tags": [T]}, "", "'separator' is missing"),
        ({"type": "dispatch", "rules": []}, "/rules", "is empty"),
        ({"type": "dispatch", "rules": [["", ANY]]}, "/rules/0/0", "not empty"),
        ({"type": "dispatch", "rules": [["a"]]}, "/rules/0", "list of two"),
        ({"type": "dispatch", "rules": [["a", {}]]}, "/rules/0/1", "no type"),
        ({"type": "dispatch", "rules": [["ab", ANY]], "excludes": ["b"]}, "/rules/0/0", "so begins nothing"),
        ({"type": "regex", "pattern": "(a"}, "/pattern", "line 1, column"),
        ({"type": "grammar", "grammar": 'root ::= "a" b'}, "/grammar", 'line 1, column 14: Rule "b"'),
        ({"type": "grammar", "grammar": "x", "syntax": "abnf"}, "/syntax", "may be 'ebnf', 'lark'"),
        ({"type": "json_schema", "json_schema": "{}"}, "/json_schema", "object, true or false"),
        ({**_SCHEMA, "style": "yaml"}, "/style", "'yaml'; it may be 'json'"),
        ({**_SCHEMA, "max_whitespace_cnt": 0}, "/max_whitespace_cnt", "positive"),
        ({**_SCHEMA, "whitespace_pattern": "("}, "/whitespace_pattern", "not closed"),
        ({**_SCHEMA, "whitespace_pattern": "", "max_whitespace_cnt": 1}, "/whitespace_pattern", "all about"),
        ({**_SCHEMA, "loosen": ["type"]}, "/loosen", "always enforced"),
        (
            sequence({"type": "json_schema", "json_schema": {"properties": {"a": {"minimum": "x"}}}}),
            "/elements/0/json_schema/properties/a/minimum",
            "minimum",
        ),
        ({"type": "structural_tag"}, "", "'format' is missing"),
        ({"type": "structural_tag", "format": {}, "x": 1}, "/x", "Unknown field"),
        ({"type": "structural_tag", "format": sequence()}, "/format/elements", "is empty"),
        ({"type": "x", "format": ANY}, "/type", "may be 'structural_tag'"),
    ],
)
def test_errors(format: Any, pointer: str, words: str) -> None:
    with pytest.raises(StructuralTagError) as caught:
        Grammar.from_structural_tag(format)
    assert words in str(caught.value)
    assert caught.value.pointer == pointer
    assert isinstance(caught.value, GrammarError)
    assert str(caught.value).startswith("Structural tag error: ")


_NEVER = {"type": "string", "enum": [1]}
_EMPTY = {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 1, "items": _NEVER}}
_ARGUMENTS = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "object", "required": ["b"], "properties": {"b": _NEVER}}},
}


@pytest.mark.parametrize(
    ("schema", "style", "place"),
    [(_EMPTY, "json", "/items/items")]
    + [(_ARGUMENTS, style, "/properties/a/properties/b") for style in STYLES],
)
def test_a_schema_that_allows_no_value(schema: Any, style: str, place: str) -> None:
    """It is found when the tag is compiled, and only where nothing else can come."""
    embedded = {"type": "json_schema", "json_schema": schema, "style": style}
    format = {"type": "structural_tag", "format": sequence(T, tag("<a>", embedded, "</a>"))}
    with pytest.raises(StructuralTagError, match="allows no value: nothing is valid here") as caught:
        compile_bytes(Grammar.from_structural_tag(format))
    assert caught.value.pointer == f"/format/elements/1/content/json_schema{place}"
    compile_bytes(Grammar.from_structural_tag({"type": "optional", "content": embedded}))


def test_text_that_is_no_json() -> None:
    with pytest.raises(StructuralTagError, match="not JSON"):
        Grammar.from_structural_tag("{")
    with pytest.raises(StructuralTagError, match="nested too deeply"):
        Grammar.from_structural_tag("[" * 100_000)


def test_an_object_that_is_no_json() -> None:
    from tests.grammar_core.tag_texts import allows

    with pytest.raises(StructuralTagError, match="no JSON value"):
        allows({"type": "const_string", "value": b"a"}, "")


def _nested(depth: int, kind: str = "optional") -> dict[str, Any]:
    format: dict[str, Any] = const("a")
    for _ in range(depth - 1):
        format = {"type": kind, "content": format}
    return format


def test_nesting_is_limited() -> None:
    Grammar.from_structural_tag(_nested(100))
    with pytest.raises(StructuralTagLimitError, match="nested deeper than 100 levels") as caught:
        Grammar.from_structural_tag(_nested(101))
    assert (caught.value.limit, caught.value.value) == ("nesting", 100)
    assert caught.value.pointer == "/content" * 100
    assert isinstance(caught.value, GrammarLimitError)


def test_nesting_of_the_text_is_limited() -> None:
    text = '{"type":"optional","content":' * 50_000 + '{"value":"a"}' + "}" * 50_000
    with pytest.raises(StructuralTagError, match="nested"):
        Grammar.from_structural_tag(text)


def test_nesting_of_tags_is_limited() -> None:
    format: dict[str, Any] = ANY
    for _ in range(101):
        format = tag("<a>", format, "</a>")
    with pytest.raises(StructuralTagLimitError, match="nested deeper"):
        Grammar.from_structural_tag(format)


def test_the_number_of_formats_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering_module, "MAX_FORMATS", 10)
    Grammar.from_structural_tag(sequence(*[const("a")] * 9))
    with pytest.raises(StructuralTagLimitError, match="more than 10 formats") as caught:
        Grammar.from_structural_tag(sequence(*[const("a")] * 10))
    assert caught.value.limit == "formats"


def test_the_length_of_the_text_is_limited() -> None:
    with pytest.raises(StructuralTagLimitError, match="longer than") as caught:
        Grammar.from_structural_tag(json.dumps(const("a" * 5_000_000)))
    assert caught.value.limit == "text_length"


def test_limits_of_what_is_inside_stay_limits() -> None:
    deep = '"a"' + "?" * 1
    grammar = "root ::= " + "(" * 2_000 + deep + ")" * 2_000
    with pytest.raises(StructuralTagLimitError) as caught:
        Grammar.from_structural_tag(sequence({"type": "grammar", "grammar": grammar}))
    assert caught.value.pointer == "/elements/0/grammar"
    assert caught.value.limit


def test_many_triggers_and_excludes() -> None:
    names = [f"<{number}>" for number in range(5_000)]
    tags = [tag(name, const("x"), "!") for name in names]
    excludes = [f"</{number}>" for number in range(5_000)]
    rules = Grammar.from_structural_tag(triggered(names, tags, excludes=excludes)).rules
    assert len(rules) > 5_000
