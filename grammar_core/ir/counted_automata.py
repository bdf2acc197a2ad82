"""Counted automata as automata with a state for every number of edges, for those who do not count."""

from __future__ import annotations

from grammar_core.deadline import check
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.nodes import Automaton, CountedAutomaton, Edge, Expr, Rule
from grammar_core.ir.right_linear import useful_states
from grammar_core.ir.traversal import node_kinds, transform_rule

MAX_STATES = 100_000
"""States of the automaton of one counted automaton."""


def expand_counted_automata(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules, in their places, with all counted automata replaced. Raises GrammarLimitError."""
    if CountedAutomaton not in node_kinds(rules):
        return rules

    def expand(expr: Expr) -> Expr:
        return expand_counted_automaton(expr) if isinstance(expr, CountedAutomaton) else expr

    return tuple(transform_rule(rule, expand) for rule in rules)


def expand_counted_automaton(counted: CountedAutomaton) -> Automaton:
    """The same texts; raises GrammarLimitError when it would need more than MAX_STATES states."""
    useful = set(useful_states(counted.body))
    edges_of: dict[int, list[Edge]] = {}
    for edge in counted.body.edges:
        if edge[0] in useful and edge[1] in useful:
            edges_of.setdefault(edge[0], []).append(edge)
    # Beyond the least number of edges, none is told apart from more where there is no most.
    last = counted.min if counted.max is None else counted.max
    numbers = {(0, 0): 0}
    pending = [(0, 0)]
    edges: list[Edge] = []
    for state, count in pending:
        check()
        if count == last and counted.max is not None:
            continue
        for _, target, label in edges_of.get(state, ()):
            key = target, min(count + 1, last)
            if key not in numbers:
                if len(numbers) == MAX_STATES:
                    raise GrammarLimitError(
                        f"An automaton would need more than {MAX_STATES:,} states with its edges counted",
                        limit="automaton_states",
                        value=MAX_STATES,
                    )
                numbers[key] = len(numbers)
                pending.append(key)
            edges.append((numbers[state, count], numbers[key], label))
    ends = set(counted.body.accepting)
    accepting = [
        number for (state, count), number in numbers.items() if state in ends and count >= counted.min
    ]
    return Automaton(tuple(edges), tuple(accepting), len(numbers))
