"""Faults of other engines, on ours; ``docs/known_faults.md`` has the list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_core import (
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    TokenizerInfo,
)
from tests.grammar_core.matchers import allowed, compiler_for, matcher_for
from tests.grammar_core.schema_texts import check, compiled, matches

_BYTES = [*(bytes([byte]) for byte in range(256)), b"</s>"]
BYTES = TokenizerInfo(_BYTES, stop_token_ids=[256])


def of_lark(text: str) -> CompiledGrammar:
    return GrammarCompiler(BYTES, cache_enabled=False).compile_grammar(Grammar.from_lark(text))


def of_ebnf(text: str) -> CompiledGrammar:
    return GrammarCompiler(BYTES, cache_enabled=False).compile_grammar(Grammar.from_ebnf(text))


MANY = " | ".join(f'"w{number}"' for number in range(3000))
# Name, grammar, what it has, what it does not have.
LARK: list[tuple[str, str, list[str], list[str]]] = [
    (
        "a terminal whose longer reading leaves nothing",
        'start: S "ed"\nS: "list" | "listen"',
        ["listed", "listened"],
        ["listen"],
    ),
    (
        "any text between tags in pieces",
        'start: "<think" ">" /.+/ "</think" ">"',
        ["<think>Hi</think>"],
        ["<think></think>"],
    ),
    (
        "two ways to cut the same text",
        'start: A B | AB C\nA: "a"\nB: "bc"\nAB: "ab"\nC: "d"',
        ["abc", "abd"],
        ["ab"],
    ),
    ("3,000 alternatives", f"start: {MANY}", ["w0", "w2999"], ["w3000"]),
    ("right recursion", 'start: r\nr: "a" r | "a"', ["a" * 3000], [""]),
    (
        "digits one by one",
        "start: (" + "|".join(f'"{digit}"' for digit in range(10)) + ")+",
        ["0123456789" * 50],
        [""],
    ),
    ("long free text", "start: /(.|\\n)*/", ["word, word.\n" * 2000], []),
    (
        "a lazy body of any text",
        'start: body "!"\nbody[lazy]: /(.|\\n)*/ "</p>"',
        ["a" * 2000 + "</p>!"],
        ["</p></p>!"],
    ),
]


@pytest.mark.parametrize("case", LARK, ids=[case[0] for case in LARK])
def test_lark(case: tuple[str, str, list[str], list[str]]) -> None:
    _, text, accepted, refused = case
    grammar = of_lark(text)
    assert [text[:50] for text in accepted if not matches(grammar, text)] == []
    assert [text[:50] for text in refused if matches(grammar, text)] == []


def test_ignored_text_at_the_beginning_can_be_allowed() -> None:
    text = '%ignore / +/\nstart: "a"'
    assert not matches(of_lark(text), " a")
    assert matches(of_lark('%grammar_options {"allow_initial_skip": true}\n' + text), " a")


def test_every_way_to_cut_a_text_into_tokens_is_allowed() -> None:
    compiler = compiler_for("t", "te", "tes", "test")
    matcher = GrammarMatcher(compiler.compile_grammar(Grammar.from_lark("start: /test/")))
    assert allowed(matcher, 5) == {1, 2, 3, 4}


def test_a_token_that_is_the_end_of_another_is_allowed() -> None:
    matcher = matcher_for('root ::= "ab" | "baa"', "aa", "baa")
    assert allowed(matcher, 3) == {2}
    assert matcher.accept_token(2)


INTEGER = {"type": "integer"}
BRANCH: Any = {
    "type": "object",
    "properties": {"k": {"enum": ["a", "b"]}, "v": True},
    "required": ["k", "v"],
    "additionalProperties": False,
    "if": {"properties": {"k": {"const": "a"}}},
    "then": {"properties": {"v": {"type": "integer"}}},
    "else": {"properties": {"v": {"type": "string"}}},
}
THREE: Any = {
    "properties": dict.fromkeys("abc", INTEGER),
    "type": "object",
    "additionalProperties": False,
}
ANCHORED: Any = {"$defs": {"s": {"$anchor": "short", "type": "string"}}, "$ref": "#short", "maxLength": 2}
PAIR: Any = {"type": "array", "items": {"enum": [1, 2]}}
SCHEMAS: list[tuple[str, Any, list[str], list[str], dict[str, Any]]] = [
    (
        "optional keys before required ones",
        {"type": "object", "properties": {"limit": INTEGER, "page": INTEGER}, "required": ["limit"]},
        ['{"page":0,"limit":5}', '{"limit":5}'],
        ['{"page":0}'],
        {"any_order": True},
    ),
    (
        "other keys before declared ones",
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        ['{"x":1,"a":2}'],
        ['{"x":1}'],
        {},
    ),
    ("not", {"type": "integer", "not": {"const": 0}}, ["1", "10"], ["0"], {}),
    (
        "exactly one of two that overlap",
        {"type": "integer", "oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
        ["2", "3", "4", "9"],
        ["6", "1"],
        {},
    ),
    (
        "if, then and else",
        BRANCH,
        ['{"k":"a","v":1}', '{"k":"b","v":"x"}'],
        ['{"k":"a","v":"x"}', '{"k":"b","v":1}'],
        {},
    ),
    ("items that differ", {**PAIR, "uniqueItems": True}, ["[1,2]", "[2]"], ["[1,1]"], {}),
    (
        "contains",
        {"type": "array", "items": {"enum": [1, 7]}, "contains": {"const": 7}},
        ["[1,7]"],
        ["[1,1]", "[]"],
        {},
    ),
    (
        "a key that needs another",
        {**THREE, "dependentRequired": {"a": ["b"]}},
        ['{"a":1,"b":1}', '{"b":1}'],
        ['{"a":1}'],
        {},
    ),
    (
        "unevaluated keys",
        {"type": "object", "allOf": [{"properties": {"a": INTEGER}}], "unevaluatedProperties": False},
        ['{"a":1}', "{}"],
        ['{"b":1}'],
        {},
    ),
    ("a number of optional keys", {**THREE, "minProperties": 2}, ['{"a":1,"c":1}'], ['{"a":1}'], {}),
    ("escaped characters", {"type": "string"}, ['"\\u00e9"', '"é"'], ['"\\ud800"'], {}),
    (
        "a surrogate pair is one character",
        {"type": "string", "maxLength": 1},
        ['"\\ud83d\\ude00"'],
        ['"ab"'],
        {},
    ),
    ("escapes within a length", {"type": "string", "maxLength": 10}, ['"a\\nb\\"c"'], ['"01234567890"'], {}),
    (
        "pattern and maxLength",
        {"type": "string", "pattern": "^[ -~]+$", "maxLength": 8},
        ['"12345678"'],
        ['"123456789"'],
        {},
    ),
    ("a pattern is searched for", {"type": "string", "pattern": "\\d"}, ['"ab1c"'], ['"abc"'], {}),
    (
        "a pattern that looks ahead",
        {"type": "string", "pattern": "^(?!foo)[a-z]+$"},
        ['"fob"'],
        ['"foobar"'],
        {},
    ),
    ("integers in every spelling", INTEGER, ["1.0", "1e2"], ["1.5"], {"lexical": "any"}),
    (
        "a bound in every spelling",
        {"type": "number", "exclusiveMinimum": 0},
        ["5e-1"],
        ["-5e-1", "0e1"],
        {"lexical": "any"},
    ),
    ("values in every spelling", {"enum": [1]}, ["1.0", "1"], ["2"], {"lexical": "any"}),
    ("decimal multiples", {"type": "number", "multipleOf": 0.01}, ["1.23"], ["1.234"], {}),
    ("a format that nobody knows", {"type": "string", "format": "phone"}, ['"x"'], ["1"], {}),
    (
        "days that there are not",
        {"type": "string", "format": "date-time"},
        ['"2024-02-29T00:00:00Z"'],
        ['"2023-02-30T00:00:00Z"'],
        {},
    ),
    (
        "keywords beside a reference",
        {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s", "maxLength": 2},
        ['"ab"'],
        ['"abc"', "1"],
        {},
    ),
    ("keywords beside an anchor", ANCHORED, ['"ab"'], ['"abc"', "1"], {}),
    (
        "a key that must not be",
        {"type": "object", "properties": {"a": False}},
        ["{}", '{"b":1}'],
        ['{"a":1}'],
        {},
    ),
    (
        "alternatives beside properties",
        {
            "properties": {"t": {"type": "string"}},
            "required": ["t"],
            "type": "object",
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        ['{"t":"x","a":1}'],
        ['{"t":"x"}', '{"t":1,"a":1}'],
        {},
    ),
    (
        "overlapping patterns of keys",
        {
            "type": "object",
            "properties": {"ab": INTEGER},
            "additionalProperties": False,
            "patternProperties": {"^a": {"minimum": 5}},
        },
        ['{"ab":5}'],
        ['{"ab":4}', '{"b":5}'],
        {},
    ),
    ("a constant with white space", {"const": "\n" + " " * 30}, [json.dumps("\n" + " " * 30)], ['"\\n"'], {}),
    (
        "white space of a pattern",
        {"type": "array", "items": INTEGER},
        ["[ 1 , 2 ]"],
        ["[   1]"],
        {"whitespace_pattern": " {1,2}"},
    ),
    (
        "one of several types",
        {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        ["null", "true"],
        ["nulltrue"],
        {},
    ),
    (
        "a reference to a property",
        {"type": "object", "properties": {"test": INTEGER, "b": {"$ref": "#/properties/test"}}},
        ['{"test":1,"b":2}'],
        ['{"b":"x"}'],
        {},
    ),
    (
        "items within items",
        {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 2}},
        ["[[1,2]]"],
        ["[[1]]", "[]"],
        {},
    ),
    (
        "no white space at all",
        {"type": "object", "properties": {"limit": INTEGER}},
        ['{"limit":5}', '{"limit": 5}'],
        [],
        {},
    ),
    ("an empty object", {"type": "object", "additionalProperties": False}, ["{}"], ['{"a":1}'], {}),
]


@pytest.mark.parametrize("case", SCHEMAS, ids=[case[0] for case in SCHEMAS])
def test_json_schema(case: tuple[str, Any, list[str], list[str], dict[str, Any]]) -> None:
    _, schema, accepted, refused, options = case
    check(schema, accepted, refused, **options)


def test_values_nested_as_deep_as_one_likes() -> None:
    schema = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
    check(schema, ["[" * 400 + "]" * 400], ["[1]"])


def test_all_of_several_stop_tokens_end_the_text_and_none_comes_earlier() -> None:
    info = TokenizerInfo([b"</s>", b"<eot>", b"a", b'"'], stop_token_ids=[0, 1])
    schema = {"type": "string", "minLength": 1, "maxLength": 1}
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(Grammar.from_json_schema(schema)))
    for token in (3, 2, 3):
        assert allowed(matcher, 4) & {0, 1} == set()
        assert matcher.accept_token(token)
    assert allowed(matcher, 4) == {0, 1}
    assert matcher.accept_token(1)


UNPRODUCTIVE = ["root ::= root", "root ::= a\na ::= b\nb ::= a", 'root ::= "a" root']


@pytest.mark.parametrize("text", UNPRODUCTIVE)
def test_grammars_without_sentences_are_errors(text: str) -> None:
    with pytest.raises(GrammarError):
        of_ebnf(text)


def test_deep_patterns_are_read_or_refused() -> None:
    deep = "(" * 40_000 + "a" + ")" * 40_000
    for schema in ({"type": "string", "pattern": deep}, {"patternProperties": {deep: True}}):
        with pytest.raises(GrammarError):
            compiled(schema)


def test_a_pattern_of_nested_repetitions_takes_time_in_proportion() -> None:
    grammar = GrammarCompiler(BYTES).compile_grammar(Grammar.from_regex("(a*)*b"))
    assert matches(grammar, "a" * 20_000 + "b")


def test_one_ambiguous_rule_takes_its_time_only() -> None:
    assert matches(of_ebnf('root ::= root root | "a"'), "a" * 300)


def test_memory_of_compiled_grammars_is_bounded() -> None:
    limit = 100_000
    compiler = GrammarCompiler(BYTES, cache_limit_bytes=limit)
    sizes = []
    for number in range(60):
        compiler.compile_json_schema({"enum": [f"{number}-{other}" for other in range(20)]})
        sizes.append(compiler.get_cache_size_bytes())
    assert max(sizes) <= limit < 60 * sizes[0]
    assert sizes[-1] > limit / 2


def test_masks_do_not_become_slower_with_the_text() -> None:
    """Nothing grows with what was accepted: the state after many words is that after a few."""
    matcher = GrammarMatcher(of_ebnf("root ::= c+ ([ \\t\\n] c+)*\nc ::= [a-z]"))
    masks = []
    for _ in range(50):
        assert matcher.accept_string("word word\tword\n" * 20 + "w")
        masks.append(allowed(matcher, 257))
        assert matcher.accept_string(" ")
    assert all(mask == masks[0] for mask in masks)


def test_ids_that_there_are_not_are_refused() -> None:
    matcher = matcher_for('root ::= "a"', "a")
    assert not any(matcher.accept_token(token) for token in (-1, 2, 99, 2**40))
    assert matcher.accept_token(1)


def test_a_terminated_matcher_stays_so() -> None:
    """Its mask is empty, it takes nothing, and neither is an error."""
    matcher = matcher_for('root ::= "a"', "a")
    assert matcher.accept_token(1)
    assert matcher.accept_token(0)
    for _ in range(2):
        assert matcher.is_terminated()
        assert allowed(matcher, 2) == set()
        assert not matcher.accept_token(1)
    matcher.rollback(1)
    assert allowed(matcher, 2) == {0}


def test_empty_alternatives_of_a_regex() -> None:
    grammar = GrammarCompiler(BYTES).compile_grammar(Grammar.from_regex("(a|)b(|c)"))
    assert all(matches(grammar, text) for text in ("ab", "b", "abc", "bc"))
    assert not matches(grammar, "a")


def test_classes_beyond_ascii() -> None:
    grammar = of_ebnf('root ::= [а-яё中-文]+ "é"')
    assert matches(grammar, "дёжé")
    assert matches(grammar, "中é")
    assert not matches(grammar, "zé")
