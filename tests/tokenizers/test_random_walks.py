"""Masks agree with acceptance on real vocabularies: for every id, along random walks."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.grammars import load_grammars
from grammar_core import GrammarCompiler, GrammarMatcher, allocate_token_bitmask
from tests.tokenizers.sources import RealTokenizer

WALKS = 50  # for each grammar: 200 for each tokenizer
LONGEST_WALK = 40
GRAMMARS = {grammar.name: grammar.ebnf for grammar in load_grammars()}


def _mask(matcher: GrammarMatcher, vocab_size: int) -> NDArray[np.bool_]:
    bitmask = np.asarray(allocate_token_bitmask(1, vocab_size))
    if not matcher.fill_next_token_bitmask(bitmask, 0):
        return np.ones(vocab_size, dtype=np.bool_)
    return np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:vocab_size].astype(np.bool_)


def _accepted(matcher: GrammarMatcher, vocab_size: int) -> NDArray[np.bool_]:
    accepted = np.zeros(vocab_size, dtype=np.bool_)
    for token_id in range(vocab_size):
        if matcher.accept_token(token_id):
            accepted[token_id] = True
            matcher.rollback(1)
    return accepted


@pytest.mark.parametrize("grammar", ["json", "migration", "free_text", "arithmetic"])
def test_mask_and_acceptance_agree_for_every_id(real: RealTokenizer, grammar: str) -> None:
    info = real.info
    compiled = GrammarCompiler(info).compile_grammar(GRAMMARS[grammar])
    rng = random.Random(f"{real.name} {grammar}")
    checked = 0
    for _ in range(WALKS):
        matcher = GrammarMatcher(compiled)
        checked_step = min(rng.randrange(LONGEST_WALK) for _ in range(4))
        for step in range(LONGEST_WALK):
            mask = _mask(matcher, info.vocab_size)
            if step == checked_step:
                assert np.array_equal(mask, _accepted(matcher, info.vocab_size))
                checked += 1
            assert matcher.accept_token(int(rng.choice(np.flatnonzero(mask))))
            if matcher.is_terminated():
                break
    assert checked >= WALKS // 2
