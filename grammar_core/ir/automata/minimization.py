"""Minimal deterministic automata: no state that leads nowhere, no two states for the same texts."""

from __future__ import annotations

from grammar_core.deadline import check

Transitions = list[dict[int, int]]
"""For each state, the state after each letter. State 0 is the start; what is missing is refused."""


def minimize(transitions: Transitions, accepting: set[int]) -> tuple[Transitions, set[int]]:
    """The smallest automaton for the same texts; of one state, not accepting, if there are none.

    J. Hopcroft, "An n log n algorithm for minimizing states in a finite automaton", 1971.
    """
    live = _leading_to(transitions, accepting)
    if 0 not in live:
        return [{}], set()
    trimmed = [
        {letter: target for letter, target in row.items() if target in live} if state in live else {}
        for state, row in enumerate(transitions)
    ]
    blocks = _Partition(trimmed, live, accepting).refine()
    return _quotient(trimmed, accepting, blocks)


def _leading_to(transitions: Transitions, accepting: set[int]) -> set[int]:
    """The states from which an accepting one can be reached."""
    sources: dict[int, list[int]] = {}
    for state, row in enumerate(transitions):
        for target in row.values():
            sources.setdefault(target, []).append(state)
    found = set(accepting)
    pending = list(found)
    while pending:
        fresh = [state for state in sources.get(pending.pop(), ()) if state not in found]
        found.update(fresh)
        pending += fresh
    return found


class _Partition:
    """Blocks of states not yet told apart, split until none can be."""

    def __init__(self, transitions: Transitions, live: set[int], accepting: set[int]) -> None:
        self._sources: list[dict[int, list[int]]] = [{} for _ in transitions]
        for state in live:
            for letter, target in transitions[state].items():
                self._sources[target].setdefault(letter, []).append(state)
        self._blocks = [block for block in (accepting & live, live - accepting) if block]
        self._block_of = {state: number for number, block in enumerate(self._blocks) for state in block}

    def refine(self) -> dict[int, int]:
        """The number of the block of each state."""
        # What is refused leads to one more block, which need not split others: one block may be left out.
        pending = set(range(len(self._blocks)))
        while pending:
            for sources in self._sources_by_letter(self._blocks[pending.pop()]):
                self._split_by(sources, pending)
        return self._block_of

    def _sources_by_letter(self, block: set[int]) -> list[set[int]]:
        by_letter: dict[int, set[int]] = {}
        check()
        for state in block:
            for letter, sources in self._sources[state].items():
                by_letter.setdefault(letter, set()).update(sources)
        return list(by_letter.values())

    def _split_by(self, states: set[int], pending: set[int]) -> None:
        check()
        touched: dict[int, set[int]] = {}
        for state in states:
            touched.setdefault(self._block_of[state], set()).add(state)
        for number, inside in touched.items():
            block = self._blocks[number]
            if len(inside) == len(block):
                continue
            block -= inside
            smaller = inside
            if len(inside) > len(block) and number not in pending:
                self._blocks[number], smaller = inside, block
            new = len(self._blocks)
            self._blocks.append(smaller)
            for state in smaller:
                self._block_of[state] = new
            pending.add(new)


def _quotient(
    transitions: Transitions, accepting: set[int], blocks: dict[int, int]
) -> tuple[Transitions, set[int]]:
    """One state a block, numbered in the order in which they are reached from the start."""
    numbers = {blocks[0]: 0}
    members = [0]
    result: Transitions = []
    for member in members:  # grows as new blocks come up
        row = {}
        for letter, target in transitions[member].items():
            block = blocks[target]
            if block not in numbers:
                numbers[block] = len(members)
                members.append(target)
            row[letter] = numbers[block]
        result.append(row)
    return result, {number for number, member in enumerate(members) if member in accepting}
