"""Ignored text is accepted exactly between lexemes and after the last, in random grammars."""

from __future__ import annotations

import random

import numpy as np
import pytest

from grammar_core import CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from tests.case_files import GrammarCase, valid_cases
from tests.grammar_core.random_lark import LarkCase, random_lark

_BYTES: list[bytes | str] = [*(bytes([byte]) for byte in range(256)), b"</s>"]
_CASES_PER_TEST = 20


def accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return (text == "" or matcher.accept_string(text)) and matcher.is_completed()


@pytest.mark.parametrize("first", range(0, 120, _CASES_PER_TEST))
def test_inserted_at_every_place(first: int) -> None:
    compiler = GrammarCompiler(TokenizerInfo(_BYTES))
    for seed in range(first, first + _CASES_PER_TEST):
        case = random_lark(seed)
        compiled = compiler.compile_lark(case.text)
        for lexemes in case.sentences:
            check_sentence(compiled, case, lexemes)


def check_sentence(compiled: CompiledGrammar, case: LarkCase, lexemes: list[str]) -> None:
    rng = random.Random(len(case.text))
    text = "".join(lexemes)
    assert accepts(compiled, text), (case.text, text)
    boundaries = {len("".join(lexemes[:count])) for count in range(1, len(lexemes) + 1)}
    if case.initial_skip:
        boundaries.add(0)
    for place in range(len(text) + 1):
        ignored = rng.choice([" ", "   ", ";-", " ;- ;-"])
        changed = text[:place] + ignored + text[place:]
        assert accepts(compiled, changed) == (place in boundaries), (case.text, changed)
        # Half of what is ignored is not ignored.
        assert not accepts(compiled, text[:place] + ";" + text[place:])
    everywhere = "  ".join(lexemes) + ";-" * bool(lexemes)
    assert accepts(compiled, everywhere), (case.text, everywhere)


def test_no_rule_is_left_unused() -> None:
    grammar = Grammar.from_lark(
        '%ignore WS\nWS: / /\nstart: A? B "x" (C | d)\nA: /a*/\nB: A "b"\nC: "c" | D\nD: E?\nE: "e"\nd: "d"'
    )
    assert [(warning.rule, warning.kind) for warning in grammar.warnings()] == []


@pytest.mark.parametrize("first", range(0, 60, _CASES_PER_TEST))
def test_printed_grammars_have_the_same_masks(first: int) -> None:
    for seed in range(first, first + _CASES_PER_TEST):
        case = random_lark(seed)
        texts = [" ".join(lexemes) for lexemes in case.sentences]
        compare_masks(Grammar.from_lark(case.text), [text.encode() for text in texts], seed)


@pytest.mark.parametrize("case", [case for case in valid_cases() if case.values[0].dialect == "Lark"])
def test_printed_case_files_have_the_same_masks(case: GrammarCase) -> None:
    compare_masks(case.load(), [*case.accept, *case.reject], 0)


def compare_masks(grammar: Grammar, texts: list[bytes], seed: int) -> None:
    """Walk random ways through the grammar and its printed form, with tokens of several bytes."""
    rng = random.Random(seed)
    pieces = {
        text[begin : begin + size] for text in texts for begin in range(len(text)) for size in (2, 3, 7)
    }
    info = TokenizerInfo([*_BYTES, *sorted(pieces - {b""})])
    compiler = GrammarCompiler(info)
    compiled = [compiler.compile_grammar(grammar), compiler.compile_grammar(str(grammar))]
    for _ in range(3):
        matchers = [GrammarMatcher(one) for one in compiled]
        for _ in range(30):
            row, other = (mask(matcher, info.vocab_size) for matcher in matchers)
            assert np.array_equal(row, other)
            choices = [token_id for token_id in np.flatnonzero(row) if token_id != 256]
            if not choices:
                break
            # Long tokens come first sometimes, since most of the bytes are of no interest.
            token_id = int(rng.choice(choices) if rng.random() < 0.5 else choices[-1])
            assert [matcher.accept_token(token_id) for matcher in matchers] == [True, True]
            assert matchers[0].get_captures() == matchers[1].get_captures()
            assert matchers[0].temperature == matchers[1].temperature


def mask(matcher: GrammarMatcher, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    bitmask = np.zeros((1, -(-size // 32)), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:size]
