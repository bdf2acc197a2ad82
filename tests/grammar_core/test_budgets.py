"""Token budgets and character budgets."""

from __future__ import annotations

import logging

import pytest

import grammar_core
from tests.grammar_core.matchers import allowed, matcher_for

THINKING = ("<t>", "</t>", "a", "aaa", "a</t>", "1", "</t>1")
TOKENS = 'root ::= "<t>" r "</t>" [0-9]+\nr[max_tokens=3] ::= [^<]*\n'
CHARACTERS = 'root ::= "<t>" r "</t>" [0-9]+\nr[max_chars=3] ::= [^<]*\n'


def accept(matcher: grammar_core.GrammarMatcher, *tokens: int) -> None:
    for token in tokens:
        assert matcher.accept_token(token)


def test_token_budget_forces_the_end() -> None:
    matcher = matcher_for(TOKENS, *THINKING)
    accept(matcher, 1, 3, 4)
    assert allowed(matcher, 8) == {2, 3, 4, 5, 6, 7}
    accept(matcher, 4)
    assert allowed(matcher, 8) == {2, 7}
    assert not matcher.accept_token(3)


def test_a_token_that_enters_in_its_middle_counts() -> None:
    matcher = matcher_for('root ::= "<t>" r "."\nr[max_tokens=2] ::= [a-z]*\n', "<t>a", "a", ".")
    accept(matcher, 1, 2)
    assert allowed(matcher, 4) == {3}


def test_token_budget_is_relaxed_until_the_first_end() -> None:
    matcher = matcher_for(
        'root ::= r "."\nr[max_tokens=1] ::= "aaaa" "b"*\n', "a", "aa", "b", "aab", ".", "aa."
    )
    accept(matcher, 2)
    assert allowed(matcher, 7) == {1, 2, 6}, "aab would run past the first possible end"
    accept(matcher, 1)
    assert allowed(matcher, 7) == {1}
    accept(matcher, 1)
    assert allowed(matcher, 7) == {5}


def test_text_consumes_no_tokens() -> None:
    matcher = matcher_for('root ::= r "."\nr[max_tokens=1] ::= [a-z]*\n', "a", ".")
    assert matcher.accept_string("abcdef")
    assert allowed(matcher, 3) == {1, 2}
    accept(matcher, 1)
    assert allowed(matcher, 3) == {2}


def test_every_occurrence_has_a_budget_of_its_own() -> None:
    matcher = matcher_for('root ::= (r ";")+\nr[max_tokens=2] ::= [a-z]+\n', "a", ";")
    for _ in range(3):
        accept(matcher, 1, 1)
        assert allowed(matcher, 3) == {2}
        accept(matcher, 2)


def test_occurrences_that_begin_within_one_token_end_each_by_itself() -> None:
    """Found by random grammars against the oracle (seed 3006754): the end of one took the other away."""
    matcher = matcher_for("root ::= [a-z]? r\nr[max_tokens=1] ::= [a-z] [a-z] [0-9]*\n", "ab", "c", "1")
    accept(matcher, 1)
    assert allowed(matcher, 4) == {0, 2}
    accept(matcher, 2)
    assert allowed(matcher, 4) == {0}


def test_nested_budgets_use_the_smallest() -> None:
    grammar = 'root ::= o "."\no[max_tokens=3] ::= i ","? [a-z]*\ni[max_tokens=2] ::= [a-z]*\n'
    matcher = matcher_for(grammar, "a", ",", ".")
    accept(matcher, 1, 1)
    assert allowed(matcher, 4) == {1, 2, 3}
    accept(matcher, 2)
    assert allowed(matcher, 4) == {3}


def test_character_budget_cuts_tokens() -> None:
    matcher = matcher_for(CHARACTERS, *THINKING)
    accept(matcher, 1, 3)
    assert allowed(matcher, 8) == {2, 3, 5, 6, 7}
    accept(matcher, 3)
    assert allowed(matcher, 8) == {2, 3, 5, 6, 7}
    accept(matcher, 3)
    assert allowed(matcher, 8) == {2, 7}


def test_character_budget_holds_for_text() -> None:
    matcher = matcher_for(CHARACTERS, *THINKING)
    assert not matcher.accept_string("<t>aaaa")
    assert matcher.accept_string("<t>aaa</t>1")


def test_characters_are_code_points() -> None:
    matcher = matcher_for('root ::= r "."\nr[max_chars=2] ::= [^.]*\n', "é", b"\xc3", b"\xa9", ".", "e\u0301")
    accept(matcher, 2)
    assert allowed(matcher, 6) == {3}
    accept(matcher, 3)
    assert allowed(matcher, 6) == {1, 2, 4}
    accept(matcher, 1)
    assert allowed(matcher, 6) == {4}


def test_a_zero_budget_closes_at_once() -> None:
    matcher = matcher_for('root ::= r "."\nr[max_chars=0] ::= [a-z]*\n', "a", ".")
    assert allowed(matcher, 3) == {2}
    matcher = matcher_for('root ::= r "."\nr[max_chars=0] ::= [a-z]+\n', "a", ".")
    accept(matcher, 1)
    assert allowed(matcher, 3) == {2}


def test_left_recursive_rules_have_budgets() -> None:
    matcher = matcher_for('root ::= r "."\nr[max_tokens=2] ::= r "a" | "a"\n', "a", ".", "aa")
    accept(matcher, 1, 1)
    assert allowed(matcher, 4) == {2}


def test_mutual_left_recursion_of_budgets_is_refused() -> None:
    grammar = 'root ::= a\na[max_chars=5] ::= b "x" | "q"\nb[max_tokens=5] ::= a "y" | "z"\n'
    with pytest.raises(grammar_core.GrammarError, match='"a" and "b" have budgets'):
        matcher_for(grammar, "a")


def test_rollback_and_fork() -> None:
    matcher = matcher_for(TOKENS, *THINKING)
    accept(matcher, 1, 3, 3)
    fork = matcher.fork()
    accept(matcher, 3)
    matcher.rollback(2)
    assert allowed(matcher, 8) == {2, 3, 4, 5, 6, 7}
    accept(matcher, 3, 3)
    assert allowed(matcher, 8) == {2, 7}
    accept(fork, 3)
    assert allowed(fork, 8) == {2, 7}


def test_relaxation_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    matcher = matcher_for('root ::= r "."\nr[max_tokens=1] ::= "aaaa"\n', "a")
    with caplog.at_level(logging.WARNING, logger="grammar_core"):
        accept(matcher, 1)
        assert caplog.records == []
        accept(matcher, 1)
        fork = matcher.fork()
        accept(matcher, 1, 1)
        accept(fork, 1)
    assert len(caplog.records) == 1


def test_mask_and_accept_agree_near_deadlines() -> None:
    grammar = 'root ::= "<" r ">" [a-z]{0,3}\nr[max_chars=6, max_tokens=3] ::= ("ab" | "é" | "c")+\n'
    matcher = matcher_for(
        grammar, "<", ">", "a", "b", "ab", "abc", "é", b"\xc3", b"\xa9", "c>", "cc>a", "<ab", "abab"
    )
    for token in (12, 13, 7, 2, 3):
        bits = allowed(matcher, 14)
        tried = {i for i in range(14) if matcher.fork().accept_token(i)}
        assert bits == tried
        if token in bits:
            accept(matcher, token)
