"""Committed-shortest matching."""

from __future__ import annotations

import pytest

import grammar_core
from tests.grammar_core.matchers import allowed, matcher_for


def test_the_occurrence_ends_where_it_first_can() -> None:
    matcher = matcher_for('root ::= "<" name ">"\nname[lazy] ::= [a-z]+\n', "<", ">", "a", "<a>", "aa")
    assert allowed(matcher, 6) == {1, 4}
    assert matcher.accept_token(1)
    assert allowed(matcher, 6) == {3}
    assert matcher.accept_token(3)
    assert allowed(matcher, 6) == {2}


def test_a_rule_that_may_be_empty_is_empty() -> None:
    matcher = matcher_for('root ::= x "b"\nx[lazy] ::= "a"*\n', "a", "b")
    assert allowed(matcher, 3) == {2}


def test_lazy_root() -> None:
    matcher = matcher_for('root[lazy] ::= "a" "b"+', "a", "b")
    assert matcher.accept_string("ab")
    assert matcher.is_completed()
    assert allowed(matcher, 3) == {0}


def test_occurrences_commit_independently() -> None:
    matcher = matcher_for('root ::= x{3,80}\nx[lazy] ::= "a"+ ";"?\n', "a", ";")
    assert matcher.accept_string("aaa")
    assert not matcher.accept_string(";")


def test_rules_in_the_body_are_copied() -> None:
    matcher = matcher_for('root ::= x "."\nx[lazy] ::= d d+\nd ::= [0-9]{1,2}\n', "1")
    assert matcher.accept_string("12.")
    assert matcher.is_completed()


def test_recursive_bodies_are_refused() -> None:
    with pytest.raises(grammar_core.GrammarError, match=r'lazy rule "x".*refers to "y"'):
        matcher_for('root ::= x\nx[lazy] ::= y\ny ::= "(" y ")" | "a"\n', "a")


def test_rollback_restores_the_commitment() -> None:
    matcher = matcher_for("root ::= x [a-z]*\nx[lazy] ::= [a-z] [0-9]*\n", "a", "1")
    assert matcher.accept_token(1)
    assert not matcher.accept_token(2)
    matcher.rollback()
    assert matcher.accept_token(1)
    assert allowed(matcher, 3) == {0, 1}


def test_a_rule_that_is_always_empty_inside_of_a_rule_with_a_budget() -> None:
    matcher = matcher_for('root ::= a | "x"\na[max_tokens=2] ::= b\nb[lazy] ::= "c"*\n', "c", "x")
    assert not matcher.accept_string("c")
    assert matcher.is_completed()
    assert matcher.accept_string("x")


def test_a_token_that_is_text_too_ends_the_occurrence() -> None:
    """Found by random grammars against the oracle (seed 3000436): the token's reading as text went on."""
    matcher = matcher_for("root[lazy] ::= [a-c]+ Token(1, 3)", "a", "b", "ca", "c")
    assert matcher.accept_token(2)
    assert allowed(matcher, 5) == {1, 2, 3, 4}
    assert matcher.accept_token(1)
    assert matcher.is_completed()
    assert allowed(matcher, 5) == {0}


def test_both_readings_of_a_token_go_on_as_one_occurrence() -> None:
    matcher = matcher_for('root ::= x "!"\nx[lazy] ::= ("a" | Token(1)) ("b" "c" | "b")', "a", "b", "c", "!")
    assert matcher.accept_token(1)
    assert matcher.accept_token(2)
    assert allowed(matcher, 5) == {4}


def test_captures_beside_a_token_that_a_lazy_rule_reads_both_ways() -> None:
    """From a hostile test: what else read the token's text died within it, and took its captures along."""
    grammar = 'root ::= y | "ab" x\ny[lazy] ::= [ab]+ Token(2)\nx[capture] ::= "a"'
    matcher = matcher_for(grammar, "ab", "aa", "a", "b")
    assert matcher.accept_token(1)
    assert matcher.accept_token(2)
    assert matcher.get_captures() == [("x", b"a")]
