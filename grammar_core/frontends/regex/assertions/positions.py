"""The nondeterministic automata of a pattern and of the bodies of its assertions, in one numbering.

Edges are empty, with a guard or without, or take one character of a set. Those are numbered too: an *atom*
is such an edge, and stands for the texts that it begins and that lead to the end of its automaton.
"""

from __future__ import annotations

from collections.abc import Callable
from graphlib import TopologicalSorter
from typing import NamedTuple, cast

from grammar_core.frontends.regex.character_sets import NOT_LINE_TERMINATORS
from grammar_core.frontends.regex.syntax_tree import (
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Look,
    Repetition,
    Text,
    Tree,
    concatenate,
)
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges

END_OF_TEXT = 1
"""The atom that holds where no characters are left."""

_ANY = Characters(ANY_CHARACTER)
_NOT_LINE_TERMINATOR = Characters(NOT_LINE_TERMINATORS)


class Guard(NamedTuple):
    """A condition on a place: the look of this number succeeds or, `negated`, fails."""

    look: int
    negated: bool


class Atom(NamedTuple):
    """An edge that takes one character of a set (by number)."""

    set_number: int
    target: int


class Automaton(NamedTuple):
    """One of the automata: of the whole pattern, or of the body of a look."""

    start: int
    end: int


class PositionLimitError(Exception):
    """More nodes than the limit allows."""


class Positions:
    """All nodes, edges and looks of a pattern. Node 0 is not used."""

    def __init__(self, tree: Tree, limit: int) -> None:
        self._limit = limit
        self.empty_edges: list[list[tuple[int, Guard | None]]] = [[]]
        self.atoms_at: list[list[int]] = [[]]
        self.atoms: list[Atom] = [Atom(-1, 0), Atom(-1, 0)]  # numbers 0 and END_OF_TEXT take no character
        self.owners: list[int] = [-1, 0]
        """For every atom its automaton: 0 for the whole pattern, n + 1 for look n."""
        self.sets: dict[Ranges, int] = {}
        self.looks: list[Automaton] = []
        self.is_behind: list[bool] = []
        self._look_numbers: dict[tuple[int, bool], int] = {}
        self._pending: list[tuple[Tree, int, int, int]] = []
        self._uses: dict[int, set[int]] = {}
        self.main = Automaton(self._node(), self._node())
        self._pending.append((tree, *self.main, -1))
        self._connect_all()
        self.order = [look for look in TopologicalSorter(self._uses).static_order() if look >= 0]
        """The looks, every one after those that its body uses."""

    def _node(self) -> int:
        if len(self.atoms_at) > self._limit:
            raise PositionLimitError
        self.empty_edges.append([])
        self.atoms_at.append([])
        return len(self.atoms_at) - 1

    def _connect_all(self) -> None:
        connectors = {
            Text: self._text,
            Characters: self._characters,
            Concatenation: self._concatenation,
            Alternation: self._alternation,
            Repetition: self._repetition,
            Anchor: self._anchor,
            Look: self._look,
        }
        connect = cast("dict[type[Tree], Callable[[Tree, int, int, int], None]]", connectors)
        while self._pending:
            tree, start, end, owner = self._pending.pop()
            connect[type(tree)](tree, start, end, owner)

    # one method a kind of tree: makes it lead from `start` to `end` in the automaton of the look `owner`

    def _text(self, text: Text, start: int, end: int, owner: int) -> None:
        for character in text.value[:-1]:
            following = self._node()
            self._add_atom(((ord(character), ord(character)),), start, following, owner)
            start = following
        last = ord(text.value[-1])
        self._add_atom(((last, last),), start, end, owner)

    def _characters(self, characters: Characters, start: int, end: int, owner: int) -> None:
        if characters.ranges:
            self._add_atom(characters.ranges, start, end, owner)

    def _concatenation(self, concatenation: Concatenation, start: int, end: int, owner: int) -> None:
        if not concatenation.items:
            self._add_empty(start, end)
            return
        for item in concatenation.items[:-1]:
            following = self._node()
            self._pending.append((item, start, following, owner))
            start = following
        self._pending.append((concatenation.items[-1], start, end, owner))

    def _alternation(self, alternation: Alternation, start: int, end: int, owner: int) -> None:
        self._pending.extend((option, start, end, owner) for option in alternation.options)

    def _repetition(self, repetition: Repetition, start: int, end: int, owner: int) -> None:
        body, low, high = repetition
        for _ in range(low):
            start = self._step(body, start, owner)
        if high is None:
            loop = self._node()
            self._add_empty(start, loop)
            self._add_empty(loop, end)
            self._pending.append((body, loop, loop, owner))
            return
        for _ in range(high - low):
            self._add_empty(start, end)
            start = self._step(body, start, owner)
        self._add_empty(start, end)

    def _anchor(self, anchor: Anchor, start: int, end: int, owner: int) -> None:
        beyond = _NOT_LINE_TERMINATOR if anchor.multiline else _ANY
        self._look(Look(beyond, not anchor.at_end, True), start, end, owner)

    def _look(self, look: Look, start: int, end: int, owner: int) -> None:
        number = self._look_numbers.get((id(look.body), look.behind))
        if number is None:
            number = self._new_look(look)
        self._uses.setdefault(owner, set()).add(number)
        self.empty_edges[start].append((end, Guard(number, look.negated)))

    # what the methods share

    def _new_look(self, look: Look) -> int:
        number = self._look_numbers[id(look.body), look.behind] = len(self.looks)
        automaton = Automaton(self._node(), self._node())
        self.looks.append(automaton)
        self.is_behind.append(look.behind)
        self._uses.setdefault(number, set())
        body = concatenate([Repetition(_ANY, 0, None), look.body]) if look.behind else look.body
        self._pending.append((body, *automaton, number))
        return number

    def _step(self, body: Tree, start: int, owner: int) -> int:
        following = self._node()
        self._pending.append((body, start, following, owner))
        return following

    def _add_empty(self, start: int, end: int) -> None:
        self.empty_edges[start].append((end, None))

    def _add_atom(self, ranges: Ranges, start: int, end: int, owner: int) -> None:
        self.owners.append(owner + 1)
        self.atoms.append(Atom(self.sets.setdefault(ranges, len(self.sets)), end))
        self.atoms_at[start].append(len(self.atoms) - 1)
