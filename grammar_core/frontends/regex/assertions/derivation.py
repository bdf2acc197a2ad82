"""Conditions at a place of a text, and how a character turns them into those at the next place."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.regex.assertions.conditions import ALWAYS, NEVER, Condition, ConditionAlgebra
from grammar_core.frontends.regex.assertions.positions import END_OF_TEXT, Positions

_Reached = dict[int, Condition]
_Behind = tuple[tuple[tuple[int, Condition], ...], ...]


class Place:
    """What lies behind a place, as far as the looks of the pattern can tell.

    `outcomes` has the conditions for each look to succeed and to fail here, `active` for each lookbehind the
    atoms that it waits for, with the condition for each.
    """

    def __init__(self, look_count: int) -> None:
        self.outcomes: list[tuple[Condition, Condition]] = [(NEVER, ALWAYS)] * look_count
        self.active: dict[int, list[tuple[int, Condition]]] = {}
        self.derived: dict[tuple[int, int], Condition] = {}
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
        self._literal_masks: dict[int, int] = {}
        self._look_ends = {look.end for look in positions.looks}
        self._places: dict[_Behind, Place] = {}

    def start(self) -> tuple[Place, Condition]:
        """The place before the first character, and the condition on a text to be matched."""
        looks = enumerate(self._positions.looks)
        seeds = {look: {part.start: ALWAYS} for look, part in looks if self._positions.is_behind[look]}
        place = self._new_place(seeds, None)
        return place, self._after([self._positions.main.start], place)

    def letters(self, condition: Condition, all_letters: int) -> int:
        """Mask of the letters that may matter to the condition; any other makes it fail."""
        taken = 0
        for term in condition:
            letters = all_letters
            for literal in term:
                if literal > 0:
                    letters &= self._mask(literal)
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
        atoms_of = self._algebra.atoms_of
        return any(
            all((literal > 0) == (END_OF_TEXT in atoms_of[abs(literal)]) for literal in term)
            for term in condition
        )

    def _mask(self, literal: int) -> int:
        """The letters that some atom of the literal takes."""
        mask = self._literal_masks.get(literal)
        if mask is None:
            mask = 0
            for atom in self._algebra.atoms_of[literal]:
                mask |= self._masks[atom]
            self._literal_masks[literal] = mask
        return mask

    def _derive_term(self, term: frozenset[int], step: _Step) -> Condition:
        result = ALWAYS
        for literal in term:
            result = self._algebra.both(result, self._derive_literal(literal, step))
            if not result:
                return NEVER
        return result

    def _derive_literal(self, literal: int, step: _Step) -> Condition:
        key = (literal, step.letter)
        derived = step.place.derived.get(key)
        if derived is None:
            derived = step.place.derived[key] = self._derive_anew(literal, step)
        return derived

    def _derive_anew(self, literal: int, step: _Step) -> Condition:
        if literal < 0:
            return self._algebra.negation(self._derive_literal(-literal, step))
        atoms = self._algebra.atoms_of[literal]
        self._algebra.spend(len(atoms))
        taken = [atom for atom in atoms if self._masks[atom] >> step.letter & 1]
        return self._after([self._positions.atoms[atom].target for atom in taken], step.place)

    def _after(self, nodes: list[int], place: Place) -> Condition:
        """The condition on the rest of the text to lead from one of the nodes to their automaton's end."""
        atoms: dict[Condition, list[int]] = {}
        parts: list[Condition] = []
        for node, condition in self._reach(dict.fromkeys(nodes, ALWAYS), place).items():
            if node in self._look_ends:
                parts.append(condition)
            elif node == self._positions.main.end:
                atoms.setdefault(condition, []).append(END_OF_TEXT)
            atoms.setdefault(condition, []).extend(self._positions.atoms_at[node])
        for condition, together in atoms.items():
            parts.append(self._algebra.both(condition, self._algebra.any_of(together)))
        return self._algebra.either(parts)

    def _reach(self, seeds: _Reached, place: Place) -> _Reached:
        """The nodes that empty edges lead to from the seeds, each with the condition for that."""
        algebra = self._algebra
        reached = dict(seeds)
        pending = list(seeds)
        while pending:
            node = pending.pop()
            algebra.spend(len(self._positions.empty_edges[node]))
            for target, guard in self._positions.empty_edges[node]:
                condition = reached[node]
                if guard is not None:
                    condition = algebra.both(condition, place.outcomes[guard.look][guard.negated])
                before = reached.get(target, NEVER)
                if before == ALWAYS:
                    continue
                after = algebra.either([before, condition])
                if after != before:
                    reached[target] = after
                    pending.append(target)
        return reached

    def _new_place(self, seeds: dict[int, _Reached], before: Place | None, letter: int = 0) -> Place:
        """The place of these seeds or, given the place before, one letter after it."""
        place = Place(len(self._positions.looks))
        self._algebra.spend(len(self._positions.looks))
        for look in self._positions.order:
            start, end = self._positions.looks[look]
            if self._positions.is_behind[look]:
                if before is not None:
                    seeds[look] = self._move(before.active[look], _Step(letter, place))
                reached = self._reach(seeds[look], place)
                place.active[look] = self._waiting(reached)
                succeeds = reached.get(end, NEVER)
            else:
                succeeds = self._after([start], place)
            place.outcomes[look] = (succeeds, self._algebra.negation(succeeds))
        key = tuple(tuple(sorted(seeds[look].items(), key=_by_node)) for look in sorted(seeds))
        return self._places.setdefault(key, place)

    def _waiting(self, reached: _Reached) -> list[tuple[int, Condition]]:
        return [(atom, reached[node]) for node in reached for atom in self._positions.atoms_at[node]]

    def _move(self, active: list[tuple[int, Condition]], step: _Step) -> _Reached:
        moved: _Reached = {}
        self._algebra.spend(len(active))
        for atom, condition in active:
            if self._masks[atom] >> step.letter & 1:
                target = self._positions.atoms[atom].target
                derived = self.derive(condition, step.letter, step.place)
                if derived:
                    moved[target] = self._algebra.either([moved.get(target, NEVER), derived])
        return moved


def _by_node(entry: tuple[int, Condition]) -> int:
    return entry[0]
