"""Conditions on the rest of a text: Boolean combinations of position sets, as sets of terms.

A *literal* is the number of a set of atoms, all of one automaton, or that number negated: the rest of the
text is matched from one of the atoms, or from none. A *term* holds if all its literals do, a condition if
one of its terms does. Atoms that go together stay one literal, so a lookahead costs no more terms than the
states it is in, and nothing is multiplied out when several must hold at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.deadline import check

Term = frozenset[int]
Condition = frozenset[Term]
Atoms = frozenset[int]

NEVER: Condition = frozenset()
ALWAYS: Condition = frozenset([frozenset()])


# Literals that are copied in the time of one elementary step.
_COPIED_A_STEP = 8


class WorkLimitError(Exception):
    """More elementary steps than the budget allows."""


class ConditionAlgebra:
    """Numbers sets of atoms and combines conditions, in at most `budget` elementary steps.

    `owners` names the automaton of each atom; 0 is that of the whole pattern. Every term of a condition
    on a whole text has just one literal of that one, and it is positive.
    """

    def __init__(self, owners: list[int], budget: int) -> None:
        self._owners = owners
        self._left = budget
        self._numbers: dict[Atoms, int] = {}
        self.atoms_of: list[Atoms] = [frozenset()]
        self._owner_of = [-1]

    def spend(self, steps: int) -> None:
        """Count steps. Raises WorkLimitError when the budget is used up."""
        check()
        self._left -= steps
        if self._left < 0:
            raise WorkLimitError

    def any_of(self, atoms: Iterable[int]) -> Condition:
        """The rest of the text is matched from one of the atoms, which are of one automaton."""
        wanted = frozenset(atoms)
        return frozenset([frozenset([self._number(wanted)])]) if wanted else NEVER

    def either(self, conditions: Iterable[Condition]) -> Condition:
        """At least one of the conditions."""
        kept = [condition for condition in conditions if condition]
        if len(kept) < 2:
            return kept[0] if kept else NEVER
        return self._normal(frozenset().union(*kept))

    def both(self, one: Condition, other: Condition) -> Condition:
        """Both conditions."""
        if one == ALWAYS or not other:
            return other
        if other == ALWAYS or not one:
            return one
        self.spend(
            len(one) * len(other) + (_size(one) * len(other) + len(one) * _size(other)) // _COPIED_A_STEP
        )
        products = {term | more for term in one for more in other}
        return self._normal(frozenset(term for term in products if not _is_contradiction(term)))

    def negation(self, condition: Condition) -> Condition:
        """Not the condition."""
        single = [next(iter(term)) for term in condition if len(term) == 1]
        result: Condition = frozenset([frozenset(-literal for literal in single)])
        for term in condition:
            if len(term) != 1:
                result = self.both(result, frozenset(frozenset([-literal]) for literal in term))
        return result

    def _number(self, atoms: Atoms) -> int:
        number = self._numbers.get(atoms)
        if number is None:
            self.spend(len(atoms))
            number = self._numbers[atoms] = len(self.atoms_of)
            self.atoms_of.append(atoms)
            self._owner_of.append(self._owners[next(iter(atoms))])
        return number

    def _normal(self, terms: Condition) -> Condition:
        """The same condition with few terms: those that differ in one set of atoms become one term.

        A term that holds only where another one does is left out, or keeps the atoms that the other lacks.
        """
        if len(terms) < 2:
            return terms
        groups: dict[tuple[Term, int], set[int]] = {}
        for term in terms:
            self.spend(1 + len(term) // _COPIED_A_STEP)
            pivot = self._pivot(term)
            key = (term - {pivot}, self._owner_of[pivot])
            groups.setdefault(key, set()).update(self.atoms_of[pivot])
        if len(groups) > 1:
            self._subtract_smaller(groups)
        left = [(rest, atoms) for (rest, owner), atoms in groups.items() if atoms or owner < 0]
        return frozenset(self._term(rest, atoms) for rest, atoms in left)

    def _pivot(self, term: Term) -> int:
        """The literal whose atoms may grow: that of the whole pattern, or the only one; otherwise 0."""
        for literal in term:
            if literal > 0 and (len(term) == 1 or self._owner_of[literal] == 0):
                return literal
        return 0

    def _term(self, rest: Term, atoms: set[int]) -> Term:
        return rest | {self._number(frozenset(atoms))} if atoms else rest

    def _subtract_smaller(self, groups: dict[tuple[Term, int], set[int]]) -> None:
        by_size = sorted(groups, key=lambda key: len(key[0]))
        for index, larger in enumerate(by_size):
            self.spend(index * (1 + len(larger[0]) // _COPIED_A_STEP))
            for smaller in by_size[:index]:
                # Where a term without a pivot holds, the larger one adds nothing at all.
                if smaller in groups and smaller[0] <= larger[0]:
                    if smaller[1] < 0:
                        del groups[larger]
                        break
                    if smaller[1] == larger[1]:
                        groups[larger] -= groups[smaller]


def _size(condition: Condition) -> int:
    return sum(map(len, condition))


def _is_contradiction(term: Term) -> bool:
    return any(-literal in term for literal in term if literal < 0)
