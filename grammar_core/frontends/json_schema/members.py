"""Members of objects and of arrays whose order or number matters, as one expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grammar_core.frontends.json_schema.errors import JsonSchemaLimitError
from grammar_core.ir.nodes import Automaton, Edge, Expr, RuleRef, Sequence

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.emission import Emitter

_MAX_STATES = 20_000


class MemberSpec(NamedTuple):
    """One member, or one kind of member that may be repeated."""

    rule: RuleRef
    is_required: bool
    is_repeatable: bool


def members_expression(
    emitter: Emitter,
    specs: list[MemberSpec],
    separator: RuleRef,
    ordered: bool,
    low: int,
    high: int | None,
    implications: tuple[tuple[int, int], ...],
) -> Expr | None:
    """The members with separators between them, `low` to `high` of them; None if that is impossible."""
    return _Unfolding(emitter, specs, separator, ordered, low, high, implications).expression()


class _Unfolding:
    """The automaton of the members; a state is what was read of them, as far as it matters."""

    def __init__(
        self,
        emitter: Emitter,
        specs: list[MemberSpec],
        separator: RuleRef,
        ordered: bool,
        low: int,
        high: int | None,
        implications: tuple[tuple[int, int], ...],
    ) -> None:
        self.emitter = emitter
        self.specs = specs
        self.separator = separator
        self.ordered = ordered
        self.low = low
        self.high = high
        self.implications = implications
        self.cap = low if high is None else high
        self.noted = {i for pair in implications for i in pair}
        for i, spec in enumerate(specs):
            if spec.is_repeatable and spec.is_required:
                self.noted.add(i)
            if not ordered and not spec.is_repeatable:
                self.noted.add(i)

    def expression(self) -> Expr | None:
        start = (0, 0, frozenset[int]())
        numbers = {start: 0}
        pending = [start]
        edges: list[Edge] = []
        accepting = []
        while pending:
            state = pending.pop()
            if self.is_complete(state):
                accepting.append(numbers[state])
            for index, target in self.moves(state):
                if target not in numbers:
                    if len(numbers) > _MAX_STATES:
                        raise JsonSchemaLimitError(
                            "An object has too many combinations of members", limit="members", value=_MAX_STATES
                        )
                    numbers[target] = len(numbers)
                    pending.append(target)
                rule = self.specs[index].rule
                if state[1]:
                    rule = self.emitter.define("next", Sequence((self.separator, rule)))
                edges.append((numbers[state], numbers[target], rule))
        if not accepting:
            return None
        return Automaton(tuple(edges), tuple(accepting), len(numbers))

    def moves(self, state: tuple[int, int, frozenset[int]]) -> list[tuple[int, tuple[int, int, frozenset[int]]]]:
        position, count, seen = state
        if self.high is not None and count >= self.high:
            return []
        found = []
        blocked = False
        for index, spec in enumerate(self.specs):
            following = position
            if not spec.is_repeatable:
                if self.ordered:
                    if index < position or blocked:
                        continue
                    blocked = spec.is_required
                    following = index + 1
                elif index in seen:
                    continue
            now = seen | {index} if index in self.noted else seen
            found.append((index, (following, min(count + 1, max(self.cap, 1)), now)))
        return found

    def is_complete(self, state: tuple[int, int, frozenset[int]]) -> bool:
        position, count, seen = state
        if count < self.low:
            return False
        for index, spec in enumerate(self.specs):
            if spec.is_required:
                missing = index not in seen if index in self.noted else index >= position
                if missing:
                    return False
        return all(j in seen for i, j in self.implications if i in seen)
