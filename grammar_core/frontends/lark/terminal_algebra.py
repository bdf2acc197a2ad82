"""`&` and `~` of terminals: deterministic automata over characters, combined.

Terminals are regular, so texts that several of them match, or that one does not, are again those of an
automaton. The letters of the automata are the sets of characters that no terminal tells apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from grammar_core.deadline import check
from grammar_core.frontends.lark.errors import limit_error
from grammar_core.frontends.lark.limits import (
    MAX_ALGEBRA_POSITIONS,
    MAX_ALGEBRA_STATES,
    MAX_ALGEBRA_WORK,
)
from grammar_core.frontends.lark.namespace import Definition, Namespace, Product
from grammar_core.frontends.lark.positions import PositionLimitError, Positions
from grammar_core.frontends.regex.assertions.alphabet import partition
from grammar_core.ir.automata.minimal_expression import minimal_expression
from grammar_core.ir.automata.minimization import Transitions
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import Expr, RuleRef

State = TypeVar("State")
_HINT = "terminals with & and ~ become finite automata; simplify them or shorten their repetitions"


class _StateLimitError(Exception):
    """More states than the limit allows."""


class _WorkLimitError(Exception):
    """More elementary steps than the limit allows."""


def combine_terminals(
    namespace: Namespace, order: list[Definition], add: Callable[[str, Expr], RuleRef]
) -> None:
    """Add a rule for each combination in the namespace, in `order` of the terminals. GrammarLimitError."""
    by_terminal: dict[str, list[tuple[str, Product]]] = {}
    for name, product in namespace.products.items():
        by_terminal.setdefault(product.terminal, []).append((name, product))
    combined: dict[str, Expr] = {}

    def body_of(name: str) -> Expr:
        if name in combined:
            return combined[name]
        return namespace.definitions[name.removeprefix(namespace.prefix)].body

    for terminal in (*(definition.name for definition in order), "ignored"):
        for name, product in by_terminal.get(terminal, ()):
            combined[name] = _combine(namespace, product, body_of)
            add(name, combined[name])


def _combine(namespace: Namespace, product: Product, body_of: Callable[[str], Expr]) -> Expr:
    try:
        return _Combination(product, body_of).expression()
    except PositionLimitError:
        limit, value = "terminal_positions", MAX_ALGEBRA_POSITIONS
        message = f"The terminal needs more than {value:,} positions: {_HINT}"
    except _StateLimitError:
        limit, value = "terminal_states", MAX_ALGEBRA_STATES
        message = f"The terminal needs more than {value:,} states: {_HINT}"
    except _WorkLimitError:
        limit, value = "terminal_work", MAX_ALGEBRA_WORK
        message = f"The terminal needs more than {value:,} steps to compile: {_HINT}"
    raise limit_error(message, namespace.text, product.offset, limit, value)


class _Combination:
    """All operands in one numbering of positions and letters."""

    def __init__(self, product: Product, body_of: Callable[[str], Expr]) -> None:
        self._product = product
        self._positions = Positions(body_of, MAX_ALGEBRA_POSITIONS)
        self._ends = [self._positions.add(operand) for operand in product.operands]
        sets = list(self._positions.sets)
        self._left = MAX_ALGEBRA_WORK
        self._spend(len(sets) * sum(map(len, sets)) // 64)
        self._letters, self._masks = partition([*sets, ANY_CHARACTER])

    def expression(self) -> Expr:
        automata = [self._determinize(start, end) for start, end in self._ends]
        if self._product.operator == "~":
            transitions, accepting = self._complement(*automata[0])
        else:
            transitions, accepting = automata[0]
            for others in automata[1:]:
                transitions, accepting = self._intersection((transitions, accepting), others)
        return minimal_expression(transitions, accepting, self._letters)

    def _determinize(self, start: int, end: int) -> tuple[Transitions, set[int]]:
        """Subset construction."""
        first = self._closure({start})
        numbers = {first: 0}
        pending = [first]
        transitions: Transitions = []
        accepting: set[int] = set()
        for nodes in pending:  # grows as new subsets come up
            if end in nodes:
                accepting.add(len(transitions))
            row: dict[int, int] = {}
            for letter, targets in self._moves(nodes).items():
                following = self._closure(targets)
                row[letter] = self._number(following, numbers, pending)
            transitions.append(row)
        return transitions, accepting

    def _moves(self, nodes: frozenset[int]) -> dict[int, set[int]]:
        moves: dict[int, set[int]] = {}
        for node in nodes:
            for set_number, target in self._positions.atoms[node]:
                letters = self._masks[set_number]
                self._spend(1 + letters.bit_count())
                while letters:
                    lowest = letters & -letters
                    moves.setdefault(lowest.bit_length() - 1, set()).add(target)
                    letters ^= lowest
        return moves

    def _closure(self, nodes: set[int]) -> frozenset[int]:
        reached = set(nodes)
        pending = list(nodes)
        while pending:
            following = self._positions.empty_edges[pending.pop()]
            self._spend(1 + len(following))
            fresh = [node for node in following if node not in reached]
            reached.update(fresh)
            pending += fresh
        return frozenset(reached)

    def _complement(self, transitions: Transitions, accepting: set[int]) -> tuple[Transitions, set[int]]:
        """Every text that is not accepted: with one more state for those that cannot become accepted."""
        sink = len(transitions)
        self._spend((sink + 1) * len(self._letters))
        letters = range(len(self._letters))
        total = [{letter: row.get(letter, sink) for letter in letters} for row in (*transitions, {})]
        return total, set(range(sink + 1)) - accepting

    def _intersection(
        self, one: tuple[Transitions, set[int]], other: tuple[Transitions, set[int]]
    ) -> tuple[Transitions, set[int]]:
        numbers = {(0, 0): 0}
        pending = [(0, 0)]
        transitions: Transitions = []
        accepting: set[int] = set()
        for left, right in pending:  # grows as new pairs come up
            if left in one[1] and right in other[1]:
                accepting.add(len(transitions))
            self._spend(1 + len(one[0][left]))
            row: dict[int, int] = {}
            for letter, target in one[0][left].items():
                beside = other[0][right].get(letter)
                if beside is not None:
                    row[letter] = self._number((target, beside), numbers, pending)
            transitions.append(row)
        return transitions, accepting

    def _number(self, state: State, numbers: dict[State, int], pending: list[State]) -> int:
        number = numbers.get(state)
        if number is None:
            if len(numbers) == MAX_ALGEBRA_STATES:
                raise _StateLimitError
            number = numbers[state] = len(numbers)
            pending.append(state)
        return number

    def _spend(self, steps: int) -> None:
        check()
        self._left -= steps
        if self._left < 0:
            raise _WorkLimitError
