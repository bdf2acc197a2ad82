"""Conditions at a place of a text, and how a character turns them into those at the next place."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.regex.assertions.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    ConditionAlgebra,
)
from grammar_core.frontends.regex.assertions.positions import END_OF_TEXT, Positions

_AT_END: Condition = frozenset([frozenset([END_OF_TEXT])])
_Reached = dict[int, Condition]
Behind = tuple[tuple[tuple[int, Condition], ...], ...]


class Place:
    """What lies behind a place, as far as the looks of the pattern can tell.

    `outcomes` has the condition for each look to succeed here, `active` for each lookbehind the atoms that
    it waits for, with the condition for each.
    """

    def __init__(self, look_count: int) -> None:
        self.outcomes: list[tuple[Condition, Condition]] = [(NEVER, ALWAYS)] * look_count
        self.active: dict[int, list[tuple[int, Condition]]] = {}
        self.after_cache: dict[tuple[int, bool], Condition] = {}
        self.next: dict[int, Place] = {}


class _Step(NamedTuple):
    """From one place to the next, over one letter."""

    letter: int
    place: Place


class Derivation:
    """The conditions of a pattern. Letters are the numbers of the alphabet's letters."""

    def __init__(self, positions: Positions, masks: list[int], algebra: ConditionAlgebra) -> None:
        self._positions = positions
        self._algebra = algebra
        self._masks = [0, 0, *(masks[atom.set_number] for atom in positions.atoms[2:])]
        self._ends: dict[int, Condition] = {look.end: ALWAYS for look in positions.looks}
        self._ends[positions.main.end] = _AT_END
        self._places: dict[Behind, Place] = {}

    def start(self) -> tuple[Place, Condition]:
        """The place before the first character, and the condition on a text to be matched."""
        seeds: dict[int, _Reached] = {}
        for look, automaton in enumerate(self._positions.looks):
            if self._positions.is_behind[look]:
                seeds[look] = {automaton.start: ALWAYS}
        place = self._new_place(seeds, None)
        return place, self._after(self._positions.main.start, place)

    def letters(self, condition: Condition, all_letters: int) -> int:
        """Mask of the letters that may matter to the condition; any other makes it fail."""
        taken = 0
        for term in condition:
            letters = all_letters
            for literal in term:
                if literal > 0:
                    letters &= self._masks[literal]
            taken |= letters
        return taken

    def next_place(self, place: Place, letter: int) -> Place:
        """The place one letter further."""
        if letter not in place.next:
            place.next[letter] = self._new_place({}, place, letter)
        return place.next[letter]

    def derive(self, condition: Condition, letter: int, place: Place) -> Condition:
        """The condition on the rest of the text after the letter, which leads to `place`."""
        step = _Step(letter, place)
        return self._algebra.either([self._derive_term(term, step) for term in condition])

    def holds_at_end(self, condition: Condition) -> bool:
        """Whether the condition holds where the text ends."""
        return any(all(map(_holds_at_end, term)) for term in condition)

    def _derive_term(self, term: frozenset[int], step: _Step) -> Condition:
        result = ALWAYS
        for literal in sorted(term, reverse=True):
            result = self._algebra.both(result, self._derive_literal(literal, step))
            if not result:
                return NEVER
        return result

    def _derive_literal(self, literal: int, step: _Step) -> Condition:
        atom = abs(literal)
        self._algebra.spend(1)
        if not self._masks[atom] >> step.letter & 1:
            return NEVER if literal > 0 else ALWAYS
        target = self._positions.atoms[atom].target
        return self._after(target, step.place) if literal > 0 else self._not_after(target, step.place)

    def _after(self, node: int, place: Place) -> Condition:
        """The condition on the rest of the text to lead from the node to the end of its automaton."""
        key = (node, True)
        if key not in place.after_cache:
            place.after_cache[key] = self._condition(self._reach({node: ALWAYS}, place))
        return place.after_cache[key]

    def _not_after(self, node: int, place: Place) -> Condition:
        key = (node, False)
        if key not in place.after_cache:
            place.after_cache[key] = self._algebra.negation(self._after(node, place))
        return place.after_cache[key]

    def _condition(self, reached: _Reached) -> Condition:
        algebra, positions = self._algebra, self._positions
        parts: list[Condition] = []
        for node, condition in reached.items():
            if node in self._ends:
                parts.append(algebra.both(condition, self._ends[node]))
            atoms = positions.atoms_at[node]
            if atoms:
                parts.append(algebra.both(condition, frozenset(frozenset([atom]) for atom in atoms)))
        return algebra.either(parts)

    def _reach(self, seeds: _Reached, place: Place) -> _Reached:
        """The nodes that empty edges lead to from the seeds, each with the condition for that."""
        algebra = self._algebra
        reached = dict(seeds)
        pending = list(seeds)
        while pending:
            node = pending.pop()
            for target, guard in self._positions.empty_edges[node]:
                algebra.spend(1)
                condition = reached[node]
                if guard is not None:
                    condition = algebra.both(condition, place.outcomes[guard.look][guard.negated])
                before = reached.get(target, NEVER)
                after = algebra.either([before, condition])
                if after != before:
                    reached[target] = after
                    pending.append(target)
        return reached

    def _new_place(self, seeds: dict[int, _Reached], before: Place | None, letter: int = 0) -> Place:
        """The place of these seeds or, given the place before, one letter after it."""
        place = Place(len(self._positions.looks))
        for look in self._positions.order:
            start, end = self._positions.looks[look]
            if self._positions.is_behind[look]:
                if before is not None:
                    seeds[look] = self._move(before.active[look], _Step(letter, place))
                reached = self._reach(seeds[look], place)
                place.active[look] = [
                    (atom, condition)
                    for node, condition in reached.items()
                    for atom in self._positions.atoms_at[node]
                ]
                succeeds = reached.get(end, NEVER)
            else:
                succeeds = self._after(start, place)
            place.outcomes[look] = (succeeds, self._algebra.negation(succeeds))
        key = tuple(tuple(sorted(seeds[look].items(), key=_by_node)) for look in sorted(seeds))
        return self._places.setdefault(key, place)

    def _move(self, active: list[tuple[int, Condition]], step: _Step) -> _Reached:
        moved: _Reached = {}
        for atom, condition in active:
            self._algebra.spend(1)
            if self._masks[atom] >> step.letter & 1:
                target = self._positions.atoms[atom].target
                derived = self.derive(condition, step.letter, step.place)
                if derived:
                    moved[target] = self._algebra.either([moved.get(target, NEVER), derived])
        return moved


def _holds_at_end(literal: int) -> bool:
    """Only END_OF_TEXT holds where no characters are left, and only that one's negation does not."""
    return literal == END_OF_TEXT if literal > 0 else literal != -END_OF_TEXT


def _by_node(entry: tuple[int, Condition]) -> int:
    return entry[0]
