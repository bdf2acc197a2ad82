"""The program that the native core reads."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar
from grammar_core.ir.nodes import (
    CharClass,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    Substring,
)
from grammar_core.lowering import lower_expression, lower_grammar

_X = Literal(b"x")


def _repeats(expr: Expr) -> bytes:
    return lower_expression(expr)[0]


@pytest.mark.parametrize(
    ("inner", "outer", "merged"),
    [
        ((0, 2), (1, 3), (0, 6)),
        ((1, None), (0, 1), (0, None)),
        ((1, 2), (2, 2**70), (2, None)),
        ((0, 1), (3, None), (0, None)),
    ],
)
def test_nested_repetitions_are_one(inner: Any, outer: Any, merged: Any) -> None:
    assert _repeats(Repeat(Repeat(_X, *inner), *outer)) == _repeats(Repeat(_X, *merged))


@pytest.mark.parametrize(("inner", "outer"), [((2, 3), (1, 2)), ((0, 0), (1, 2)), ((0, 1), (0, 0))])
def test_repetitions_that_leave_gaps_stay_nested(inner: Any, outer: Any) -> None:
    words = lower_expression(Repeat(Repeat(_X, *inner), *outer))[0]
    assert len(words) - len(lower_expression(Repeat(_X, *outer))[0]) == 3 * 8


def test_deep_nesting_needs_no_stack() -> None:
    expr: Expr = _X
    for _ in range(100_000):
        expr = Sequence((expr,))
    assert len(lower_expression(expr)[0]) == 8 * (3 + 2 * 100_000 + 11)


def test_what_cannot_be_lowered_is_named() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        lower_expression(RuleRef("nowhere"))
    with pytest.raises(KeyError, match="Substring"):
        lower_expression(Substring(("a",)))
    wrong: Any = 7
    with pytest.raises(TypeError, match="field of a wrong type"):
        lower_expression(CharClass(wrong))


def test_captures_are_numbered_in_the_order_of_rules() -> None:
    rules = tuple(Rule(name, _X, RuleOptions(capture=name.upper())) for name in ("root", "a", "b"))
    assert lower_grammar(Grammar(rules, "root")).capture_names == ["ROOT", "A", "B"]
