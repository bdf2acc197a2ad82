"""Automata as rules: one for each state, of what its edges match and the rules of the states they lead to."""

from __future__ import annotations

from grammar_core.ir.nodes import EMPTY, Automaton, CharClass, Choice, Expr, Rule, RuleRef, Sequence
from grammar_core.ir.traversal import Kinds, node_kinds, transform_rule

_NOTHING = CharClass(())


def replace_automata(
    rules: tuple[Rule, ...], *, reserved: frozenset[str] = frozenset(), opaque: Kinds = ()
) -> tuple[Rule, ...]:
    """The rules with a reference to rules added at the end for each automaton in them.

    The rules keep their positions. New names are none of `reserved`. Automata inside of nodes of the
    classes `opaque` are left alone.
    """
    if Automaton not in node_kinds(rules):
        return rules
    names = FreeNames({rule.name for rule in rules} | reserved)
    added: list[Rule] = []

    def replaced(rule: Rule) -> Rule:
        def change(expr: Expr) -> Expr:
            return _add_states(expr, rule.name, names, added) if isinstance(expr, Automaton) else expr

        return transform_rule(rule, change, opaque=opaque)

    return (*map(replaced, rules), *added)


class FreeNames:
    """Names that no rule has yet: a base and a number."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._numbers: dict[str, int] = {}

    def new(self, base: str) -> str:
        """A new name, `base` with the lowest number that is free."""
        number = self._numbers.get(base, 0) + 1
        while f"{base}_{number}" in self._taken:
            number += 1
        self._numbers[base] = number
        self._taken.add(f"{base}_{number}")
        return f"{base}_{number}"


def _add_states(automaton: Automaton, base: str, names: FreeNames, added: list[Rule]) -> Expr:
    """The reference to the rule of the first state, after the rules of all useful states are added."""
    useful = useful_states(automaton)
    if 0 not in useful:
        return _NOTHING
    accepting = set(automaton.accepting)
    rules = {state: RuleRef(names.new(base)) for state in useful}
    targets: dict[int, dict[int, list[Expr]]] = {state: {} for state in useful}
    for source, target, label in automaton.edges:
        if source in rules and target in rules:
            targets[source].setdefault(target, []).append(label)
    for state in useful:
        options: list[Expr] = [EMPTY] if state in accepting else []
        for target, labels in targets[state].items():
            options.append(Sequence((*_one(labels), rules[target])))
        added.append(Rule(rules[state].name, _one(options)[0]))
    return rules[0]


def _one(options: list[Expr]) -> tuple[Expr]:
    return (options[0],) if len(options) == 1 else (Choice(tuple(options)),)


def useful_states(automaton: Automaton) -> list[int]:
    """The states on some path from the first to an accepting one, taking labels for granted; in order."""
    forwards: dict[int, list[int]] = {}
    backwards: dict[int, list[int]] = {}
    for source, target, _ in automaton.edges:
        forwards.setdefault(source, []).append(target)
        backwards.setdefault(target, []).append(source)
    return sorted(_reached(forwards, {0}) & _reached(backwards, set(automaton.accepting)))


def _reached(following: dict[int, list[int]], starts: set[int]) -> set[int]:
    reached, pending = set(starts), list(starts)
    while pending:
        for state in following.get(pending.pop(), ()):
            if state not in reached:
                reached.add(state)
                pending.append(state)
    return reached
