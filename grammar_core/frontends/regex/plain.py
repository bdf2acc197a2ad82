"""Trees without assertions are expressions already: repetitions stay counted, nothing is copied."""

from __future__ import annotations

from itertools import groupby

from grammar_core.frontends.regex.syntax_tree import Alternation, Characters, Concatenation, Text, Tree, fold
from grammar_core.frontends.regex.syntax_tree import Repetition as RepetitionTree
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Expr, Literal, Repeat, Sequence


def to_expression(tree: Tree) -> Expr:
    """The expression of a tree that has no assertions."""
    return fold(tree, _expression)


def _expression(tree: Tree, children: list[Expr]) -> Expr:
    if isinstance(tree, Text):
        return Literal(tree.value.encode())
    if isinstance(tree, Characters):
        return CharClass(tree.ranges)
    if isinstance(tree, Concatenation):
        return _sequence(children)
    if isinstance(tree, Alternation):
        return Choice(tuple(children))
    assert isinstance(tree, RepetitionTree)
    return Repeat(children[0], tree.min, tree.max)


def _sequence(items: list[Expr]) -> Expr:
    """The items one after another, with neighbouring literals put together."""
    joined: list[Expr] = []
    for is_text, run in groupby(items, lambda item: isinstance(item, Literal)):
        if is_text:
            joined.append(Literal(b"".join(item.value for item in run if isinstance(item, Literal))))
        else:
            joined += run
    if len(joined) == 1:
        return joined[0]
    return Sequence(tuple(joined)) if joined else EMPTY
