"""Explanations of texts in which a key comes twice."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar
from grammar_core.diagnostics import Explanation, explain_text

_UNIQUE = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def _explain(schema: Any, text: str) -> Explanation:
    return explain_text(Grammar.from_json_schema(schema, strict_mode=False), text)


@pytest.mark.parametrize(
    ("schema", "text", "column"),
    [
        ({"type": "object"}, '{"a":1,"a":2}', 10),
        (_UNIQUE, '["x","y","x"]', 12),
        (_UNIQUE, '["é","y","é"]', 12),
    ],
)
def test_the_quote_that_ends_the_second_is_refused(schema: Any, text: str, column: int) -> None:
    explanation = _explain(schema, text)
    assert explanation.outcome == "refused"
    assert explanation.refused == '"\\""'
    assert explanation.position.column == column
    assert explanation.completion is None
    assert any("has come before" in note for note in explanation.notes)


def test_a_text_of_different_keys_is_complete() -> None:
    explanation = _explain({"type": "object"}, '{"a":1,"b":{"a":2}}')
    assert explanation.outcome == "complete"
    assert not explanation.notes


def test_a_completion_repeats_nothing() -> None:
    assert _explain(_UNIQUE, '["x","x').completion is None
    assert _explain(_UNIQUE, '["x","y').completion == '"]'


def test_grammars_that_name_tokens_are_explained_without() -> None:
    grammar = Grammar.from_ebnf(
        'root ::= "{" Members((m, "repeatable distinct"), separator=c) "}" Token(99999)?\n'
        'm ::= "\\"" [a-z]* "\\":1"\nc ::= ","'
    )
    explanation = explain_text(grammar, '{"a":1,"a":1}')
    assert explanation.outcome == "complete"
    assert any("Whether keys come twice" in note for note in explanation.notes)
