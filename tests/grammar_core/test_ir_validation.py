"""Grammars built in code are checked like parsed ones."""

from __future__ import annotations

import pytest

from grammar_core.errors import DuplicateRuleError, GrammarError, UndefinedRuleError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Repeat, Rule, RuleRef, Sequence


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (RuleRef("x"), 'Rule "x", used in "root", is not defined'),
        (Sequence((Repeat(Choice((RuleRef("x"),)), 0, 1),)), 'Rule "x"'),
        (Choice(()), "A choice has no options"),
        (Literal(b"\xff"), "is not valid UTF-8"),
        (Literal("é".encode()[:1]), "is not valid UTF-8"),
        (Repeat(Literal(b"a"), 3, 2), "The repetition bounds 3 and 2"),
        (Repeat(Literal(b"a"), -1, None), "The repetition bounds -1 and None"),
        (CharClass(((3, 2),)), "not a normal list"),
        (CharClass(((5, 6), (1, 2))), "not a normal list"),
        (CharClass(((1, 2), (3, 4))), "not a normal list"),
        (CharClass(((0, 0x10FFFF),)), "not a normal list"),
        (CharClass(((0, 0x110000),)), "not a normal list"),
    ],
)
def test_malformed_rules(body: Expr, problem: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_rules([Rule("root", body)])
    assert problem in str(caught.value)
    assert caught.value.line is None


def test_duplicate_rules() -> None:
    with pytest.raises(DuplicateRuleError, match='Rule "root" is defined more than once'):
        Grammar.from_rules([Rule("root", Literal(b"a")), Rule("root", Literal(b"b"))])


def test_missing_root() -> None:
    with pytest.raises(UndefinedRuleError, match='The root rule "main" is not defined'):
        Grammar.from_rules([Rule("root", Literal(b"a"))], root_rule_name="main")


def test_well_formed_rules() -> None:
    body = Choice((Sequence((RuleRef("root"), CharClass(((0, 0xD7FF), (0xE000, 0x10FFFF))))), Literal(b"")))
    grammar = Grammar.from_rules([Rule("root", body)])
    assert str(grammar) == 'root ::= root [^] | ""\n'
