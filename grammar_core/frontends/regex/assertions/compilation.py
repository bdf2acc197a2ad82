"""A pattern with assertions as a minimal deterministic automaton over characters."""

from __future__ import annotations

from grammar_core.frontends.regex.assertions.algebra import compile_by_algebra
from grammar_core.frontends.regex.assertions.alphabet import partition
from grammar_core.frontends.regex.assertions.conditions import ConditionAlgebra, WorkLimitError
from grammar_core.frontends.regex.assertions.derivation import Derivation
from grammar_core.frontends.regex.assertions.positions import PositionLimitError, Positions
from grammar_core.frontends.regex.errors import limit_error
from grammar_core.frontends.regex.limits import (
    MAX_AUTOMATON_POSITIONS,
    MAX_AUTOMATON_STATES,
    MAX_AUTOMATON_WORK,
)
from grammar_core.frontends.regex.syntax_tree import Tree
from grammar_core.ir.automata.minimal_expression import minimal_expression
from grammar_core.ir.automata.minimization import Transitions
from grammar_core.ir.nodes import Expr

_BITS_A_STEP = 64
_HINT = "patterns with assertions become finite automata; simplify the assertions or shorten the repetitions"


class _StateLimitError(Exception):
    """More states than the limit allows."""


def compile_assertions(pattern: str, tree: Tree) -> Expr:
    """The texts that the tree of the pattern matches. Raises GrammarLimitError."""
    found = compile_by_algebra(tree)
    if found is not None:
        return found
    try:
        return _compile(tree)
    except PositionLimitError:
        limit, value = "automaton_positions", MAX_AUTOMATON_POSITIONS
        message = f"The pattern needs more than {value:,} positions: {_HINT}"
    except _StateLimitError:
        limit, value = "automaton_states", MAX_AUTOMATON_STATES
        message = f"The pattern needs more than {value:,} states: {_HINT}"
    except WorkLimitError:
        limit, value = "automaton_work", MAX_AUTOMATON_WORK
        message = f"The pattern needs more than {value:,} steps to compile: {_HINT}"
    raise limit_error(message, pattern, 0, limit, value)


def _compile(tree: Tree) -> Expr:
    positions = Positions(tree, MAX_AUTOMATON_POSITIONS)
    algebra = ConditionAlgebra(positions.owners, MAX_AUTOMATON_WORK)
    algebra.spend(len(positions.sets) * sum(map(len, positions.sets)) // _BITS_A_STEP)
    letters, masks = partition(list(positions.sets))
    transitions, accepting = _determinize(Derivation(positions, masks, algebra), len(letters))
    return minimal_expression(transitions, accepting, letters)


def _determinize(derivation: Derivation, letter_count: int) -> tuple[Transitions, set[int]]:
    all_letters = (1 << letter_count) - 1
    numbers = {derivation.start(): 0}
    pending = list(numbers)
    transitions: Transitions = []
    accepting: set[int] = set()
    for place, condition in pending:  # grows as new states come up
        if derivation.holds_at_end(condition):
            accepting.add(len(transitions))
        row: dict[int, int] = {}
        letters = derivation.letters(condition, all_letters)
        while letters:
            letter = (letters & -letters).bit_length() - 1
            letters &= letters - 1
            following = derivation.next_place(place, letter)
            state = (following, derivation.derive(condition, letter, following))
            if not state[1]:
                continue
            if state not in numbers:
                if len(numbers) == MAX_AUTOMATON_STATES:
                    raise _StateLimitError
                numbers[state] = len(numbers)
                pending.append(state)
            row[letter] = numbers[state]
        transitions.append(row)
    return transitions, accepting
