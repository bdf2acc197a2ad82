"""Masks of counted repetitions, cut from one walk for every count."""

from __future__ import annotations

from tests.grammar_core.matchers import allowed, matcher_for


def test_a_token_that_leaves_needs_all_iterations() -> None:
    """A token that leaves after two iterations was allowed with three needed: no token stays inside for that
    long, so both counts looked out of reach. Found by random grammars against the oracle."""
    grammar = 'root ::= ("aa" | "€"){3,70} [\\u0000-\\u007F]'
    matcher = matcher_for(grammar, b"\xe2\x82", b"\xacaa\x00", b"\xac", "aa")
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {3}
    assert matcher.accept_token(3)
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {2, 3}
