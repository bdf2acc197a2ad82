"""Sampled sentences are sentences, bounded in length, and try every alternative."""

from __future__ import annotations

import json
import random
import time

import pytest

from grammar_core.compiler import GrammarCompiler
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import NO_OPTIONS
from grammar_core.matcher import GrammarMatcher
from grammar_core.tokenizer_info import TokenizerInfo
from tests.case_files import GrammarCase, valid_cases
from tests.grammar_core.random_grammars import random_grammar
from tests.option_oracle import OptionOracle
from tests.oracle import Oracle


@pytest.mark.parametrize("case", valid_cases())
def test_samples_of_every_case_are_sentences(case: GrammarCase) -> None:
    grammar = case.load()
    oracle = OptionOracle(grammar.rules, grammar.root)
    if oracle.is_empty or "Token(" in case.grammar or "TokenTag" in case.grammar:
        with pytest.raises(GrammarError):
            grammar.sample(20)
        return
    for sentence in grammar.sample(6, seed=1, max_length=30):
        point = oracle.accept_text(oracle.start, sentence.encode())
        assert point is not None, sentence
        assert point.is_complete, sentence


def test_samples_of_random_grammars_are_sentences() -> None:
    sampled = 0
    for seed in range(150):
        grammar = random_grammar(random.Random(seed), counted=False, macros=True)
        oracle = Oracle(grammar.rules, grammar.root)
        if oracle.is_empty:
            continue
        for sentence in grammar.sample(4, seed=seed, max_length=15):
            assert oracle.accepts(sentence.encode()), (seed, str(grammar), sentence)
            sampled += 1
    assert sampled > 400


def test_samples_keep_to_budgets_and_lazy_rules() -> None:
    sampled = 0
    for seed in range(200):
        grammar = random_grammar(random.Random(seed), alphabet="ab", counted=False, options=True)
        kinds = str(grammar)
        if "Token" in kinds or sum(rule.options.lazy for rule in grammar.rules) > 1:
            continue
        oracle = OptionOracle(grammar.rules, grammar.root)
        if oracle.is_empty or all(rule.options == NO_OPTIONS for rule in grammar.rules):
            continue
        for sentence in grammar.sample(4, seed=seed, max_length=12):
            point = oracle.accept_text(oracle.start, sentence.encode())
            assert point is not None, (seed, kinds, sentence)
            assert point.is_complete, (seed, kinds, sentence)
            sampled += 1
    assert sampled > 100


@pytest.mark.parametrize(
    "text",
    [
        "root ::= [a-z]*",
        'root ::= "(" root ")" | root root | ""',
        'root ::= root "a" | root root root | "b"',
        "root ::= [^]{0,100000}",
        'root ::= x | "a" root\nx ::= x | root | "b"',
        'root ::= TagDispatch(("a", root))',
        'root ::= ()* (()* | "a")*',
    ],
)
def test_length_is_bounded(text: str) -> None:
    for max_length in (3, 50):
        sentences = Grammar.from_ebnf(text).sample(30, max_length=max_length)
        assert max(map(len, sentences)) <= max_length


def test_what_cannot_be_shorter_is_as_short_as_it_can_be() -> None:
    assert Grammar.from_ebnf('root ::= "a"{30} "b"*').sample(3, max_length=5) == ["a" * 30] * 3


def test_every_alternative_is_tried() -> None:
    options = [f"<{number}>" for number in range(40)]
    grammar = Grammar.from_ebnf("root ::= x\nx ::= " + " | ".join(f'"{option}"' for option in options))
    assert len(set(grammar.sample(100))) == 40


def test_tags_are_tried() -> None:
    grammar = Grammar.from_ebnf('root ::= TagDispatch(("<tool>", x), ("<code>", x))\nx ::= "!"')
    text = " ".join(grammar.sample(100))
    assert "<tool>!" in text
    assert "<code>!" in text


def test_counts_are_tried() -> None:
    lengths = {len(sentence) for sentence in Grammar.from_ebnf('root ::= "a"{2,5}').sample(60)}
    assert lengths == {2, 3, 4, 5}


