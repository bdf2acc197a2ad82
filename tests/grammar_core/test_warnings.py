"""Rules that are of no use are reported."""

from __future__ import annotations

import random

import pytest

import grammar_core
from grammar_core.grammar import Grammar
from grammar_core.ir.warnings import GrammarWarning
from tests.grammar_core.random_grammars import random_grammar
from tests.oracle import Oracle


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= "a" x\nx ::= "b"', []),
        ('root ::= "a"\nx ::= y\ny ::= "b"', [("x", "unreachable"), ("y", "unreachable")]),
        ('root ::= "a" | x\nx ::= "b" x', [("x", "unproductive")]),
        ("root ::= root", [("root", "unproductive")]),
        ('root ::= "a" | x\nx ::= [^\\0-\\U0010FFFF]', [("x", "unproductive")]),
        ("root ::= x{0} y\nx ::= x\ny ::= x? x{0,3} x*", [("x", "unproductive")]),
        ('root ::= TagDispatch(("a", x))\nx ::= y\ny ::= "b"', []),
        ('root ::= TagDispatch(("a", x))\nx ::= x', [("x", "unproductive")]),
        ('root ::= TokenTagDispatch((1, x)) Token(1)\nx ::= "b"', []),
        ('root ::= "a" (= x)\nx ::= "b"', []),
        (
            "root ::= x\nx ::= y x | z\ny ::= x\nz ::= z",
            [(name, "unproductive") for name in ("root", "x", "y", "z")],
        ),
    ],
)
def test_warnings(text: str, expected: list[tuple[str, str]]) -> None:
    warnings = Grammar.from_ebnf(text).warnings()
    assert [(warning.rule, warning.kind) for warning in warnings] == expected


def test_messages() -> None:
    assert str(GrammarWarning("x", "unreachable")) == 'Rule "x" is never used'
    assert str(GrammarWarning("x", "unproductive")) == 'Rule "x" cannot match any finite text'


def test_an_unproductive_root_is_an_error_when_compiled() -> None:
    compiler = grammar_core.GrammarCompiler(grammar_core.TokenizerInfo([b"a"]))
    with pytest.raises(grammar_core.GrammarError, match="cannot match any finite text"):
        compiler.compile_grammar('root ::= "a" root')


def test_a_rule_is_unproductive_when_its_language_is_empty() -> None:
    found = 0
    for seed in range(200):
        grammar = random_grammar(random.Random(seed), macros=True)
        unproductive = {w.rule for w in grammar.warnings() if w.kind == "unproductive"}
        empty = {rule.name for rule in grammar.rules if Oracle(grammar.rules, rule.name).is_empty}
        assert unproductive == empty, (seed, str(grammar))
        found += len(empty)
    assert found > 20


def test_long_chains() -> None:
    links = "".join(f'r{i} ::= "a" r{i + 1} | r{i + 2}\n' for i in range(20_000))
    text = f'root ::= r0\n{links}r20000 ::= "b"\nr20001 ::= r20001'
    assert Grammar.from_ebnf(text).warnings() == (GrammarWarning("r20001", "unproductive"),)


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        ('root ::= x\nx ::= "a" x', "x"),
        ('root ::= "a" y | z\ny ::= z "b"\nz ::= w{2,3}\nw ::= "c" z', "w"),
        ('root ::= "a" root', None),
    ],
)
def test_the_rule_to_blame_is_named(text: str, blamed: str | None) -> None:
    """From a newcomer: the error named the root alone, whichever rule never ends."""
    compiler = grammar_core.GrammarCompiler(grammar_core.TokenizerInfo([b"a", b""], stop_token_ids=[1]))
    with pytest.raises(grammar_core.GrammarError) as error:
        compiler.compile_grammar(text)
    reason = "" if blamed is None else f', because rule "{blamed}" cannot'
    assert str(error.value).endswith(f'Rule "root" cannot match any finite text{reason}')
