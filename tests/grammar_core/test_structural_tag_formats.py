"""The format types that match text: what each allows and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarMatcher
from grammar_core.ir.nodes import Members, Substring, TagDispatch, TokenTagDispatch
from grammar_core.passes.expand_macros import expand_macros
from tests.grammar_core.tag_texts import (
    ANY,
    INFO,
    T,
    U,
    allows,
    begins,
    const,
    either,
    sequence,
    tag,
    triggered,
)
from tests.grammar_core.test_cases_oracle import accepts
from tests.option_oracle import OptionOracle

_UNIQUE = {"type": "array", "items": {"type": "number"}, "uniqueItems": True}

_CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "json_schema with a pattern of white space": (
        {"type": "json_schema", "json_schema": {"type": "array"}, "whitespace_pattern": "_?"},
        ["[]", "[_1_]"],
        ["[ 1]", "[__1]"],
    ),
    "json_schema in a style with a pattern of white space": (
        {
            "type": "json_schema",
            "json_schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            "style": "qwen_xml",
            "whitespace_pattern": r"\n?",
        },
        ["<parameter=a>\n1\n</parameter>"],
        ["<parameter=a>\n\n1\n</parameter>"],
    ),
    "json_schema with a loosened keyword": (
        {"type": "json_schema", "json_schema": _UNIQUE, "loosen": ["uniqueItems"]},
        ["[1, 1]"],
        ['["a"]'],
    ),
    "const_string": (const("a\nb"), ["a\nb"], ["", "a", "a\nbc"]),
    "const_string that is empty": (const(""), [""], ["a"]),
    "any_text": (ANY, ["", "x", "é\n<"], []),
    "any_text with excludes": ({**ANY, "excludes": ["ab", "!"]}, ["", "a", "ba"], ["ab", "xaab", "!"]),
    "any_text of some characters": ({**ANY, "max_chars": 2}, ["", "a", "é中"], ["abc"]),
    "any_text of no characters": ({**ANY, "max_chars": 0}, [""], ["a"]),
    "any_text of no tokens": ({**ANY, "max_tokens": 0}, [""], ["a"]),
    "regex": ({"type": "regex", "pattern": "a+|b"}, ["a", "aaa", "b"], ["", "ab"]),
    "grammar": ({"type": "grammar", "grammar": 'root ::= "a" b\nb ::= "b"*'}, ["a", "abb"], ["", "b"]),
    "grammar with the names of ours": (
        sequence({"type": "grammar", "grammar": 'root ::= tag-0\ntag-0 ::= "a"'}, tag("<", ANY, ">")),
        ["a<x>"],
        ["<x>", "a"],
    ),
    "grammar in the Lark dialect": (
        {"type": "grammar", "syntax": "lark", "grammar": 'start: "a" B+\nB: /b|c/'},
        ["ab", "acb"],
        ["a", "b"],
    ),
    "two grammars with the same names": (
        sequence(
            {"type": "grammar", "grammar": 'root ::= x\nx ::= "a"'},
            {"type": "grammar", "grammar": 'root ::= x\nx ::= "b"'},
            {"type": "grammar", "syntax": "lark", "grammar": 'start: x\nx: "c"'},
        ),
        ["abc"],
        ["aac"],
    ),
    "sequence": (sequence(const("a"), const("b")), ["ab"], ["a", "b", "ba"]),
    "or": (either(const("a"), const("b")), ["a", "b"], ["", "ab"]),
    "optional": ({"type": "optional", "content": const("a")}, ["", "a"], ["aa"]),
    "plus": ({"type": "plus", "content": const("a")}, ["a", "aa"], [""]),
    "star": ({"type": "star", "content": const("a")}, ["", "a", "aa"], ["b"]),
    "repeat": ({"type": "repeat", "min": 1, "max": 2, "content": const("a")}, ["a", "aa"], ["", "aaa"]),
    "repeat without bound": (
        {"type": "repeat", "min": 2, "max": -1, "content": const("a")},
        ["aa", "aaaaa"],
        ["a"],
    ),
    "repeat of none": ({"type": "repeat", "min": 0, "max": 0, "content": const("a")}, [""], ["a"]),
    "tag": (tag("<a>", const("x"), "</a>"), ["<a>x</a>"], ["x", "<a>", "<a>x", "<a>x</a>y"]),
    "tag with any of several ends": (
        tag("<a>", const("x"), ["</a>", "!"]),
        ["<a>x</a>", "<a>x!"],
        ["<a>x", "<a>x</a>!"],
    ),
    "tag around free text": (
        tag("<a>", ANY, "</a>"),
        ["<a></a>", "<a>x</a>", "<a></</a>", "<a><a></a>"],
        ["<a>x</a></a>", "<a>x"],
    ),
    "tag around free text with several ends": (
        tag("<a>", ANY, ["</a>", "</b>"]),
        ["<a>x</a>", "<a>x</b>"],
        ["<a></b></a>"],
    ),
    "tag that may end at once": (tag("<a>", ANY, ["", "x"]), ["<a>", "<a>x", "<a>b"], ["<a>xx"]),
    "tag with nothing fixed": (tag("", const("x"), ""), ["x"], [""]),
    "tag around a sequence with free text": (
        tag("<a>", sequence(const("x"), ANY, const("y")), "</a>"),
        ["<a>xy</a>", "<a>x-yy</a>"],
        ["<a>x</a>y</a>"],
    ),
    "tag around repeated free text": (
        tag("<a>", {"type": "plus", "content": sequence(const("-"), ANY)}, "</a>"),
        ["<a>-</a>", "<a>-x-y</a>"],
        ["<a></a>", "<a>-</a></a>"],
    ),
    "tag around a tag, whose free text ends with its own end": (
        tag("<a>", tag("<b>", ANY, "</b>"), "</a>"),
        ["<a><b>x</b></a>", "<a><b></a></b></a>"],
        ["<a><b></b></b></a>"],
    ),
    "tag around triggered tags": (
        tag("<a>", triggered(["<t"], [T]), "</a>"),
        ["<a>x<t>1</t>y</a>", "<a></a>"],
        ["<a></a></a>", "<a><t</a>"],
    ),
    "triggered_tags": (
        triggered(["<t"], [T]),
        ["", "a", "a<t>1</t>b<t>1</t>", "< t", "</t>"],
        ["<t", "<tx", "a<t>2", "a<t>1</t"],
    ),
    "triggered_tags with two triggers": (
        triggered(["<t", "<u"], [T, U]),
        ["<u>2</u><t>1</t>"],
        ["<u>1</u>", "<t>2</t>"],
    ),
    "triggered_tags with several tags of one trigger": (
        triggered(["<"], [T, U]),
        ["<u>2</u>x<t>1</t>"],
        ["<", "<u>1</u>"],
    ),
    "triggered_tags, at least one": (
        triggered(["<t"], [T], at_least_one=True),
        ["<t>1</t>", "<t>1</t>b", "<t>1</t>b<t>1</t>"],
        ["", "a", "a<t>1</t>"],
    ),
    "triggered_tags, at most one": (
        triggered(["<t"], [T], stop_after_first=True),
        ["", "a", "<t>1</t>", "b<t>1</t>"],
        ["<t>1</t>b", "<t>1</t><t>1</t>"],
    ),
    "triggered_tags, exactly one": (
        triggered(["<t"], [T], at_least_one=True, stop_after_first=True),
        ["<t>1</t>"],
        ["", "a", "<t>1</t>b"],
    ),
    "triggered_tags with excludes": (
        triggered(["<t"], [T], excludes=["zz", "</"]),
        ["z", "z<t>1</t>z"],
        ["zz", "<t>1</t>zz", "</"],
    ),
    "tags_with_separator": (
        {"type": "tags_with_separator", "tags": [T, U], "separator": ","},
        ["", "<t>1</t>", "<t>1</t>,<u>2</u>"],
        [",", "<t>1</t>,", "<t>1</t><u>2</u>", "x"],
    ),
    "tags_with_separator, at least one": (
        {"type": "tags_with_separator", "tags": [T], "separator": "", "at_least_one": True},
        ["<t>1</t>", "<t>1</t><t>1</t>"],
        [""],
    ),
    "tags_with_separator, at most one": (
        {"type": "tags_with_separator", "tags": [T], "separator": ",", "stop_after_first": True},
        ["", "<t>1</t>"],
        ["<t>1</t>,<t>1</t>"],
    ),
    "dispatch": (
        {"type": "dispatch", "rules": [["<t>", const("1")], ["<u>", ANY]]},
        ["", "a", "<t>1a<t>1", "<u>abc<t>"],
        ["<t>2", "<t>"],
    ),
    "tag around dispatch": (
        tag("<a>", {"type": "dispatch", "rules": [["<t>", ANY]], "loop": False}, "</a>"),
        ["<a>x<t>y</a>", "<a></a></a>"],
        ["<a><t></a></a>"],
    ),
    "dispatch once": (
        {"type": "dispatch", "rules": [["<t>", const("1")]], "loop": False},
        ["a", "a<t>1"],
        ["<t>1a"],
    ),
    "dispatch with excludes": (
        {"type": "dispatch", "rules": [["<t>", const("z")]], "excludes": ["z"]},
        ["", "<t>z"],
        ["z", "<t>zz"],
    ),
    "dispatch with two formats for a text": (
        {"type": "dispatch", "rules": [["<t>", const("1")], ["<t>", const("2")]]},
        ["<t>1", "<t>2<t>1"],
        ["<t>3"],
    ),
    "json_schema": (
        {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        ["{}", '{"a": 1}', '{ "a" :1 }'],
        ['{"a": "1"}', "[]", '{"b": 1}'],
    ),
    "json_schema that is true": ({"type": "json_schema", "json_schema": True}, ["1", '["a"]'], ["", "x"]),
    "json_schema with limited white space": (
        {"type": "json_schema", "json_schema": {"type": "array"}, "max_whitespace_cnt": 1},
        ["[ ]"],
        ["[  ]"],
    ),
    "json_schema without white space": (
        {
            "type": "json_schema",
            "json_schema": {"type": "array", "items": {"type": "boolean"}},
            "any_whitespace": False,
        },
        ["[]", "[true, false]"],
        ["[ ]", "[true,false]"],
    ),
    "json_schema in any order": (
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
                "required": ["a", "b"],
            },
            "any_order": True,
        },
        ['{"b": null, "a": null}'],
        ['{"b": null}'],
    ),
    "json_schema that is open": (
        {
            "type": "json_schema",
            "json_schema": {"type": "object", "properties": {"a": {"type": "null"}}},
            "strict_mode": False,
        },
        ['{"x": 1}'],
        ['{"a": 1}'],
    ),
    "json_schema with excluded texts": (
        {
            "type": "json_schema",
            "json_schema": {"type": "object", "properties": {"a": {"type": "string"}, "c": {}}},
            "excludes": ["ab"],
        },
        ['{"a": "xa"}', '{"a": "ba"}', '{"c": ["a", "b"]}'],
        ['{"a": "xab"}', '{"a": "\\u0061b"}', '{"c": ["ab"]}', '{"c": {"ab": 1}}'],
    ),
    "types told by their fields": (
        sequence(
            {"value": "a"},
            {"elements": [const("b")]},
            {"begin": "<", "content": ANY, "end": ">"},
            {"content": const("c")},
            {"min": 1, "max": 1, "content": const("d")},
            {"excludes": ["e"]},
        ),
        ["ab<x>cd", "ab<x>dzz"],
        ["ab<x>de"],
    ),
}


@pytest.mark.parametrize(("format", "accepted", "refused"), _CASES.values(), ids=_CASES)
def test_texts(format: Any, accepted: list[str], refused: list[str]) -> None:
    assert [text for text in accepted if not allows(format, text)] == []
    assert [text for text in refused if allows(format, text)] == []


@pytest.mark.parametrize("format", [case[0] for case in _CASES.values()], ids=_CASES)
def test_grammars_are_well_formed_and_can_be_printed(format: Any) -> None:
    grammar = Grammar.from_structural_tag(format, tokenizer_info=INFO)
    Grammar.from_rules(grammar.rules)
    printed = str(grammar)
    assert str(Grammar.from_ebnf(printed)) == printed
    assert Grammar.deserialize_json(grammar.serialize_json()).rules == grammar.rules


@pytest.mark.parametrize(("format", "accepted", "refused"), _CASES.values(), ids=_CASES)
def test_the_oracle_agrees(format: Any, accepted: list[str], refused: list[str]) -> None:
    grammar = Grammar.from_structural_tag(format, tokenizer_info=INFO)
    # The oracle has its own reading of all macros but OtherTexts.
    rules = expand_macros(grammar.rules, but=(Members, Substring, TagDispatch, TokenTagDispatch))
    oracle = OptionOracle(rules, grammar.root)
    assert [text for text in accepted if not accepts(oracle, text.encode())] == []
    assert [text for text in refused if accepts(oracle, text.encode())] == []


def test_a_trigger_must_go_on_to_a_tag() -> None:
    assert begins(triggered(["<t"], [T]), "a<t")
    assert not begins(triggered(["<t"], [T]), "a<tx")


def test_what_cannot_be_completed_is_not_begun() -> None:
    assert not begins({"type": "any_text", "excludes": ["ab"]}, "ab")
    assert not begins(tag("<a>", const("x"), "</a>"), "<a>y")


def test_equal_schemas_are_written_once() -> None:
    schema = {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"type": "null"}}}}
    one = Grammar.from_structural_tag(sequence(schema))
    many = Grammar.from_structural_tag(sequence(*[schema] * 20))
    assert len(many.rules) == len(one.rules)


def test_schemas_with_other_options_do_not_mix() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    loose = {"type": "json_schema", "json_schema": schema}
    tight = {"type": "json_schema", "json_schema": schema, "any_whitespace": False}
    assert allows(sequence(loose, tight), '[ "a" ]["a"]')
    assert not allows(sequence(loose, tight), '[ "a" ][ "a" ]')


def test_captures_of_grammars_inside() -> None:
    numbered = 'root ::= "<" x ">"\nx[capture="n"] ::= [0-9]+'
    format = sequence(T, {"type": "grammar", "grammar": numbered}, const("!"))
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_structural_tag(format))
    assert matcher.accept_string("<t>1</t><12>!")
    assert matcher.get_captures() == [("n", b"12")]


def test_suffixes_of_lark_grammars_inside() -> None:
    lark = 'start: x "!"\nx[capture="n", suffix=";"]: /[a-z]*/'
    format = sequence(
        U,
        {"type": "json_schema", "json_schema": {"type": "null"}},
        {"type": "grammar", "syntax": "lark", "grammar": lark},
    )
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_structural_tag(format))
    assert matcher.accept_string("<u>2</u>nullab;!")
    assert matcher.is_completed()
    assert matcher.get_captures() == [("n", b"ab")]


def test_budgets_of_free_text_force_the_end() -> None:
    format = tag("<", {**ANY, "max_chars": 3}, ">")
    assert allows(format, "<abc>")
    assert not begins(format, "<abcd")
