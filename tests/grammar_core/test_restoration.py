"""Rollback, forks, resets and draft trees restore masks, captures, budgets and temperatures exactly."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest

import grammar_core
from tests.grammar_core.random_grammars import Case, random_option_case

_WALKS = 100
_STEPS = 40


class Snapshot(NamedTuple):
    """Everything that a matcher shows of its state."""

    mask: bytes
    captures: tuple[tuple[str, bytes], ...]
    events: tuple[tuple[str, bytes], ...]
    temperature: float | None
    is_completed: bool
    is_terminated: bool
    is_over_budget: bool


def snapshot(matcher: grammar_core.GrammarMatcher, size: int) -> Snapshot:
    bitmask = np.zeros((1, -(-size // 32)), dtype=np.int32)
    if not matcher.is_terminated():
        matcher.fill_next_token_bitmask(bitmask)
    return Snapshot(
        bitmask.tobytes(),
        tuple(matcher.get_captures()),
        tuple(matcher.get_captures(deduplicate=False)),
        matcher.temperature,
        matcher.is_completed(),
        matcher.is_terminated(),
        matcher.is_over_budget(),
    )


class Walk:
    """A matcher on its way, with what it showed at every step."""

    def __init__(self, case: Case, rng: random.Random) -> None:
        self.size = len(case.vocabulary)
        self.rng = rng
        info = grammar_core.TokenizerInfo(case.vocabulary, stop_token_ids=case.stop_token_ids)
        self.compiled = grammar_core.GrammarCompiler(info).compile_grammar(case.grammar)
        self.matcher = grammar_core.GrammarMatcher(self.compiled)
        self.tokens: list[int] = []
        self.accepted = 0
        self.shown = [snapshot(self.matcher, self.size)]

    def check(self) -> None:
        assert snapshot(self.matcher, self.size) == self.shown[-1]

    def allowed(self) -> list[int]:
        bits = np.unpackbits(np.frombuffer(self.shown[-1].mask, dtype=np.uint8), bitorder="little")
        return [int(token_id) for token_id in np.flatnonzero(bits[: self.size])]

    def accept(self) -> None:
        allowed = self.allowed()
        if not allowed:
            return
        token_id = self.rng.choice(allowed)
        assert self.matcher.accept_token(token_id)
        self.tokens.append(token_id)
        self.accepted += 1
        self.shown.append(snapshot(self.matcher, self.size))

    def refuse(self) -> None:
        refused = sorted(set(range(self.size)) - set(self.allowed()))
        if refused:
            assert not self.matcher.accept_token(self.rng.choice(refused))
        self.check()

    def rollback(self) -> None:
        count = self.rng.randint(0, len(self.tokens))
        self.matcher.rollback(count)
        del self.tokens[len(self.tokens) - count :]
        del self.shown[len(self.shown) - count :]
        self.check()

    def fork(self) -> None:
        """Go on with a fork, or let one go its way and come back."""
        fork = self.matcher.fork()
        for token_id in self.rng.sample(self.allowed(), min(2, len(self.allowed()))):
            assert fork.accept_token(token_id)
            snapshot(fork, self.size)
            fork.rollback(1)
        assert snapshot(fork, self.size) == self.shown[-1]
        self.check()
        if self.rng.random() < 0.5:
            self.matcher = fork

    def reset(self) -> None:
        if self.rng.random() < 0.3:
            self.matcher.reset()
            assert snapshot(self.matcher, self.size) == self.shown[0]
            self.replay(self.matcher)
        self.replay(grammar_core.GrammarMatcher(self.compiled))

    def replay(self, matcher: grammar_core.GrammarMatcher) -> None:
        for token_id in self.tokens:
            assert matcher.accept_token(token_id)
        assert snapshot(matcher, self.size) == self.shown[-1]

    def draft_tree(self) -> None:
        """Every node's row and temperature are those of a fork that went there."""
        if self.shown[-1].is_terminated:
            return
        parents, tokens = self._random_tree()
        child, sibling = _links(parents)
        bitmask = np.full((len(tokens), -(-self.size // 32)), -1, dtype=np.int32)
        temperatures = np.full(len(tokens), 7, dtype=np.float32)
        ids = np.array(tokens, dtype=np.int64)
        assert self.matcher.traverse_draft_tree(child, sibling, ids, bitmask, temperatures=temperatures)
        self.check()
        for node in range(len(tokens)):
            fork = self.matcher.fork()
            path = _path(parents, node)
            if not all(fork.accept_token(tokens[step]) for step in path):
                assert not bitmask[node].any()
                assert temperatures[node] == -1
                continue
            expected = snapshot(fork, self.size)
            assert bitmask[node].tobytes() == expected.mask
            if not expected.is_terminated:
                assert temperatures[node] == (-1 if expected.temperature is None else expected.temperature)

    def _random_tree(self) -> tuple[list[int], list[int]]:
        """The parent and the token of each node; the root's token has been accepted already."""
        parents, tokens = [-1], [0]
        for node in range(1, self.rng.randint(2, 8)):
            parents.append(self.rng.randrange(node))
            choices = self.allowed() if parents[-1] == 0 and self.rng.random() < 0.8 else range(self.size)
            tokens.append(self.rng.choice(choices or range(self.size)))
        return parents, tokens


def _links(parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    child, sibling = np.full(len(parents), -1, dtype=np.int64), np.full(len(parents), -1, dtype=np.int64)
    for node in reversed(range(1, len(parents))):
        sibling[node] = child[parents[node]]
        child[parents[node]] = node
    return child, sibling


def _path(parents: list[int], node: int) -> list[int]:
    path = []
    while node > 0:
        path.append(node)
        node = parents[node]
    return path[::-1]


@pytest.mark.parametrize("first", range(0, _WALKS, 50))
def test_random_walks(first: int) -> None:
    tokens = 0
    for seed in range(first, first + 50):
        walk = _random_walk(seed)
        if walk is not None:
            tokens += walk.accepted
    assert tokens > 200


def _random_walk(seed: int) -> Walk | None:
    """A walk of random actions; None for a grammar that is refused."""
    rng = random.Random(seed)
    try:
        walk = Walk(random_option_case(1_000_000 + seed), rng)
    except grammar_core.GrammarError:
        return None
    actions = [walk.accept] * 6 + [walk.refuse, walk.rollback, walk.fork, walk.reset, walk.draft_tree]
    for _ in range(_STEPS):
        rng.choice(actions)()
    walk.check()
    return walk
