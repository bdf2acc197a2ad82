"""Capture groups."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarLimitError
from tests.grammar_core.matchers import matcher_for

NUMBERS = 'root ::= item ("," item)*\nitem[capture="number"] ::= [0-9]+\n'


def test_every_occurrence_in_completion_order() -> None:
    matcher = matcher_for(NUMBERS, "1")
    assert matcher.accept_string("1,22,333")
    assert matcher.get_captures() == [("number", b"1"), ("number", b"22"), ("number", b"333")]


def test_raw_completions() -> None:
    matcher = matcher_for(NUMBERS, "1")
    assert matcher.accept_string("1,22")
    assert matcher.get_captures(deduplicate=False) == [("number", b"1"), ("number", b"2"), ("number", b"22")]


def test_name_is_the_rules_by_default() -> None:
    matcher = matcher_for("root[capture] ::= [a-z]+", "a")
    assert matcher.accept_string("ab")
    assert matcher.get_captures() == [("root", b"ab")]


def test_tokens_record_and_masks_do_not() -> None:
    matcher = matcher_for(NUMBERS, "1", "22,3", ",")
    assert matcher.accept_token(1)
    assert matcher.find_jump_forward_string() == ""
    assert matcher.get_captures() == [("number", b"1")]
    assert matcher.accept_token(3)
    assert matcher.accept_token(2)
    assert matcher.get_captures() == [("number", b"1"), ("number", b"22"), ("number", b"3")]


def test_a_refused_token_leaves_nothing() -> None:
    matcher = matcher_for(NUMBERS, "1", "1,x")
    assert not matcher.accept_token(2)
    assert matcher.get_captures() == []
    assert matcher.accept_token(1)
    assert matcher.get_captures() == [("number", b"1")]


def test_rollback_fork_and_reset() -> None:
    matcher = matcher_for(NUMBERS, "1", ",")
    for token in (1, 2, 1):
        assert matcher.accept_token(token)
    fork = matcher.fork()
    matcher.rollback(2)
    assert matcher.get_captures() == [("number", b"1")]
    assert fork.accept_token(1)
    assert fork.get_captures() == [("number", b"1"), ("number", b"11")]
    matcher.reset()
    assert matcher.get_captures() == []


def test_left_recursion_and_inner_before_outer() -> None:
    matcher = matcher_for('root[capture="sum"] ::= root "+" t | t\nt[capture] ::= [0-9]\n', "1")
    assert matcher.accept_string("1+2")
    assert matcher.get_captures(deduplicate=False) == [
        ("t", b"1"),
        ("sum", b"1"),
        ("t", b"2"),
        ("sum", b"1+2"),
    ]
    assert matcher.get_captures() == [("t", b"1"), ("t", b"2"), ("sum", b"1+2")]


def test_right_recursion_keeps_every_occurrence() -> None:
    matcher = matcher_for('root[capture] ::= "a" root | "b"', "a")
    assert matcher.accept_string("aab")
    assert matcher.get_captures() == [("root", b"b"), ("root", b"ab"), ("root", b"aab")]


def test_inside_a_counted_repetition() -> None:
    matcher = matcher_for('root ::= x{2,100}\nx[capture] ::= "a" "b"*\n', "a")
    assert matcher.accept_string("abbaab")
    assert matcher.get_captures() == [("x", b"abb"), ("x", b"a"), ("x", b"ab")]


def test_characters_split_over_tokens() -> None:
    matcher = matcher_for('root ::= "<" x ">"\nx[capture] ::= [à-ÿ]+\n', "<", b"\xc3", b"\xa9", ">")
    for token in (1, 2, 3, 4):
        assert matcher.accept_token(token)
    assert matcher.get_captures() == [("x", "é".encode())]


def test_captured_tokens_of_a_set() -> None:
    matcher = matcher_for('root ::= x "b"\nx[capture] ::= "a" Token(3)\n', "a", "b", "tok")
    for token in (1, 3, 2):
        assert matcher.accept_token(token)
    assert matcher.get_captures() == [("x", b"atok")]


def test_lazy_capture() -> None:
    matcher = matcher_for("root ::= x [a-z]*\nx[capture, lazy] ::= [a-z] [a-z]+\n", "a")
    assert matcher.accept_string("abcd")
    assert matcher.get_captures() == [("x", b"ab")]


def test_inner_captures_come_first_whatever_completes_them() -> None:
    matcher = matcher_for('root[capture] ::= [^b] | x\nx[capture, max_chars=5] ::= "a" "b"?\n', "a")
    assert matcher.accept_string("a")
    assert matcher.get_captures() == [("x", b"a"), ("root", b"a")]


def test_captures_of_the_same_text_without_order_come_as_their_rules_do() -> None:
    matcher = matcher_for("root ::= a | b\na[capture] ::= [xy]\nb[capture, lazy] ::= [xz]+\n", "x")
    assert matcher.accept_string("x")
    assert matcher.get_captures() == [("a", b"x"), ("b", b"x")]


def test_too_many_raw_completions_are_an_error_and_no_flood() -> None:
    matcher = matcher_for("root[capture] ::= [a-z]*\n", "a")
    assert matcher.accept_string("a" * 30_000)
    with pytest.raises(GrammarLimitError, match="more than 256 MiB") as caught:
        matcher.get_captures(deduplicate=False)
    assert caught.value.limit == "captures"
    assert matcher.get_captures() == [("root", b"a" * 30_000)]
