"""Terminals as nondeterministic automata over sets of characters (K. Thompson's construction, 1968)."""

from __future__ import annotations

from collections.abc import Callable

from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    Regex,
    Repeat,
    RuleRef,
    Sequence,
    Substring,
)
from grammar_core.passes.expand_substring import expand_substring


class PositionLimitError(Exception):
    """More nodes than the limit allows."""


class Positions:
    """Nodes with empty edges and with edges of one character of a set.

    `body_of` gives what a name matches.
    """

    def __init__(self, body_of: Callable[[str], Expr], limit: int) -> None:
        self._body_of = body_of
        self._limit = limit
        self.empty_edges: list[list[int]] = []
        self.atoms: list[list[tuple[int, int]]] = []
        """For each node: the number of a set of characters, and the node after one of them."""
        self.sets: dict[Ranges, int] = {}

    def add(self, expr: Expr) -> tuple[int, int]:
        """The first and the last node of an automaton for the expression. Raises PositionLimitError."""
        start, end = self._node(), self._node()
        pending = [(expr, start, end)]
        while pending:
            pending += self._connect(*pending.pop())
        return start, end

    def _connect(self, expr: Expr, start: int, end: int) -> list[tuple[Expr, int, int]]:
        """Lead from `start` to `end` over the expression; what of it is still to be done so."""
        if isinstance(expr, Literal):
            self._text(expr.value.decode(), start, end)
        elif isinstance(expr, CharClass):
            self._atom(expr.ranges, start, end)
        elif isinstance(expr, RuleRef):
            return [(self._body_of(expr.name), start, end)]
        elif isinstance(expr, Regex):
            return [(expr.body, start, end)]
        elif isinstance(expr, Sequence):
            return self._sequence(expr.items, start, end)
        elif isinstance(expr, Choice):
            return [(option, start, end) for option in expr.options]
        elif isinstance(expr, Repeat):
            return self._repeat(expr, start, end)
        elif isinstance(expr, Substring):
            return [(expand_substring(expr), start, end)]
        else:
            assert isinstance(expr, Automaton), "nothing else stands in a terminal"
            return self._automaton(expr, start, end)
        return []

    def _text(self, text: str, start: int, end: int) -> None:
        for character in text:
            following = self._node()
            self._atom(((ord(character), ord(character)),), start, following)
            start = following
        self.empty_edges[start].append(end)

    def _sequence(self, items: tuple[Expr, ...], start: int, end: int) -> list[tuple[Expr, int, int]]:
        left = []
        for item in items:
            following = self._node()
            left.append((item, start, following))
            start = following
        self.empty_edges[start].append(end)
        return left

    def _repeat(self, repeat: Repeat, start: int, end: int) -> list[tuple[Expr, int, int]]:
        left = []
        for _ in range(repeat.min):
            following = self._node()
            left.append((repeat.body, start, following))
            start = following
        if repeat.max is None:
            loop = self._node()
            self.empty_edges[start].append(loop)
            self.empty_edges[loop].append(end)
            return [*left, (repeat.body, loop, loop)]
        for _ in range(repeat.max - repeat.min):
            self.empty_edges[start].append(end)
            following = self._node()
            left.append((repeat.body, start, following))
            start = following
        self.empty_edges[start].append(end)
        return left

    def _automaton(self, automaton: Automaton, start: int, end: int) -> list[tuple[Expr, int, int]]:
        nodes = [self._node() for _ in range(automaton.state_count)]
        self.empty_edges[start].append(nodes[0])
        for state in automaton.accepting:
            self.empty_edges[nodes[state]].append(end)
        return [(label, nodes[source], nodes[target]) for source, target, label in automaton.edges]

    def _node(self) -> int:
        if len(self.atoms) == self._limit:
            raise PositionLimitError
        self.empty_edges.append([])
        self.atoms.append([])
        return len(self.atoms) - 1

    def _atom(self, ranges: Ranges, start: int, end: int) -> None:
        if ranges:
            self.atoms[start].append((self.sets.setdefault(ranges, len(self.sets)), end))