def test_the_seed_decides() -> None:
    grammar = Grammar.from_ebnf("root ::= [a-z]{5,9}")
    assert grammar.sample(5, seed=1) == grammar.sample(5, seed=1)
    assert grammar.sample(5, seed=1) != grammar.sample(5, seed=2)
    assert grammar.sample(0) == []


def test_deep_grammars() -> None:
    links = "".join(f'r{i} ::= "a" r{i + 1}\n' for i in range(20_000))
    grammar = Grammar.from_ebnf(f'root ::= r0\n{links}r20000 ::= "b"')
    assert grammar.sample(1) == ["a" * 20_000 + "b"]


def test_refusals() -> None:
    with pytest.raises(GrammarError, match="cannot match any finite text"):
        Grammar.from_ebnf('root ::= "a" root').sample(1)
    with pytest.raises(GrammarLimitError, match="longer than 1,000,000"):
        Grammar.from_ebnf('root ::= "a"{1000000000000}').sample(1)
    with pytest.raises(ValueError, match="must not be negative"):
        Grammar.from_ebnf('root ::= "a"').sample(-1)


def test_doubling_rules_are_refused_in_time() -> None:
    begin = time.process_time()
    links = "".join(f"r{i} ::= r{i + 1} r{i + 1}\n" for i in range(200))
    with pytest.raises(GrammarLimitError):
        Grammar.from_ebnf(f'root ::= r0\n{links}r200 ::= "b"').sample(1)
    assert time.process_time() - begin < 1.0


def test_tokens_need_a_vocabulary() -> None:
    grammar = Grammar.from_ebnf("root ::= Token(1) ExcludeToken(0, 1) Token(4)")
    info = TokenizerInfo([b"a", b"bc", b"\xe4", b"d", b"", b"</s>"], stop_token_ids=[5])
    with pytest.raises(GrammarError, match="only its tokenizer knows"):
        grammar.sample(1)
    assert grammar.sample(3, tokenizer_info=info) == ["bcd"] * 3
    with pytest.raises(GrammarError, match="Token id 9 is outside"):
        Grammar.from_ebnf("root ::= Token(9)").sample(1, tokenizer_info=info)
    with pytest.raises(GrammarError, match="whole characters"):
        Grammar.from_ebnf("root ::= Token(2)").sample(1, tokenizer_info=info)


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_budgets_end_rules_before_their_markers(limit: int) -> None:
    ids = "capture_hidden_body_rule_id=2, capture_hidden_marker_rule_id=3"
    grammar = Grammar.from_ebnf(
        f'root ::= (x ".")+\nx[lazy, max_chars={limit}, {ids}] ::= body marker\n'
        'body ::= [a-c]*\nmarker ::= "--" | "-!"\n'
    )
    compiler = GrammarCompiler(TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1]))
    compiled = compiler.compile_grammar(grammar)
    sentences = grammar.sample(50, max_length=30)
    for sentence in sentences:
        matcher = GrammarMatcher(compiled)
        assert matcher.accept_string(sentence), sentence
        assert matcher.is_completed()
        assert all(len(x) <= limit or x.endswith(("--", "-!")) for x in sentence.split(".")), sentence
    assert any("-" in sentence for sentence in sentences) == (limit > 0)


def test_keys_do_not_come_twice() -> None:
    """Found when strings of a list were drawn that are to be unique."""
    tags = {
        "type": "array",
        "items": {"type": "string", "pattern": "^a+$"},
        "uniqueItems": True,
        "minItems": 3,
    }
    sentences = Grammar.from_json_schema(tags).sample(10)
    values = [json.loads(sentence) for sentence in sentences]
    assert [value for value in values if len(set(value)) < len(value)] == []


def test_keys_that_cannot_but_come_twice_are_an_error() -> None:
    grammar = Grammar.from_ebnf('root ::= Members((m, "repeatable distinct"), min=2)\nm ::= "\\"a\\""')
    with pytest.raises(GrammarLimitError, match="200 sentences"):
        grammar.sample()
