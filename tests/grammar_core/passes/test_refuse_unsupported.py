"""What cannot be enforced is refused by the names of the rule and the feature."""

from __future__ import annotations

import pytest

import grammar_core
from grammar_core.errors import UnsupportedFeatureError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import RuleOptions
from grammar_core.passes import refuse_unsupported as table
from grammar_core.passes.refuse_unsupported import refuse_unsupported

_EXAMPLES = {
    "max_tokens": "[max_tokens=1]",
    "max_chars": "[max_chars=0]",
    "capture": "[capture]",
    "lazy": "[lazy]",
    "temperature": "[temperature=0]",
    "capture_hidden_suffix_bytes": "[capture_hidden_suffix_bytes=0]",
    "capture_hidden_stop_bytes": "[capture_hidden_stop_bytes=0]",
    "capture_hidden_body_rule_id": "[capture_hidden_body_rule_id=0, capture_hidden_marker_rule_id=0]",
    "capture_hidden_marker_rule_id": "[capture_hidden_marker_rule_id=0, capture_hidden_body_rule_id=0]",
    "stop_capture": '[stop_capture="a"]',
}


def test_every_option_has_an_example() -> None:
    assert _EXAMPLES.keys() == set(RuleOptions._fields)
    assert set(RuleOptions._fields) >= table.UNSUPPORTED_OPTIONS


@pytest.mark.parametrize("option", _EXAMPLES)
def test_options(option: str) -> None:
    rules = Grammar.from_ebnf(f'root ::= x\nx{_EXAMPLES[option]} ::= "a"').rules
    named = {name for name in table.UNSUPPORTED_OPTIONS if name in _EXAMPLES[option]}
    if not named:
        refuse_unsupported(rules)
        return
    with pytest.raises(UnsupportedFeatureError, match='Rule "x" has the option') as caught:
        refuse_unsupported(rules)
    assert any(name in str(caught.value) for name in named)


def test_lookahead() -> None:
    rules = Grammar.from_ebnf('root ::= x "b"\nx ::= "a" (= "b")').rules
    if table.SUPPORTS_LOOKAHEAD:
        refuse_unsupported(rules)
        return
    with pytest.raises(UnsupportedFeatureError, match='Rule "x" has a lookahead'):
        refuse_unsupported(rules)


def test_the_compiler_refuses() -> None:
    compiler = grammar_core.GrammarCompiler(grammar_core.TokenizerInfo([b"a"]))
    for text in sorted(table.UNSUPPORTED_OPTIONS):
        with pytest.raises(UnsupportedFeatureError, match="is not supported"):
            compiler.compile_grammar(f'root{_EXAMPLES[text]} ::= "a"')


def test_the_rest_is_let_through() -> None:
    refuse_unsupported(
        Grammar.from_ebnf('root ::= TagDispatch(("a", x)) Regex("b") Token(1)\nx ::= "d"').rules
    )
