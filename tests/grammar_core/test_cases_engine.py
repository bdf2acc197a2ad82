"""Every case file on the engine: whole texts, single bytes, and tokens of several characters."""

from __future__ import annotations

import numpy as np
import pytest

import grammar_core
from tests.case_files import GrammarCase, error_cases, text_cases, valid_cases

_STOP = 256


@pytest.mark.parametrize("case", valid_cases())
def test_text_in_one_piece(case: GrammarCase) -> None:
    compiled = compile_case(case, [])
    assert [text for text in case.accept if not accepts_text(compiled, text)] == []
    assert [text for text in case.reject if accepts_text(compiled, text)] == []


@pytest.mark.parametrize("case", text_cases())
def test_text_byte_by_byte(case: GrammarCase) -> None:
    compiled = compile_case(case, [])
    assert [text for text in case.accept if not accepts_tokens(compiled, list(text))] == []
    assert [text for text in case.reject if accepts_tokens(compiled, list(text))] == []


@pytest.mark.parametrize("case", text_cases())
def test_text_in_tokens_that_span_rules(case: GrammarCase) -> None:
    texts = [text for text in (*case.accept, *case.reject) if text]
    pieces = [text[i : i + 3] for text in texts for i in range(0, len(text), 3)]
    compiled = compile_case(case, [*pieces, *texts])
    ids = {piece: 257 + number for number, piece in enumerate([*pieces, *texts])}
    for text in texts:
        split = [ids[text[i : i + 3]] for i in range(0, len(text), 3)]
        assert accepts_tokens(compiled, split) == (text in case.accept), text
        assert accepts_tokens(compiled, [ids[text]]) == (text in case.accept), text


@pytest.mark.parametrize("case", error_cases())
def test_compiler_reports_the_same_error(case: GrammarCase) -> None:
    assert case.error is not None
    compiler = grammar_core.GrammarCompiler(vocabulary([]))
    with pytest.raises(grammar_core.GrammarError) as caught:
        compile_with(compiler, case)
    assert (caught.value.line, caught.value.column) == (case.error.line, case.error.column)


def vocabulary(more: list[bytes]) -> grammar_core.TokenizerInfo:
    """All single bytes, the stop token and then `more`."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"</s>", *more]
    return grammar_core.TokenizerInfo(tokens, stop_token_ids=[_STOP])


def compile_case(case: GrammarCase, more: list[bytes]) -> grammar_core.CompiledGrammar:
    return compile_with(grammar_core.GrammarCompiler(vocabulary(more)), case)


def compile_with(compiler: grammar_core.GrammarCompiler, case: GrammarCase) -> grammar_core.CompiledGrammar:
    if case.dialect == "Lark":
        return compiler.compile_lark(case.grammar)
    return compiler.compile_grammar(case.grammar, root_rule_name=case.root)


def accepts_text(compiled: grammar_core.CompiledGrammar, text: bytes) -> bool:
    matcher = grammar_core.GrammarMatcher(compiled)
    return (text == b"" or matcher.accept_string(text)) and matcher.is_completed()


def accepts_tokens(compiled: grammar_core.CompiledGrammar, token_ids: list[int]) -> bool:
    """Whether the tokens and then the stop token are accepted; the mask must agree at every step."""
    matcher = grammar_core.GrammarMatcher(compiled)
    for token_id in [*token_ids, _STOP]:
        allowed = mask_allows(matcher, compiled, token_id)
        assert matcher.accept_token(token_id) == allowed
        if not allowed:
            return False
    return matcher.is_terminated()


def mask_allows(
    matcher: grammar_core.GrammarMatcher, compiled: grammar_core.CompiledGrammar, token_id: int
) -> bool:
    words = -(-compiled.tokenizer_info.vocab_size // 32)
    bitmask = np.zeros((1, words), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return bool(bitmask[0, token_id // 32] >> token_id % 32 & 1)
