"""Printed grammars: the same language, a fixed point, and readable."""

from __future__ import annotations

import random

import pytest

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Repeat, Rule, RuleRef, Sequence
from tests.grammar_core.random_grammars import random_grammar, random_text
from tests.oracle import Oracle


def printed(text: str) -> str:
    return str(Grammar.from_ebnf(text))


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a" | "b" x\nx ::= "c"\n',
        'root ::= ("a" | "b") "c" ("d" "e")* ("f"+)+\n',
        'root ::= ("a" | ("b" | "c")) | "d"\n',
        'root ::= "" | () | ()?\n',
        'root ::= "a"? "a"* "a"+ "a"{3} "a"{2,4} "a"{2,} "a"{0}\n',
        'root ::= "\\"\\\\/\'?\\n\\r\\t\\u0000\\u0008\\u001B" "中文😀é" "\\u00A0\\u200B\\U000E0001"\n',
        'root ::= [a-z] [^a-z] [^] ["\\-/\\[-\\^] [\\t\\n\\r] [ab] [a-c] [а-яё] [\\u2028]\n',
        "root ::= [^\\u0000-\\uD7FF\\uE000-\\U0010FFFF]\n",
    ],
)
def test_canonical_text_prints_as_itself(text: str) -> None:
    assert printed(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= (("a"))\n', 'root ::= "a"\n'),
        ('root ::= ("a")("b")', 'root ::= "a" "b"\n'),
        ('root ::= "a"{0,1} "a"{0,} "a"{1,-1}', 'root ::= "a"? "a"* "a"+\n'),
        ("root ::= [cba] [z\\x41]", "root ::= [a-c] [Az]\n"),
        ("root ::= [^a-z\\n]", "root ::= [^\\na-z]\n"),
        ('root ::= # x\n  "a"\n  | "b"', 'root ::= "a" | "b"\n'),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert printed(text) == expected


def test_long_choices_take_a_line_an_option() -> None:
    options = [f'"{letter * 30}" "x"' for letter in "abcd"]
    expected = "root ::= " + "\n    | ".join(options) + "\n"
    assert printed("root ::= " + "|".join(options)) == expected
    assert printed(expected) == expected


def test_the_root_rule_is_printed_as_root() -> None:
    grammar = Grammar.from_ebnf('start ::= root "a"\nroot ::= "b"', root_rule_name="start")
    assert str(grammar) == 'root ::= start\nstart ::= root_1 "a"\nroot_1 ::= "b"\n'


def test_names_that_ebnf_cannot_write_are_replaced() -> None:
    names = ["root", "1st", "a b", "a_b_1", "<x>", "हिन्दी", ""]
    rules = [Rule(name, RuleRef(names[(i + 1) % len(names)])) for i, name in enumerate(names)]
    text = str(Grammar.from_rules(rules))
    assert str(Grammar.from_ebnf(text)) == text
    assert "हिन्दी ::= " in text
    assert len(Grammar.from_ebnf(text).rules) == len(names)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Sequence((Literal(b"a"),)), '"a"'),
        (Choice((Choice((Literal(b"a"),)),)), '"a"'),
        (Sequence((Sequence((Literal(b"a"), Literal(b"b"))), Choice((Literal(b"c"),)))), '("a" "b") "c"'),
        (Repeat(Sequence((Repeat(Literal(b"a"), 2, 2),)), 0, None), '("a"{2})*'),
        (Repeat(Sequence(()), 1, None), "()+"),
        (CharClass(()), "[^\\u0000-\\uD7FF\\uE000-\\U0010FFFF]"),
    ],
)
def test_nodes_built_in_code(body: Expr, expected: str) -> None:
    text = str(Grammar.from_rules([Rule("root", body)]))
    assert text == f"root ::= {expected}\n"
    assert printed(text) == text


def test_random_grammars_keep_their_language() -> None:
    rng = random.Random(7)
    for seed in range(300):
        grammar = random_grammar(random.Random(seed))
        text = str(grammar)
        reparsed = Grammar.from_ebnf(text)
        assert str(reparsed) == text
        before, after = Oracle(grammar.rules, grammar.root), Oracle(reparsed.rules, reparsed.root)
        for oracle, other in ((before, after), (after, before)):
            sample = random_text(rng, oracle, 12)
            assert other.is_viable(sample) == oracle.is_viable(sample), (seed, sample)
            assert other.accepts(sample) == oracle.accepts(sample), (seed, sample)
