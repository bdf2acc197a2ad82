"""Automata as rules: one a state, each of which takes a character and goes on with another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grammar_core.ir.nodes import (
    EMPTY,
    Automaton,
    CharClass,
    Choice,
    Expr,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    child_expressions,
)


def expand_automata(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The same language without automata. Rules that use any are followed by those of their states."""
    rules = tuple(rules)
    names = {rule.name for rule in rules}
    return tuple(expanded for rule in rules for expanded in _expand_rule(rule, names))


def state_count(automaton: Automaton) -> int:
    """How many states the automaton has."""
    last = max((max(source, target) for source, target, _ in automaton.edges), default=0)
    return max(last, *automaton.accepting, 0) + 1


def _expand_rule(rule: Rule, names: set[str]) -> Iterator[Rule]:
    expanded: list[Rule] = []
    yield rule._replace(body=_replace(rule.body, rule.name, names, expanded))
    yield from expanded


def _replace(body: Expr, rule_name: str, names: set[str], expanded: list[Rule]) -> Expr:
    """The body with a reference for each automaton; their rules are added to `expanded`."""
    results: list[Expr] = []
    pending: list[tuple[Expr, bool]] = [(body, False)]
    while pending:
        expr, is_done = pending.pop()
        if isinstance(expr, Automaton):
            results.append(_state_rules(expr, rule_name, names, expanded))
        elif is_done:
            begin = len(results) - len(child_expressions(expr))
            results[begin:] = [_rebuild(expr, tuple(results[begin:]))]
        else:
            pending.append((expr, True))
            pending.extend((child, False) for child in reversed(child_expressions(expr)))
    return results[0]


def _rebuild(expr: Expr, children: tuple[Expr, ...]) -> Expr:
    if isinstance(expr, Sequence):
        return Sequence(children)
    if isinstance(expr, Choice):
        return Choice(children)
    return Repeat(children[0], expr.min, expr.max) if isinstance(expr, Repeat) else expr


def _state_rules(automaton: Automaton, rule_name: str, names: set[str], expanded: list[Rule]) -> RuleRef:
    states = [RuleRef(_free_name(rule_name, names)) for _ in range(state_count(automaton))]
    options: list[list[Expr]] = [[] for _ in states]
    for state in automaton.accepting:
        options[state].append(EMPTY)
    for source, target, label in automaton.edges:
        options[source].append(Sequence((label, states[target])))
    for reference, choices in zip(states, options, strict=True):
        body = Choice(tuple(choices)) if choices else CharClass(())
        expanded.append(Rule(reference.name, body))
    return states[0]


def _free_name(rule_name: str, names: set[str]) -> str:
    number = len(names)
    while (name := f"{rule_name}_{number}") in names:
        number += 1
    names.add(name)
    return name
