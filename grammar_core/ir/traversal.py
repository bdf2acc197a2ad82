"""Walking and rebuilding expressions of any depth, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar, cast

from grammar_core.deadline import check
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Members,
    OtherTexts,
    Regex,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    TagDispatch,
    TokenTagDispatch,
    child_expressions,
    rule_expressions,
)

T = TypeVar("T")
Kinds: TypeAlias = tuple[type[Expr], ...]


def walk_expressions(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything inside it, parents first, in text order."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(child_expressions(current)))


def have_same_types(one: Expr, other: Expr) -> bool:
    """Whether two equal expressions are of the same classes throughout, which equality ignores."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        # Labels that are equal are of one class: a name is no list of ranges.
        if not isinstance(left, Automaton):
            pending += zip(child_expressions(left), child_expressions(right), strict=True)
    return True


def walk_rule(rule: Rule) -> Iterator[Expr]:
    """Every expression of a rule, those of its lookahead too."""
    for expr in rule_expressions(rule):
        yield from walk_expressions(expr)


def node_kinds(rules: Iterable[Rule]) -> set[type[Expr]]:
    """The classes of the nodes that occur in the rules."""
    kinds: set[type[Expr]] = set()
    pending: list[Expr] = [expr for rule in rules for expr in rule_expressions(rule)]
    while pending:
        expr = pending.pop()
        kinds.add(type(expr))
        pending += child_expressions(expr)
    return kinds


def transform_rule(rule: Rule, change: Callable[[Expr], Expr], *, opaque: Kinds = ()) -> Rule:
    """The rule with its body and lookahead transformed."""
    body = transform_expression(rule.body, change, opaque=opaque)
    ahead = rule.lookahead
    lookahead = None if ahead is None else transform_expression(ahead, change, opaque=opaque)
    return rule._replace(body=body, lookahead=lookahead)


def transform_expression(expr: Expr, change: Callable[[Expr], Expr], *, opaque: Kinds = ()) -> Expr:
    """`expr` with `change` applied to every expression in it, children first.

    What is inside of nodes of the classes `opaque` stays as it is.
    """
    finished: list[Expr] = []
    pending: list[tuple[Expr, bool]] = [(expr, False)]
    while pending:
        check()
        current, are_children_finished = pending.pop()
        children = () if isinstance(current, opaque) else child_expressions(current)
        if children and not are_children_finished:
            pending.append((current, True))
            pending.extend((child, False) for child in reversed(children))
            continue
        if children:
            begin = len(finished) - len(children)
            current = _with_children(current, tuple(finished[begin:]))
            del finished[begin:]
        finished.append(change(current))
    return finished[0]


def _with_children(expr: Expr, children: tuple[Expr, ...]) -> Expr:
    if isinstance(expr, Sequence):
        return Sequence(children)
    if isinstance(expr, Choice):
        return Choice(children)
    if isinstance(expr, (Repeat, Regex)):
        return expr._replace(body=children[0])
    if isinstance(expr, CountedAutomaton):
        return expr._replace(body=cast("Automaton", children[0]))
    if isinstance(expr, OtherTexts):
        return expr._replace(item=children[0])
    if isinstance(expr, TagDispatch):
        return expr._replace(tags=_retargeted(expr.tags, children))
    if isinstance(expr, TokenTagDispatch):
        return expr._replace(tags=_retargeted(expr.tags, children))
    if isinstance(expr, Members):
        rules = cast("tuple[RuleRef, ...]", children)
        members = tuple(m._replace(rule=r) for m, r in zip(expr.members, rules, strict=False))
        separator = rules[len(members)] if expr.separator is not None else None
        return expr._replace(members=members, separator=separator)
    assert isinstance(expr, Automaton)
    labels = cast("tuple[CharClass | RuleRef, ...]", children)
    edges = zip(expr.edges, labels, strict=True)
    return expr._replace(edges=tuple((source, target, label) for (source, target, _), label in edges))


def _retargeted(
    tags: tuple[tuple[T, RuleRef], ...], rules: tuple[Expr, ...]
) -> tuple[tuple[T, RuleRef], ...]:
    return tuple((tag, cast("RuleRef", rule)) for (tag, _), rule in zip(tags, rules, strict=True))
