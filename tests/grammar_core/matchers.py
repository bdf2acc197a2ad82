"""Small compilers and masks for the tests of matchers."""

from __future__ import annotations

from typing import Any

import numpy as np

import grammar_core

STOP = b"</s>"


def compiler_for(*tokens: str | bytes) -> grammar_core.GrammarCompiler:
    """A compiler over these tokens, numbered from 1; 0 is the stop token."""
    vocabulary = [STOP, *(token.encode() if isinstance(token, str) else token for token in tokens)]
    return grammar_core.GrammarCompiler(grammar_core.TokenizerInfo(vocabulary, stop_token_ids=[0]))


def matcher_for(grammar: str, *tokens: str | bytes, **options: Any) -> grammar_core.GrammarMatcher:
    return grammar_core.GrammarMatcher(compiler_for(*tokens).compile_grammar(grammar), **options)


def allowed(matcher: grammar_core.GrammarMatcher, size: int) -> set[int]:
    """The ids whose bit is set in the mask of the next token."""
    bitmask = np.zeros((1, -(-size // 32)), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return {i for i in range(size) if bitmask[0, i // 32] >> (i % 32) & 1}
