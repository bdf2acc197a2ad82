"""Rules as one graph of parts, and the cheapest text of each part.

The graph is what sampling walks and what tells which rules match anything at all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from grammar_core.deadline import check
from grammar_core.ir.member_orders import member_order
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Literal,
    Members,
    Regex,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    TagDispatch,
    TokenSet,
    child_expressions,
)


class Cost(NamedTuple):
    """What a text takes at least: its characters, then the rules entered and edges taken on the way."""

    characters: int
    steps: int

    def plus(self, other: Cost, times: int = 1) -> Cost:
        """The cost of this and so many times the other."""
        return Cost(self.characters + other.characters * times, self.steps + other.steps * times)


FREE = Cost(0, 0)
_STEP = Cost(0, 1)


class Leaf(NamedTuple):
    """A part without parts. Macros that match the empty string count as such."""

    expr: Expr


class AllOf(NamedTuple):
    """Parts one after another."""

    parts: list[int]


class OneOf(NamedTuple):
    """One of the parts."""

    parts: list[int]


class CountOf(NamedTuple):
    """A part so many times."""

    part: int
    min: int
    max: int | None


class RulePart(NamedTuple):
    """An occurrence of a rule: its body."""

    rule: Rule
    parts: list[int]


class DispatchOf(NamedTuple):
    """Free text and tags, each followed by its part."""

    dispatch: TagDispatch
    parts: list[int]


Part: TypeAlias = Leaf | AllOf | OneOf | CountOf | RulePart | DispatchOf


class DerivationGraph:
    """The parts of `rules`, each known by its number.

    `cheapest` has the least cost of every part that matches some text, and `best` for each OneOf the part
    that has it. Taking `best` everywhere ends, in a text of that cost.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        rules = tuple(rules)
        self.parts: list[Part] = [RulePart(rule, []) for rule in rules]
        self.rule_parts = {rule.name: number for number, rule in enumerate(rules)}
        for number, rule in enumerate(rules):
            _parts_of(self.parts[number]).append(self._add(rule.body))
        self.cheapest: dict[int, Cost] = {}
        self.best: dict[int, int] = {}
        _Settling(self).run()

    def cost_of_rule(self, name: str) -> Cost | None:
        """The cost of the cheapest text of the rule; None if it matches none."""
        return self.cheapest.get(self.rule_parts[name])

    def _new(self, part: Part) -> int:
        self.parts.append(part)
        return len(self.parts) - 1

    def _add(self, expr: Expr) -> int:
        """The number of the part that the expression becomes."""
        finished: list[int] = []
        pending: list[tuple[Expr, bool]] = [(expr, False)]
        while pending:
            check()
            current, are_children_finished = pending.pop()
            children = child_expressions(current)
            if children and not are_children_finished:
                pending.append((current, True))
                pending.extend((child, False) for child in reversed(children))
                continue
            begin = len(finished) - len(children)
            parts = finished[begin:]
            del finished[begin:]
            finished.append(self._part(current, parts))
        return finished[0]

    def _part(self, expr: Expr, parts: list[int]) -> int:
        if isinstance(expr, RuleRef):
            return self.rule_parts[expr.name]
        if isinstance(expr, (Regex, CountedAutomaton)):  # some text of the body is one of few enough edges
            return parts[0]
        if isinstance(expr, Sequence):
            return self._new(AllOf(parts))
        if isinstance(expr, Choice):
            return self._new(OneOf(parts))
        if isinstance(expr, Repeat):
            return self._new(CountOf(parts[0], expr.min, expr.max))
        if isinstance(expr, Automaton):
            return self._automaton(expr, parts)
        if isinstance(expr, Members):
            return self._members(expr, parts)
        if isinstance(expr, TagDispatch):
            return self._new(DispatchOf(expr, parts))
        return self._new(Leaf(expr))

    def _members(self, members: Members, parts: list[int]) -> int:
        """The members that must come, and at least one if any must."""
        if member_order(members).start < 0:
            return self._new(OneOf([]))
        required = [part for part, member in zip(parts, members.members, strict=False) if member.required]
        if members.min and not required:
            required.append(self._new(OneOf(parts[: len(members.members)])))
        return self._new(AllOf(required))

    def _automaton(self, automaton: Automaton, labels: list[int]) -> int:
        """A choice for each state: to end there or to take one of its edges."""
        states = [self._new(OneOf([])) for _ in range(automaton.state_count)]
        end = self._new(AllOf([]))
        for state in automaton.accepting:
            _parts_of(self.parts[states[state]]).append(end)
        for (source, target, _), label in zip(automaton.edges, labels, strict=True):
            edge = self._new(AllOf([label, states[target]]))
            _parts_of(self.parts[states[source]]).append(edge)
        return states[0]


def _parts_of(part: Part) -> list[int]:
    return part.parts if isinstance(part, (AllOf, OneOf, RulePart)) else []


class _Settling:
    """Settles parts in the order of their cost, so that each is settled once and for all.

    D. Knuth, "A generalization of Dijkstra's algorithm", 1977.
    """

    def __init__(self, graph: DerivationGraph) -> None:
        self._graph = graph
        self._users: list[list[int]] = [[] for _ in graph.parts]
        self._missing = [len(_parts_of(part)) for part in graph.parts]
        self._queue: list[tuple[Cost, int, int]] = []  # the cost, the part, and the choice that has it
        for number, part in enumerate(graph.parts):
            check()
            for needed in (part.part,) if isinstance(part, CountOf) else _parts_of(part):
                self._users[needed].append(number)
            self._begin(number, part)

    def run(self) -> None:
        cheapest = self._graph.cheapest
        while self._queue:
            check()
            cost, number, choice = heapq.heappop(self._queue)
            if number in cheapest:
                continue
            cheapest[number] = cost
            self._graph.best[number] = choice
            for user in self._users[number]:
                self._advance(user, number)

    def _begin(self, number: int, part: Part) -> None:
        if isinstance(part, Leaf):
            cost = _leaf_cost(part.expr)
            if cost is not None:
                self._offer(number, cost)
        elif _may_be_nothing(part):
            self._offer(number, FREE)

    def _advance(self, user: int, settled: int) -> None:
        part = self._graph.parts[user]
        if isinstance(part, CountOf):
            self._offer(user, FREE.plus(self._graph.cheapest[part.part], part.min))
        elif isinstance(part, OneOf):
            self._offer(user, self._graph.cheapest[settled], settled)
        else:
            self._missing[user] -= 1
            if self._missing[user] == 0:
                cost = _STEP
                for needed in _parts_of(part):
                    cost = cost.plus(self._graph.cheapest[needed])
                self._offer(user, cost)

    def _offer(self, number: int, cost: Cost, choice: int = -1) -> None:
        heapq.heappush(self._queue, (cost, number, choice))


def _may_be_nothing(part: Part) -> bool:
    if isinstance(part, CountOf):
        return part.min == 0
    return isinstance(part, DispatchOf) or (isinstance(part, AllOf) and not part.parts)


def _leaf_cost(expr: Expr) -> Cost | None:
    if isinstance(expr, Literal):
        return Cost(len(expr.value.decode()), 0)
    if isinstance(expr, CharClass):
        return Cost(1, 0) if expr.ranges else None
    return Cost(1, 0) if isinstance(expr, TokenSet) else FREE
