"""Sampling temperatures of rules."""

from __future__ import annotations

import logging

import pytest

from tests.grammar_core.matchers import matcher_for


def test_active_from_where_the_rule_may_begin() -> None:
    matcher = matcher_for('root ::= "answer:" value ";"\nvalue[temperature=0.7] ::= [a-z]{2}\n', "a")
    assert matcher.temperature is None
    assert matcher.accept_string("answer:")
    assert matcher.temperature == 0.7
    assert matcher.accept_string("a")
    assert matcher.temperature == 0.7
    assert matcher.accept_string("b")
    assert matcher.temperature is None


def test_default_temperature() -> None:
    matcher = matcher_for('root ::= "a" x\nx[temperature=0] ::= "b"\n', "a", default_temperature=0.9)
    assert matcher.default_temperature == 0.9
    assert matcher.temperature == 0.9
    assert matcher.accept_string("a")
    assert matcher.temperature == 0


def test_inner_temperature_hides_the_outer_one() -> None:
    grammar = 'root[temperature=1] ::= "(" x ")"\nx ::= y "!"\ny[temperature=0.25] ::= "ab"\n'
    matcher = matcher_for(grammar, "a")
    assert matcher.temperature == 1
    assert matcher.accept_string("(")
    assert matcher.temperature == 0.25
    assert matcher.accept_string("ab")
    assert matcher.temperature == 1


def test_inherited_through_calls_and_recursion() -> None:
    grammar = 'root ::= "<" x ">"\nx[temperature=0.5] ::= e\ne ::= e "+" t | t\nt ::= "(" e ")" | "ab"\n'
    matcher = matcher_for(grammar, "a")
    assert matcher.accept_string("<((ab+a")
    assert matcher.temperature == 0.5


def test_the_highest_counts_and_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    grammar = 'root ::= x | z\nx[temperature=0.5] ::= y "1"\nz[temperature=1.5] ::= y "2"\ny ::= "a"+\n'
    matcher = matcher_for(grammar, "a")
    assert matcher.accept_string("a")
    with caplog.at_level(logging.WARNING, logger="grammar_core"):
        assert matcher.temperature == 1.5
        assert matcher.fork().temperature == 1.5
        assert matcher.temperature == 1.5
    assert len(caplog.records) == 1
    assert matcher.accept_string("1")
    assert matcher.temperature is None


def test_rollback_and_fork() -> None:
    matcher = matcher_for('root ::= "a" x "c"\nx[temperature=2.5] ::= "b"\n', "a", "b", "c")
    assert matcher.accept_token(1)
    fork = matcher.fork()
    assert fork.accept_token(2)
    assert (matcher.temperature, fork.temperature) == (2.5, None)
    fork.rollback()
    assert fork.temperature == 2.5


def test_in_counted_and_lazy_rules() -> None:
    grammar = 'root ::= x{2,90} y\nx[temperature=0.5] ::= "ab"\ny[temperature=1, lazy] ::= "z" "z"+\n'
    matcher = matcher_for(grammar, "a")
    assert matcher.accept_string("a")
    assert matcher.temperature == 0.5
    assert matcher.accept_string("babz")
    assert matcher.temperature == 1
