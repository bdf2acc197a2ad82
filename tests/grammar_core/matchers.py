"""Small compilers and masks for the tests of matchers."""

from __future__ import annotations

import random
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


def masks_along(matcher: grammar_core.GrammarMatcher, size: int, seed: int, steps: int) -> list[bytes]:
    """The masks along a random text; the last of `size` tokens is the stop token, which is not taken."""
    rng = random.Random(seed)
    mask = np.asarray(grammar_core.allocate_token_bitmask(1, size))
    masks = []
    for _ in range(steps):
        matcher.fill_next_token_bitmask(mask)
        masks.append(mask.tobytes())
        ids = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[: size - 1])
        if not len(ids):
            break
        assert matcher.accept_token(int(rng.choice(ids)))
    return masks
