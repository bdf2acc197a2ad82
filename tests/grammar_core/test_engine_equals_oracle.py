"""The engine's answers equal the oracle's, bit for bit, on random grammars, vocabularies and prefixes.

SYNTAGMA_ORACLE_TRIPLES sets how many (grammar, vocabulary, prefix) triples are compared.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

import grammar_core
from tests.grammar_core.random_grammars import Case, random_case, random_large_case
from tests.oracle import Oracle, Position

_TRIPLES = int(os.environ.get("SYNTAGMA_ORACLE_TRIPLES", "1500"))
_TRIPLES_PER_CASE = len(random_case(0).prefixes)
_CASES_PER_TEST = 50
_CASES = -(-_TRIPLES // _TRIPLES_PER_CASE)
_LARGE_CASES = -(-_TRIPLES // 150)  # fewer, for the oracle reads thousands of tokens slowly


@pytest.mark.parametrize("first", range(0, _CASES, _CASES_PER_TEST))
def test_random_triples(first: int) -> None:
    for seed in range(first, min(first + _CASES_PER_TEST, _CASES)):
        compare_case(random_case(seed))


@pytest.mark.parametrize("first", range(0, _CASES // 3, _CASES_PER_TEST))
def test_random_triples_with_macros(first: int) -> None:
    for seed in range(first, min(first + _CASES_PER_TEST, _CASES // 3)):
        compare_case(random_case(seed, macros=True))


@pytest.mark.parametrize("first", range(0, _LARGE_CASES, _CASES_PER_TEST))
def test_random_triples_of_large_vocabularies(first: int) -> None:
    for seed in range(first, min(first + _CASES_PER_TEST, _LARGE_CASES)):
        compare_case(random_large_case(seed))


def compare_case(case: Case) -> None:
    oracle = Oracle(case.grammar.rules, case.grammar.root)
    info = grammar_core.TokenizerInfo(case.vocabulary, stop_token_ids=case.stop_token_ids)
    source = case.grammar if case.seed % 2 else str(case.grammar)
    compiler = grammar_core.GrammarCompiler(info)
    if oracle.is_empty:
        with pytest.raises(grammar_core.GrammarError, match="cannot match any finite text"):
            compiler.compile_grammar(source)
        return
    compiled = compiler.compile_grammar(source)
    for prefix in case.prefixes:
        Comparison(case, oracle, compiled, prefix).run()


class Comparison:
    """One triple: a matcher that goes along the prefix beside the oracle."""

    def __init__(
        self, case: Case, oracle: Oracle, compiled: grammar_core.CompiledGrammar, prefix: list[int]
    ) -> None:
        self.case = case
        self.oracle = oracle
        self.compiled = compiled
        self.prefix = prefix
        self.matcher = grammar_core.GrammarMatcher(compiled)
        self.positions = [oracle.start]
        self.accepted: list[int] = []

    def run(self) -> None:
        for token_id in self.prefix:
            self.accept(token_id)
        self.check_state("after the prefix")
        self.check_every_id()
        self.check_stop_tokens()
        self.check_fork()
        self.check_rollback()
        self.check_text()
        self.check_reset()

    def accept(self, token_id: int) -> None:
        expected = token_id in self.allowed(self.positions[-1]) and token_id not in self.case.stop_token_ids
        if token_id in self.case.stop_token_ids:
            return
        assert self.matcher.accept_token(token_id) == expected, self.describe(f"accept_token({token_id})")
        if expected:
            self.positions.append(self.moved(self.positions[-1], token_id))
            self.accepted.append(token_id)

    def check_every_id(self) -> None:
        """Every id is accepted exactly when its bit is set, and giving it back restores the state."""
        allowed = self.allowed(self.positions[-1])
        for token_id in range(len(self.case.vocabulary)):
            accepted = self.matcher.accept_token(token_id)
            assert accepted == (token_id in allowed), self.describe(f"accept_token({token_id}) is {accepted}")
            if accepted:
                self.matcher.rollback(1)
        self.check_state("after every id was tried")

    def check_stop_tokens(self) -> None:
        if not self.positions[-1].is_complete:
            return
        assert self.matcher.accept_token(self.case.stop_token_ids[0]), self.describe("stop token refused")
        assert self.matcher.is_terminated(), self.describe("not terminated by a stop token")
        assert not self.matcher.accept_token(self.case.stop_token_ids[0]), self.describe(
            "accepts after a stop"
        )
        self.matcher.rollback(1)
        assert not self.matcher.is_terminated(), self.describe("terminated after rollback")
        self.check_state("after a stop token was rolled back")

    def check_fork(self) -> None:
        fork = self.matcher.fork()
        for token_id in sorted(self.allowed(self.positions[-1]) - set(self.case.stop_token_ids))[:3]:
            position = self.moved(self.positions[-1], token_id)
            assert fork.accept_token(token_id), self.describe(f"the fork refuses {token_id}")
            self.check_matcher(fork, position, f"in a fork after {token_id}")
            self.check_state("while a fork goes on")
            fork.rollback(1)
        self.check_matcher(fork, self.positions[-1], "in a fork rolled back")

    def check_rollback(self) -> None:
        rng = random.Random(len(self.accepted))
        depth = rng.randint(0, len(self.accepted))
        if depth == 0:
            return
        self.matcher.rollback(depth)
        self.check_matcher(self.matcher, self.positions[-1 - depth], f"after rollback({depth})")
        for token_id in self.accepted[-depth:]:
            assert self.matcher.accept_token(token_id), self.describe(f"{token_id} refused after rollback")
        self.check_state("after a rollback was replayed")

    def check_text(self) -> None:
        """The same bytes in one piece lead to the same state."""
        text = b"".join(self.case.vocabulary[token_id] for token_id in self.accepted)
        matcher = grammar_core.GrammarMatcher(self.compiled)
        assert text == b"" or matcher.accept_string(text), self.describe("accept_string refuses the text")
        self.check_matcher(matcher, self.positions[-1], "after accept_string")
        refused = next((b for b in range(256) if self.oracle.step(self.positions[-1], b) is None), None)
        if refused is not None:
            assert not matcher.accept_string(bytes([refused])), self.describe(f"accepts byte {refused}")
            self.check_matcher(matcher, self.positions[-1], "after refused text")

    def check_reset(self) -> None:
        self.matcher.reset()
        self.check_matcher(self.matcher, self.oracle.start, "after reset")

    def check_state(self, when: str) -> None:
        self.check_matcher(self.matcher, self.positions[-1], when)

    def check_matcher(self, matcher: grammar_core.GrammarMatcher, position: Position, when: str) -> None:
        size = len(self.case.vocabulary)
        bitmask = np.full((2, -(-size // 32)), 0x55555555, dtype=np.int32)
        needed = matcher.fill_next_token_bitmask(bitmask, 1)
        bits = np.unpackbits(bitmask[1].view(np.uint8), bitorder="little")[:size]
        expected = self.allowed(position)
        actual = {int(token_id) for token_id in np.flatnonzero(bits)}
        assert actual == expected, self.describe(
            f"mask {when}", missing=expected - actual, extra=actual - expected
        )
        assert needed == (len(expected) < size), self.describe(f"fill's answer {when}")
        assert (bitmask[0] == 0x55555555).all(), self.describe(f"another row was written {when}")
        assert matcher.is_completed() == position.is_complete, self.describe(f"is_completed {when}")

    def allowed(self, position: Position) -> set[int]:
        return self.oracle.allowed_token_ids(position, self.case.vocabulary, self.case.stop_token_ids)

    def moved(self, position: Position, token_id: int) -> Position:
        moved = self.oracle.advance(position, self.case.vocabulary[token_id])
        assert moved is not None
        return moved

    def describe(self, what: str, **differences: set[int]) -> str:
        vocabulary = self.case.vocabulary
        tokens = {name: {i: vocabulary[i] for i in sorted(ids)} for name, ids in differences.items()}
        return (
            f"{what}\nseed {self.case.seed}, stop tokens {self.case.stop_token_ids}\n{self.case.grammar}"
            f"text so far: {[vocabulary[i] for i in self.accepted]}\n{tokens}\nvocabulary: {vocabulary}"
        )
