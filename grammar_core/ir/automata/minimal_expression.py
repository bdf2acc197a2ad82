"""A deterministic automaton over letters as the smallest expression over characters."""

from __future__ import annotations

from grammar_core.ir.automata.minimization import Transitions, minimize
from grammar_core.ir.char_ranges import Ranges, normalize_ranges
from grammar_core.ir.nodes import EMPTY, Automaton, CharClass, Expr


def minimal_expression(transitions: Transitions, accepting: set[int], letters: list[Ranges]) -> Expr:
    """The texts that the automaton accepts; each letter stands for the characters of its ranges."""
    transitions, accepting = minimize(transitions, accepting)
    if not accepting:
        return CharClass(())
    if not any(transitions):
        return EMPTY
    return Automaton(_edges(transitions, letters), tuple(sorted(accepting)), len(transitions))


def _edges(transitions: Transitions, letters: list[Ranges]) -> tuple[tuple[int, int, CharClass], ...]:
    edges = []
    for source, row in enumerate(transitions):
        by_target: dict[int, list[tuple[int, int]]] = {}
        for letter, target in row.items():
            by_target.setdefault(target, []).extend(letters[letter])
        edges += [(source, target, CharClass(normalize_ranges(r))) for target, r in by_target.items()]
    return tuple(edges)
