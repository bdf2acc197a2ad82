"""Examples of the EBNF dialect's sections that say more than which texts match."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import grammar_core
from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from tests.grammar_core.matchers import allowed, compiler_for, matcher_for

# Usage


def test_usage_compiles_grammars_and_text_which_is_the_cache_key() -> None:
    compiler = compiler_for("a", "b")
    compiled = compiler.compile_grammar('root ::= "a" | "b"')
    assert compiler.compile_grammar('root ::= "a" | "b"') is compiled
    assert compiler.compile_grammar('root ::= "a"|"b"') is not compiled
    assert GrammarMatcher(compiler.compile_grammar(Grammar.from_ebnf('root ::= "a" | "b"'))).accept_string(
        "b"
    )


def test_usage_errors_are_runtime_errors_with_a_position() -> None:
    with pytest.raises(RuntimeError, match=r'line 1, column 10: Rule "a" is not defined'):
        Grammar.from_ebnf("root ::= a")


def test_usage_of_another_root() -> None:
    assert Grammar.from_ebnf('main ::= "a"', root_rule_name="main").root == "main"
    with pytest.raises(RuntimeError, match="root"):
        Grammar.from_ebnf('main ::= "a"')


# Token Budgets

REASONING = 'root ::= "<think>" reasoning "</think>" answer\nreasoning[{}] ::= [^]*\nanswer ::= [0-9]+\n'


def test_token_budgets_example_of_512_tokens() -> None:
    matcher = matcher_for(REASONING.format("max_tokens=512"), "<think>", "x", "</think>", "1", "</", "think>")
    assert matcher.accept_token(1)
    for _ in range(511):
        assert matcher.accept_token(2)
    assert allowed(matcher, 7) == {1, 2, 3, 4, 5, 6}
    assert matcher.accept_token(2)
    assert allowed(matcher, 7) == {3, 5}
    assert matcher.accept_token(5)
    assert allowed(matcher, 7) == {6}
    assert matcher.accept_token(6)
    assert allowed(matcher, 7) == {4}


# Character Budgets


def test_character_budgets_example_of_2048_characters() -> None:
    grammar = REASONING.format("max_chars=2048")
    for text in ("a", "é", "中", "😀"):
        matcher = matcher_for(grammar)
        assert matcher.accept_string("<think>" + 2048 * text)
        assert not matcher.accept_string(text)
        assert matcher.accept_string("</think>42")
        assert matcher.is_completed()


def test_character_budgets_count_a_decomposed_character_as_two() -> None:
    matcher = matcher_for('root ::= x "."\nx[max_chars=2] ::= [^.]*\n')
    assert matcher.accept_string("e\u0301")
    assert not matcher.accept_string("e")
    assert matcher.accept_string(".")


def test_character_budgets_count_split_characters_once() -> None:
    matcher = matcher_for('root ::= x "."\nx[max_chars=1] ::= [^.]*\n', b"\xe4", b"\xb8", b"\xad", ".", "a")
    for token in (1, 2, 3):
        assert matcher.accept_token(token)
    assert allowed(matcher, 6) == {4}


def test_budgets_that_cannot_end_are_warned_of_once_a_matcher(caplog: pytest.LogCaptureFixture) -> None:
    matcher = matcher_for('root ::= x*\nx[max_chars=1] ::= "abc"\n')
    with caplog.at_level(logging.WARNING):
        assert matcher.accept_string("abc")
        assert matcher.accept_string("abcab")
    assert len(caplog.records) == 1


# Sampling Temperature


def test_sampling_temperature_example() -> None:
    grammar = 'root ::= "answer:" value\nvalue[temperature=0.7] ::= [a-z]+\n'
    compiler = compiler_for("answer:", "a")
    matchers = [GrammarMatcher(compiler.compile_grammar(grammar), default_temperature=d) for d in (None, 0.2)]
    assert [matcher.temperature for matcher in matchers] == [None, 0.2]
    temperatures = np.zeros(2, dtype=np.float32)
    grammar_core.BatchGrammarMatcher().batch_fill_temperature(matchers, temperatures)
    assert temperatures.tolist() == pytest.approx([-1, 0.2])
    for matcher in matchers:
        assert matcher.accept_token(1)
        assert matcher.temperature == 0.7
    grammar_core.BatchGrammarMatcher().batch_fill_temperature(matchers, temperatures)
    assert temperatures.tolist() == pytest.approx([0.7, 0.7])


# Regex


def test_regex_example_of_a_json_string_body() -> None:
    grammar = 'root ::= "\\"" string_body "\\""\nstring_body ::= Regex("\\\\S+", json_string=true)\n'
    assert matcher_for(grammar).accept_string('"ab中"')
    for text in ('"a\x01"', '"\\n"', '"a b"', '""'):
        assert not matcher_for(grammar).accept_string(text)


# Token, ExcludeToken, TokenTagDispatch


@pytest.fixture(scope="module")
def compiler() -> GrammarCompiler:
    """Of letters, braces, the stop token 4, padding, and four more tokens of high ids."""
    tokens = [b"a", b"b", b"{", b"}", b"</s>", *(b"" for _ in range(128_018))]
    for token_id in (128_010, 128_011, 128_020, 128_022):
        tokens[token_id] = b"<%d>" % token_id
    return GrammarCompiler(TokenizerInfo(tokens, stop_token_ids=[4]))


def test_token_example(compiler: GrammarCompiler) -> None:
    matcher = GrammarMatcher(compiler.compile_grammar("root ::= Token(128010) content\ncontent ::= [a-z]+"))
    assert allowed(matcher, 128_023) == {128_010}
    assert matcher.accept_token(128_010)
    assert allowed(matcher, 128_023) == {0, 1}


def test_exclude_token_example(compiler: GrammarCompiler) -> None:
    matcher = GrammarMatcher(compiler.compile_grammar("root ::= ExcludeToken(128010, 128011)"))
    assert allowed(matcher, 128_023) == {0, 1, 2, 3, 128_020, 128_022}
    twice = GrammarMatcher(compiler.compile_grammar("root ::= ExcludeToken(128010, 128011, 128010)"))
    assert allowed(twice, 128_023) == allowed(matcher, 128_023)


def test_token_tag_dispatch_example(compiler: GrammarCompiler) -> None:
    grammar = (
        "root ::= TokenTagDispatch(\n    (128010, tool_call_body),\n    loop_after_dispatch=true,\n"
        '    excludes=(128020,)\n)\ntool_call_body ::= "{" [^}]* "}"\n'
    )
    matcher = GrammarMatcher(compiler.compile_grammar(grammar))
    free = {0, 1, 2, 3, 4, 128_010, 128_011, 128_022}
    assert allowed(matcher, 128_023) == free
    assert matcher.accept_token(128_010)
    assert allowed(matcher, 128_023) == {2}
    for token in (2, 1, 3):
        assert matcher.accept_token(token)
    assert allowed(matcher, 128_023) == free


# Relation to Other Grammar Formats


def test_union_and_concat_take_grammars_of_every_notation() -> None:
    regex, ebnf = Grammar.from_regex("[0-9]+"), Grammar.from_ebnf('root ::= "a"*')
    both = Grammar.concat(regex, Grammar.union(ebnf, regex))
    assert matcher_for(str(both)).accept_string("12aa")
    assert str(Grammar.from_ebnf(str(both))) == str(both)
