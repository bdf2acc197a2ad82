"""Which lists of Members are possible."""

from __future__ import annotations

from grammar_core import _native
from grammar_core.ir.nodes import Members

_UNBOUNDED = -1


def member_order(members: Members) -> _native.MemberOrder:
    """Which member may come next; `start` is negative when no list is possible."""
    return _native.MemberOrder(
        [member.required for member in members.members],
        [member.repeatable for member in members.members],
        members.ordered,
        members.min,
        _UNBOUNDED if members.max is None else members.max,
        list(members.implications),
    )
