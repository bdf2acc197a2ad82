"""Grammars as JSON: exact, versioned, and safe to read."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import grammar_core
from grammar_core.errors import DeserializeFormatError, DeserializeVersionError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Repeat
from tests.case_files import GrammarCase, valid_cases
from tests.grammar_core.random_grammars import random_grammar


def document(**members: Any) -> dict[str, Any]:
    return json.loads(Grammar.from_ebnf('root ::= "a"').serialize_json()) | members  # type: ignore[no-any-return]


def rule_with(*operations: Any, **members: Any) -> list[Any]:
    return [{"name": "root", "body": list(operations), **members}]


@pytest.mark.parametrize("case", valid_cases())
def test_every_case_comes_back(case: GrammarCase) -> None:
    grammar = case.load()
    same(grammar, Grammar.deserialize_json(grammar.serialize_json()))


def test_random_grammars_come_back() -> None:
    for seed in range(150):
        grammar = random_grammar(random.Random(seed), macros=True, options=True)
        same(grammar, Grammar.deserialize_json(grammar.serialize_json()))


def same(before: Grammar, after: Grammar) -> None:
    assert repr(after.rules) == repr(before.rules)
    assert after.root == before.root
    assert str(after) == str(before)


def test_any_depth() -> None:
    body = Grammar.from_ebnf('root ::= "a"').rules[0].body
    for _ in range(50_000):
        body = Repeat(body, 1, None)
    rule = Grammar.from_ebnf('root ::= "a"').rules[0]._replace(body=body)
    text = Grammar.from_rules([rule]).serialize_json()
    assert Grammar.deserialize_json(text).serialize_json() == text


def test_another_version() -> None:
    with pytest.raises(DeserializeVersionError, match="Got 0, expected 1"):
        Grammar.deserialize_json(json.dumps(document(__VERSION__="0")))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a JSON text"),
        ("[" * 200_000, "not a JSON text"),
        ("1" * 10_000, "not a JSON text"),
        ("[]", "A JSON object is expected"),
        ("{}", "Missing member __VERSION__"),
        ('{"__VERSION__":1}', "Member __VERSION__ has the wrong type"),
        ('{"__VERSION__":"1"}', "Missing member rules"),
        ('{"__VERSION__":"1","rules":[]}', "Missing member root"),
        ('{"__VERSION__":"1","rules":[],"root":"root"}', 'The root rule "root" is not defined'),
    ],
)
def test_other_texts(text: str, problem: str) -> None:
    with pytest.raises(DeserializeFormatError, match=problem):
        Grammar.deserialize_json(text)


@pytest.mark.parametrize(
    "rules",
    [
        [1],
        [{}],
        [{"name": "root"}],
        [{"name": 1, "body": [["literal", "a"]]}],
        [{"name": "\ud800", "body": [["literal", "a"]]}],
        rule_with(),
        rule_with(1),
        rule_with([]),
        rule_with(["unknown"]),
        rule_with([["literal"]]),
        rule_with(["literal"]),
        rule_with(["literal", 1]),
        rule_with(["literal", "\ud800"]),
        rule_with(["literal", "a", "b"]),
        rule_with(["literal", "a"], ["literal", "b"]),
        rule_with(["sequence", 1]),
        rule_with(["sequence", -1]),
        rule_with(["sequence", True]),
        rule_with(["sequence", 10**30]),
        rule_with(["choice", 0]),
        rule_with(["rule", "x"]),
        rule_with(["class", [1]]),
        rule_with(["class", [2, 1]]),
        rule_with(["class", [0, 0x10FFFF]]),
        rule_with(["class", ["a", "b"]]),
        rule_with(["repeat", 0, None]),
        rule_with(["literal", "a"], ["repeat", 2, 1]),
        rule_with(["literal", "a"], ["repeat", 0.5, None]),
        rule_with(["literal", "a"], ["regex", "a", 1, None]),
        rule_with(["substring", "ab"]),
        rule_with(["tokens", [], False]),
        rule_with(["tokens", [2, 1], False]),
        rule_with(["tokens", [-1], False]),
        rule_with(["tag_dispatch", [["", "root"]], True, []]),
        rule_with(["tag_dispatch", [["ab", "root"]], True, ["a"]]),
        rule_with(["tag_dispatch", [["a", "x"]], True, []]),
        rule_with(["tag_dispatch", [["a"]], True, []]),
        rule_with(["token_tag_dispatch", [[1, "root"]], True, [1]]),
        rule_with(["automaton", [[0, 1, "root"]], [0], 1]),
        rule_with(["automaton", [[0, 0, 5]], [0], 1]),
        rule_with(["automaton", [], [-1], 1]),
        rule_with(["literal", "a"], extra=1),
        rule_with(["literal", "a"], options={"max_token": 1}),
        rule_with(["literal", "a"], options={"max_tokens": 0}),
        rule_with(["literal", "a"], options={"max_tokens": "1"}),
        rule_with(["literal", "a"], options={"lazy": 1}),
        rule_with(["literal", "a"], options={"capture": ""}),
        rule_with(["literal", "a"], options={"temperature": -1}),
        rule_with(["literal", "a"], options={"capture_hidden_body_rule_id": 0}),
        rule_with(["literal", "a"], lookahead=[["rule", "x"]]),
        [*rule_with(["literal", "a"]), *rule_with(["literal", "a"])],
    ],
)
def test_corrupt_rules(rules: list[Any]) -> None:
    with pytest.raises(DeserializeFormatError):
        Grammar.deserialize_json(json.dumps(document(rules=rules)))


def test_random_damage_is_an_error_or_a_grammar() -> None:
    rng = random.Random(5)
    text = random_grammar(random.Random(8), macros=True, options=True).serialize_json()
    refused = 0
    for _ in range(400):
        at = rng.randrange(len(text))
        damaged = text[:at] + rng.choice('0123456789"[]{},:ax-') + text[at + rng.randint(0, 3) :]
        try:
            str(Grammar.deserialize_json(damaged))
        except (DeserializeFormatError, DeserializeVersionError):
            refused += 1
    assert refused > 200


def test_the_errors_are_the_ones_of_tokenizers() -> None:
    with pytest.raises(DeserializeFormatError):
        grammar_core.TokenizerInfo.deserialize_json("{}")
