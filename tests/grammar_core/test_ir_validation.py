"""Grammars built in code are checked like parsed ones."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from grammar_core.errors import DuplicateRuleError, GrammarError, GrammarLimitError, UndefinedRuleError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    OtherTexts,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    TokenSet,
)


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
        (Automaton((), (), 2**30), "An automaton has more than 2,000,000 states"),
        (Automaton((), (), 2**64), "An automaton has more than 2,000,000 states"),
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


# Found by sending the core trees of nodes at random: they reached it, and failed there.
@pytest.mark.parametrize("name", ["\ud800", 5, b"a"])
def test_a_rule_name_that_is_not_text(name: Any) -> None:
    with pytest.raises(GrammarError, match="of a rule is not text"):
        Grammar.from_rules([Rule("root", Literal(b"a")), Rule(name, Literal(b"b"))])


# Found by sending the core trees of nodes at random: out of this one it made a state that does not exist.
def test_the_core_itself_refuses_other_texts_of_tokens() -> None:
    rules = (Rule("root", OtherTexts(RuleRef("c"), ("a",))), Rule("c", TokenSet((0, 1), False)))
    compiler = GrammarCompiler(TokenizerInfo([b"a", b"b", b"</s>"], stop_token_ids=[2]))
    with pytest.raises(GrammarError, match="must be characters"):
        compiler.compile_grammar(Grammar(rules, "root"))


# 2 ** 60 nodes, all of them the same few objects.
def test_a_tree_of_shared_nodes_ends_in_time() -> None:
    body: Expr = Literal(b"a")
    for _ in range(60):
        body = Sequence((body, body))
    info = TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1])
    compiler = GrammarCompiler(info, compile_seconds=0.05)
    with pytest.raises(GrammarLimitError, match="seconds of processor time"):
        compiler.compile_grammar(Grammar((Rule("root", body),), "root"))


# Found with 48,000 such rules: one look at the clock for every rule was too few.
def test_a_mask_under_many_nested_repetitions_ends_in_time() -> None:
    count = 5000
    lines = [f"r{i} ::= r{i + 1}{{2,3}}" for i in range(count)]
    text = "\n".join(["root ::= r0", *lines, f'r{count} ::= "a"'])
    info = TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1])
    matcher = GrammarMatcher(GrammarCompiler(info, step_seconds=0.02).compile_grammar(text))
    with pytest.raises(GrammarLimitError, match="seconds of processor time"):
        matcher.fill_next_token_bitmask(allocate_token_bitmask(1, info.vocab_size))


def test_missing_root() -> None:
    with pytest.raises(UndefinedRuleError, match='The root rule "main" is not defined'):
        Grammar.from_rules([Rule("root", Literal(b"a"))], root_rule_name="main")


def test_well_formed_rules() -> None:
    body = Choice((Sequence((RuleRef("root"), CharClass(((0, 0xD7FF), (0xE000, 0x10FFFF))))), Literal(b"")))
    grammar = Grammar.from_rules([Rule("root", body)])
    assert str(grammar) == 'root ::= root [^] | ""\n'
