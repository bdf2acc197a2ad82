"""What a conjunction of schemas asks of an object or of an array, with the goals of what is inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from operator import or_

from grammar_core.deadline import check
from grammar_core.frontends.json_schema.goals import Goal, join
from grammar_core.frontends.json_schema.key_sets import KeySet, has_key
from grammar_core.frontends.json_schema.paths import Path


def _unchanged(goal: Goal) -> Goal:
    return goal


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """Constraints on one object; all hold.

    `named`: goals of single keys, in order of mention. `rules`: goals of all keys of a set. `required`: keys
    in order of mention. `implications`: a key, and one that must then be there. `witnesses`: some key of the
    set has a value that meets the goal, with the keyword that says so. `evaluated`: sets of keys that
    unevaluatedProperties passes over. `is_open`: additional or unevaluated keys were spoken of.
    """

    named: dict[str, Goal] = field(default_factory=dict)
    rules: tuple[tuple[KeySet, Goal], ...] = ()
    required: tuple[str, ...] = ()
    implications: tuple[tuple[str, str], ...] = ()
    witnesses: tuple[tuple[KeySet, Goal, Path], ...] = ()
    min: int = 0
    max: int | None = None
    evaluated: tuple[KeySet, ...] = ()
    is_open: bool = False
    is_declared: bool = False
    path: Path = None

    def meet(self, other: ObjectShape, simplify: Callable[[Goal], Goal] = _unchanged) -> ObjectShape:
        """The constraints of both; `simplify` may drop what goals say twice."""
        named = {**self.named}
        for name, goal in other.named.items():
            before = named.get(name)
            named[name] = goal if before is None else simplify(join(before, goal))
        return ObjectShape(
            named,
            _united(self.rules, other.rules),
            _united(self.required, other.required),
            _united(self.implications, other.implications),
            self.witnesses + other.witnesses,
            max(self.min, other.min),
            _smaller(self.max, other.max),
            self.evaluated + other.evaluated,
            self.is_open or other.is_open,
            self.is_declared or other.is_declared,
            self.path if self.path is not None else other.path,
        )

    def goal_of(self, name: str) -> Goal:
        """What the value of a key has to meet."""
        goal = self.named.get(name, frozenset())
        for keys, rule in self.rules:
            if has_key(keys, name):
                goal = join(goal, rule)
        return goal

    def constraints(self) -> list[Hashable]:
        """What tells the shape from less constrained ones, each constraint apart."""
        found: list[Hashable] = [(name, literal) for name, goal in self.named.items() for literal in goal]
        found += self.required
        found += self.rules
        found += self.implications
        if self.witnesses:
            found += ((keys, goal, None) for keys, goal, _ in self.witnesses)
        if self.min:
            found += (("min", count, None, None) for count in range(min(self.min, 32)))
        if self.max is not None:
            found.append(("max", self.max, None, None))
        return found

    def without_evaluated(self) -> ObjectShape:
        """The shape with nothing evaluated."""
        return replace(self, evaluated=()) if self.evaluated else self


def absorbed(shapes: list[ObjectShape]) -> list[ObjectShape]:
    """The shapes without those that are a case of another one."""
    numbers: dict[Hashable, int] = {}
    owns: list[list[int]] = []
    for shape in shapes:
        check()
        owns.append([numbers.setdefault(constraint, len(numbers)) for constraint in shape.constraints()])
    counts = Counter(chain.from_iterable(owns))
    masks = [reduce(or_, (1 << number for number in own), 0) for own in owns]
    # Each one that is kept is under its rarest constraint, where the few that have this one look for it.
    by_rarest: list[list[int]] = [[] for _ in numbers]
    kept: list[int] = []
    for i in sorted(range(len(shapes)), key=lambda i: masks[i].bit_count()):
        check()
        own, others = owns[i], ~masks[i]
        if not own:
            return [shapes[i]]
        if not any(mask & others == 0 for number in own for mask in by_rarest[number]):
            kept.append(i)
            by_rarest[min(own, key=counts.__getitem__)].append(masks[i])
    return [shapes[i] for i in sorted(kept)]


@dataclass(frozen=True, slots=True, eq=False)
class ItemRule:
    """Items from `start` to before `stop` meet `goal`, but for those that meet one of `unless`."""

    start: int
    stop: int | None
    goal: Goal
    unless: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Contains:
    """From `start` on, at least `min` and at most `max` items meet `goal`; `path` is the keyword's."""

    start: int
    goal: Goal
    min: int
    max: int | None
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    """Constraints on one array; all hold.

    `unique`: the keyword that says that no two items are equal. `evaluated`: so many first items, and items
    that meet one of `evaluated_goals`, are passed over by unevaluatedItems; None: all.
    """

    rules: tuple[ItemRule, ...] = ()
    contains: tuple[Contains, ...] = ()
    min: int = 0
    max: int | None = None
    unique: Path = None
    evaluated: int | None = 0
    evaluated_goals: tuple[Goal, ...] = ()
    is_open: bool = False
    declared: int = 0
    path: Path = None

    def meet(self, other: ArrayShape) -> ArrayShape:
        """The constraints of both."""
        both = (self.evaluated, other.evaluated)
        return ArrayShape(
            _united(self.rules, other.rules),
            _united(self.contains, other.contains),
            max(self.min, other.min),
            _smaller(self.max, other.max),
            self.unique if self.unique is not None else other.unique,
            None if None in both else max(n for n in both if n is not None),
            self.evaluated_goals + other.evaluated_goals,
            self.is_open or other.is_open,
            max(self.declared, other.declared),
            self.path if self.path is not None else other.path,
        )

    def without_evaluated(self) -> ArrayShape:
        """The shape with nothing evaluated."""
        if self.evaluated == 0 and not self.evaluated_goals:
            return self
        return replace(self, evaluated=0, evaluated_goals=())


def _united(first: tuple, second: tuple) -> tuple:  # type: ignore[type-arg]
    """Both without repetition; equal goals and sets are found by their identity or value."""
    if not second:
        return first
    if not first:
        return second
    return first + tuple(item for item in second if item not in first)


def _smaller(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
