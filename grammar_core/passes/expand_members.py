"""Members as an automaton with a state for every list that can be told apart.

The native core makes those states on demand. Who needs all of them at once, for instance to look for the
shortest text, takes this pass: there can be exponentially many, so it has a limit.
"""

from __future__ import annotations

from grammar_core import _native
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.member_orders import member_order
from grammar_core.ir.nodes import Automaton, CharClass, Edge, Expr, Members, RuleRef

MAX_EDGES = 50_000
"""Edges of the automaton of one Members."""


def expand_members(members: Members) -> Expr:
    """The automaton; a class without characters when no list is possible.

    Raises GrammarLimitError when it would need more than MAX_EDGES edges.
    """
    order = member_order(members)
    return CharClass(()) if order.start < 0 else _Expansion(members, order).run()


class _Expansion:
    """Two states for each list: one before a member and one behind it, where the list may end."""

    def __init__(self, members: Members, order: _native.MemberOrder) -> None:
        self._members = members
        self._order = order
        self._states: dict[tuple[int, bool], int] = {}
        self._pending: list[tuple[int, bool]] = []
        self._edges: list[Edge] = []

    def run(self) -> Automaton:
        self._state(self._order.start, behind=False)
        accepting = [0] if self._order.is_complete(self._order.start) else []
        while self._pending:
            configuration, behind = self._pending.pop()
            if not behind:
                self._add_members(self._states[configuration, False], configuration)
                continue
            state = self._states[configuration, True]
            if self._order.is_complete(configuration):
                accepting.append(state)
            self._go_on(state, configuration)
        return Automaton(tuple(self._edges), tuple(accepting), len(self._states))

    def _state(self, configuration: int, *, behind: bool) -> int:
        key = configuration, behind
        if key not in self._states:
            self._states[key] = len(self._states)
            self._pending.append(key)
        return self._states[key]

    def _go_on(self, state: int, configuration: int) -> None:
        if self._members.separator is None:
            self._add_members(state, configuration)
        elif any(self._order.after(configuration, i) >= 0 for i in range(len(self._members.members))):
            self._add(state, self._state(configuration, behind=False), self._members.separator)

    def _add_members(self, state: int, configuration: int) -> None:
        for number, member in enumerate(self._members.members):
            after = self._order.after(configuration, number)
            if after >= 0:
                self._add(state, self._state(after, behind=True), member.rule)

    def _add(self, source: int, target: int, label: RuleRef) -> None:
        if len(self._edges) == MAX_EDGES:
            raise GrammarLimitError(
                f"Members would need more than {MAX_EDGES:,} edges", limit="members_edges", value=MAX_EDGES
            )
        self._edges.append((source, target, label))
