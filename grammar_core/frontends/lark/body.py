"""The body of a definition while it is read: the innermost open group, and what is around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from grammar_core.frontends.lark.namespace import Definition
from grammar_core.ir.nodes import EMPTY, Choice, Expr, Sequence


class Group(NamedTuple):
    """What was read before a group opened, its opening bracket, and the ~ that it comes after."""

    options: list[Expr]
    conjuncts: list[Expr]
    items: list[Expr]
    opener: str
    offset: int
    negated_at: int | None


@dataclass(slots=True)
class Body:
    """The body of `definition`, or the text of an `%ignore` if that is None.

    `atoms` are elements that were read before in a body of the same kind, by their text. `weaves`: what is
    matched whole is followed by what may be ignored.
    """

    definition: Definition | None
    atoms: dict[str, Expr]
    is_terminal: bool
    weaves: bool
    uses: list[str]
    options: list[Expr] = field(default_factory=list)
    conjuncts: list[Expr] = field(default_factory=list)
    items: list[Expr] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    is_repeatable: bool = False
    negated_at: int | None = None

    def open_group(self, opener: str, offset: int) -> None:
        """What follows is in a group, until `close_group`."""
        self.groups.append(Group(self.options, self.conjuncts, self.items, opener, offset, self.negated_at))
        self.options, self.conjuncts, self.items = [], [], []
        self.is_repeatable = False
        self.negated_at = None

    def close_group(self) -> Group:
        """What follows is outside of the group again. The group's own parts are to be taken before."""
        group = self.groups.pop()
        self.options, self.conjuncts, self.items = group.options, group.conjuncts, group.items
        self.negated_at = group.negated_at
        return group

    def alternatives(self) -> Expr:
        """The finished alternatives of the innermost group as one expression."""
        return self.options[0] if len(self.options) == 1 else Choice(tuple(self.options))


def sequence(items: list[Expr]) -> Expr:
    """The items one after another."""
    if len(items) == 1:
        return items[0]
    return Sequence(tuple(items)) if items else EMPTY
