"""Token, ExcludeToken and TokenTagDispatch in the engine."""

from __future__ import annotations

import pytest

import grammar_core
from tests.grammar_core.matchers import allowed, compiler_for, matcher_for


def test_token_is_one_whole_token() -> None:
    matcher = matcher_for('root ::= Token(2) "x"', "a", "b", "x", "bx")
    assert allowed(matcher, 5) == {2}
    assert not matcher.accept_string("b")
    assert matcher.accept_token(2)
    assert allowed(matcher, 5) == {3}


def test_a_token_may_be_text_and_member_at_once() -> None:
    matcher = matcher_for('root ::= Token(1) "x" | "a" "b"', "a", "b", "x")
    assert matcher.accept_token(1)
    assert allowed(matcher, 4) == {2, 3}


def test_tokens_stand_at_token_boundaries_only() -> None:
    matcher = matcher_for('root ::= "a" Token(2)', "a", "b", "ab")
    assert allowed(matcher, 4) == {1}


def test_exclude_token_has_no_stop_token_and_no_padding() -> None:
    info = grammar_core.TokenizerInfo([b"</s>", b"a", b"b", b"c"], stop_token_ids=[0], vocab_size=40)
    matcher = grammar_core.GrammarMatcher(
        grammar_core.GrammarCompiler(info).compile_grammar("root ::= ExcludeToken(2)")
    )
    assert allowed(matcher, 40) == {1, 3}


def test_id_out_of_the_vocabulary() -> None:
    with pytest.raises(
        grammar_core.GrammarError, match="Token id 9 is outside of the vocabulary of 2 tokens"
    ):
        compiler_for("a").compile_grammar("root ::= Token(9)")


def test_counted_tokens() -> None:
    matcher = matcher_for('root ::= ExcludeToken(2){70,80} "b"', "a", "b")
    for _ in range(80):
        assert allowed(matcher, 3) >= {1}
        assert matcher.accept_token(1)
    assert allowed(matcher, 3) == {2}


def test_dispatch() -> None:
    matcher = matcher_for(
        'root ::= TokenTagDispatch((1, t), excludes=(2,))\nt ::= "x" "y"\n', "<t>", "!", "x", "y"
    )
    assert allowed(matcher, 5) == {0, 1, 3, 4}
    assert matcher.accept_token(3)
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {3}
    assert matcher.accept_token(3)
    assert matcher.accept_token(4)
    assert allowed(matcher, 5) == {0, 1, 3, 4}


def test_dispatch_once() -> None:
    matcher = matcher_for(
        'root ::= TokenTagDispatch((1, t), loop_after_dispatch=false)\nt ::= "x"\n', "<t>", "x"
    )
    assert matcher.accept_token(2)
    assert matcher.accept_token(1)
    assert matcher.accept_token(2)
    assert allowed(matcher, 3) == {0}


def test_a_stop_token_that_a_rule_names_ends_the_text() -> None:
    matcher = matcher_for('root ::= x Token(0)\nx[capture] ::= "a" | "b" Token(0) "a"\n', "a", "b")
    assert allowed(matcher, 3) == {1, 2}
    assert not matcher.accept_token(0)
    assert matcher.accept_token(1)
    assert allowed(matcher, 3) == {0}
    assert matcher.accept_token(0)
    assert matcher.is_terminated()
    assert matcher.get_captures() == [("x", b"a")]
    matcher.rollback(2)
    assert matcher.accept_token(2)
    assert allowed(matcher, 3) == set()
    assert not matcher.accept_token(0)


def test_a_budget_that_ends_in_one_reading_of_a_token_ends_in_all() -> None:
    """Read as text the token ends a rule that has used up its budget; read as a free token it would not."""
    matcher = matcher_for('root ::= x "c"\nx[max_chars=2] ::= "ab" | ExcludeToken(3)* "bb"\n', "a", "b", "c")
    for token in (1, 2):
        assert matcher.accept_token(token)
    assert allowed(matcher, 4) == {3}


def test_budgets_hold_beside_token_sets() -> None:
    grammar = 'root ::= x x "c" | Token(3)\nx[max_tokens=1] ::= [ab]+\n'
    matcher = matcher_for(grammar, "a", "b", "c", "aa")
    for token in (4, 4):
        assert matcher.accept_token(token)
    assert allowed(matcher, 5) == {3}
