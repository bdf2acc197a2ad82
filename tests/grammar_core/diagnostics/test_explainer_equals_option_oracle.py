"""Explanations of grammars with lazy rules and character budgets agree with the oracle for options."""

from __future__ import annotations

import random

import pytest

from grammar_core.diagnostics import Explainer, Explanation
from grammar_core.ir.nodes import NO_OPTIONS, RuleOptions
from tests.grammar_core.random_grammars import random_grammar
from tests.option_oracle import OptionOracle, Point

_ALPHABET = "abc"
_TEXTS = 6


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_grammars_with_options(first: int) -> None:
    for seed in range(first, first + 100):
        compare_case(random.Random(seed))


def compare_case(rng: random.Random) -> None:
    grammar = random_grammar(rng, alphabet=_ALPHABET, counted=False)
    rules = [rule._replace(options=random_options(rng)) for rule in grammar.rules]
    oracle = OptionOracle(rules, grammar.root)
    if oracle.is_empty:
        return
    explainer = Explainer(rules, grammar.root)
    for _ in range(_TEXTS):
        text, point = random_text(rng, oracle)
        compare(oracle, point, explainer.explain(text), f"{text!r}\n{grammar}{rules}")


def random_options(rng: random.Random) -> RuleOptions:
    kind = rng.random()
    if kind < 0.25:
        return RuleOptions(lazy=True)
    return RuleOptions(max_chars=rng.randint(1, 4)) if kind < 0.5 else NO_OPTIONS


def random_text(rng: random.Random, oracle: OptionOracle) -> tuple[str, Point]:
    """A beginning of a sentence."""
    text, point = "", oracle.start
    for character in rng.choices(_ALPHABET, k=rng.randint(0, 20)):
        following = oracle.accept_text(point, character.encode())
        if following is not None:
            text, point = text + character, following
    return text, point


def compare(oracle: OptionOracle, point: Point, explanation: Explanation, context: str) -> None:
    assert explanation.outcome == ("complete" if point.is_complete else "incomplete"), context
    for character in _ALPHABET:
        may_come = any(low <= ord(character) <= high for low, high in explanation.next_characters)
        assert (oracle.accept_text(point, character.encode()) is not None) == may_come, context
    if explanation.completion is not None:
        end = oracle.accept_text(point, explanation.completion.encode())
        assert end is not None, context
        assert end.is_complete, context
