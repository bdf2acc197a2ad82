"""Conditions on the rest of a text: Boolean combinations of atoms, as sets of terms.

A condition holds if one of its terms does; a term, if all of its literals do. A literal is the number of an
atom, positive or negated. No term contains another one, so every condition has few forms and there are
finitely many of them.
"""

from __future__ import annotations

from collections.abc import Iterable

Term = frozenset[int]
Condition = frozenset[Term]

NEVER: Condition = frozenset()
ALWAYS: Condition = frozenset([frozenset()])


class WorkLimitError(Exception):
    """More elementary steps than the budget allows."""


class ConditionAlgebra:
    """Combines conditions, and counts the terms it has to look at: `budget` of them at most."""

    def __init__(self, budget: int) -> None:
        self._left = budget

    def spend(self, steps: int) -> None:
        """Count steps. Raises WorkLimitError when the budget is used up."""
        self._left -= steps
        if self._left < 0:
            raise WorkLimitError

    def either(self, conditions: Iterable[Condition]) -> Condition:
        """At least one of the conditions."""
        kept = [condition for condition in conditions if condition]
        if len(kept) == 1:
            return kept[0]
        return self._without_larger(frozenset().union(*kept)) if kept else NEVER

    def both(self, one: Condition, other: Condition) -> Condition:
        """Both conditions."""
        if one == ALWAYS or not other:
            return other
        if other == ALWAYS or not one:
            return one
        self.spend(len(one) * len(other))
        products = {term | more for term in one for more in other}
        return self._without_larger(frozenset(term for term in products if not _is_contradiction(term)))

    def negation(self, condition: Condition) -> Condition:
        """Not the condition."""
        if not condition:
            return ALWAYS
        single = frozenset(-literal for term in condition if len(term) == 1 for literal in term)
        result: Condition = frozenset([single])
        for term in condition:
            if len(term) != 1:
                result = self.both(result, frozenset(frozenset([-literal]) for literal in term))
        return result

    def _without_larger(self, terms: Condition) -> Condition:
        """The same without terms that contain others: they hold only where those do."""
        if len(terms) < 2:
            return terms
        by_size = sorted(terms, key=len)
        self.spend(len(by_size))
        if len(by_size[0]) == len(by_size[-1]):
            return terms
        kept: list[Term] = []
        for term in by_size:
            self.spend(len(kept))
            if not any(smaller <= term for smaller in kept):
                kept.append(term)
        return frozenset(kept)


def _is_contradiction(term: Term) -> bool:
    return any(-literal in term for literal in term if literal < 0)
