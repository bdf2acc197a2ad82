"""`GrammarMatcher.explain`, most of all what it says where the text does not tell the tokens."""

from __future__ import annotations

from grammar_core import Grammar, GrammarMatcher
from tests.grammar_core.matchers import compiler_for, matcher_for


def test_what_is_active_and_may_come() -> None:
    matcher = matcher_for('root ::= "[" number "]"\nnumber ::= [0-9]+', "[1", "2")
    assert matcher.accept_token(1)
    explanation = matcher.explain()
    assert explanation.outcome == "incomplete"
    assert [rule.item for rule in explanation.active] == ['root ::= "[" • number "]"', "number ::= • [0-9]+"]
    assert explanation.completion == "]"


def test_refused_text() -> None:
    matcher = matcher_for('root ::= "[" [0-9]+ "]"', "[1")
    assert matcher.accept_token(1)
    assert not matcher.accept_string("23x")
    explanation = matcher.explain("23x")
    assert (explanation.outcome, explanation.refused, explanation.position.byte_offset) == (
        "refused",
        '"x"',
        4,
    )
    assert matcher.explain(b"2").outcome == "incomplete"


def test_after_a_stop_token() -> None:
    matcher = matcher_for('root ::= "a"+', "a")
    assert matcher.accept_token(1)
    assert matcher.accept_token(0)
    assert matcher.explain().outcome == "complete"


def test_after_rollback() -> None:
    matcher = matcher_for('root ::= "a" "b"', "a", "b")
    assert matcher.accept_token(1)
    assert matcher.accept_token(2)
    matcher.rollback()
    assert matcher.explain().completion == "b"


def test_text_matched_as_a_token() -> None:
    matcher = matcher_for('root ::= "<" Token(2) ">"', "<", "b", ">")
    for token_id in (1, 2):
        assert matcher.accept_token(token_id)
    explanation = matcher.explain()
    assert explanation.outcome == "unknown"
    assert explanation.position.byte_offset == 1
    assert "token 2" in str(explanation)
    assert "left out" in explanation.notes[-1]


def test_text_and_token_at_once() -> None:
    matcher = matcher_for('root ::= Token(1) "x" | "a" "b"', "a", "b", "x")
    assert matcher.accept_token(1)
    explanation = matcher.explain()
    assert explanation.outcome == "incomplete"
    assert explanation.completion == "b"
    assert "left out" in explanation.notes[-1]


def test_token_without_text() -> None:
    matcher = matcher_for('root ::= "a" Token(2) "x"', "a", "", "x")
    for token_id in (1, 2):
        assert matcher.accept_token(token_id)
    explanation = matcher.explain("q")
    assert explanation.outcome == "unknown"
    assert explanation.position.byte_offset == 1


def test_no_note_where_no_token_can_have_been() -> None:
    matcher = matcher_for('root ::= "a" "b" Token(2)', "a", "b")
    assert matcher.accept_string("ab")
    assert not any("left out" in note for note in matcher.explain().notes)


def test_stop_token_that_a_rule_names() -> None:
    matcher = matcher_for('root ::= "a" Token(0)', "a")
    assert matcher.accept_token(1)
    assert matcher.accept_token(0)
    assert matcher.explain().outcome == "unknown"


def test_within_a_key_that_is_none_of_the_named_ones() -> None:
    """Such keys had no form to be printed in: KeyError. Found by random schemas."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    compiled = compiler_for("a").compile_grammar(Grammar.from_json_schema(schema, strict_mode=False))
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string('{"b')
    explanation = matcher.explain()
    assert explanation.completion == '":0}'
    assert any('OtherTexts("a" •)' in rule.item for rule in explanation.active)
