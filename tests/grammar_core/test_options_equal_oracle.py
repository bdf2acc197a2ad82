"""The engine's answers equal the option oracle's on random grammars with options, macros and token sets.

SYNTAGMA_ORACLE_TRIPLES sets how many (grammar, vocabulary, prefix) triples are compared.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import grammar_core
from tests.grammar_core.random_grammars import PREFIXES_PER_CASE, Case, random_option_case
from tests.option_oracle import OptionOracle, Point

_TRIPLES = int(os.environ.get("SYNTAGMA_ORACLE_TRIPLES", "750"))
_CASES_PER_TEST = 10
# What the engine refuses, one case in a hundred.
_REFUSED = "have budgets and are left-recursive through each other"
_CASES = -(-_TRIPLES // PREFIXES_PER_CASE)


@pytest.mark.parametrize("first", range(0, _CASES, _CASES_PER_TEST))
def test_random_triples(first: int) -> None:
    for seed in range(first, min(first + _CASES_PER_TEST, _CASES)):
        compare_case(random_option_case(seed))


def compare_case(case: Case) -> None:
    oracle = OptionOracle(case.grammar.rules, case.grammar.root, case.vocabulary, case.stop_token_ids)
    info = grammar_core.TokenizerInfo(case.vocabulary, stop_token_ids=case.stop_token_ids)
    compiler = grammar_core.GrammarCompiler(info)
    if oracle.is_empty:
        with pytest.raises(grammar_core.GrammarError, match="cannot match any finite text"):
            compiler.compile_grammar(case.grammar)
        return
    try:
        compiled = compiler.compile_grammar(case.grammar if case.seed % 2 else str(case.grammar))
    except grammar_core.GrammarError as error:
        if _REFUSED not in error.message:
            raise
        return
    for prefix in case.prefixes:
        Comparison(case, oracle, grammar_core.GrammarMatcher(compiled)).run(prefix)


class Comparison:
    """A matcher that goes along a prefix beside the oracle."""

    def __init__(self, case: Case, oracle: OptionOracle, matcher: grammar_core.GrammarMatcher) -> None:
        self.case = case
        self.oracle = oracle
        self.matcher = matcher
        self.points = [oracle.start]
        self.accepted: list[int] = []

    def run(self, prefix: list[int]) -> None:
        self.check(self.matcher, self.points[-1], "at the start")
        for token_id in prefix:
            following = self.oracle.accept_token(self.points[-1], token_id)
            accepted = self.matcher.accept_token(token_id)
            assert accepted == (following is not None), self.describe(f"accept_token({token_id})")
            if following is None:
                continue
            self.points.append(following)
            self.accepted.append(token_id)
            self.check(self.matcher, following, "along the prefix")
        self.check_rollback()

    def check_rollback(self) -> None:
        depth = len(self.accepted) // 2
        if depth == 0:
            return
        fork = self.matcher.fork()
        fork.rollback(depth)
        self.check(fork, self.points[-1 - depth], f"in a fork after rollback({depth})")
        for token_id in self.accepted[-depth:]:
            assert fork.accept_token(token_id), self.describe(f"{token_id} refused after rollback")
        self.check(fork, self.points[-1], "after a rollback was replayed")
        self.check(self.matcher, self.points[-1], "while a fork went its own way")

    def check(self, matcher: grammar_core.GrammarMatcher, point: Point, when: str) -> None:
        captures, expected = matcher.get_captures(), self.oracle.captures(point)
        assert captures == expected, self.describe(f"captures {when}: {captures}, not {expected}")
        # An occurrence that completes in several ways at once may be one event or several.
        events = set(matcher.get_captures(deduplicate=False))
        assert events == set(self.oracle.captures(point, deduplicate=False)), self.describe(f"events {when}")
        assert matcher.is_terminated() == point.is_terminated, self.describe(f"is_terminated {when}")
        if point.is_terminated:
            return
        assert matcher.is_completed() == point.is_complete, self.describe(f"is_completed {when}")
        assert matcher.temperature == point.temperature(), self.describe(f"temperature {when}")
        size = len(self.case.vocabulary)
        bitmask = np.zeros((1, -(-size // 32)), dtype=np.int32)
        matcher.fill_next_token_bitmask(bitmask)
        bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[:size]
        actual = {int(token_id) for token_id in np.flatnonzero(bits)}
        allowed = self.oracle.allowed_token_ids(point)
        difference = {"missing": allowed - actual, "extra": actual - allowed}
        assert actual == allowed, self.describe(f"mask {when}: {difference}")

    def describe(self, what: str) -> str:
        vocabulary = self.case.vocabulary
        return (
            f"{what}\nseed {self.case.seed}, stop tokens {self.case.stop_token_ids}\n{self.case.grammar}"
            f"tokens so far: {[(i, vocabulary[i]) for i in self.accepted]}\n"
            f"vocabulary: {list(enumerate(vocabulary))}"
        )
