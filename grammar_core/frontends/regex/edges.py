"""Anchors at the ends of a pattern, decided where the pattern alone decides them.

`^abc$` needs no automaton: where the pattern must match the whole text the anchors say nothing, and where
it may match in the middle they say that nothing comes before or after. Anchors elsewhere are left alone.
"""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.regex.syntax_tree import (
    NOTHING,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Repetition,
    Tree,
    concatenate,
    fold,
    has_assertions,
)


class _Placed(NamedTuple):
    tree: Tree
    at_edge: Tree | None  # what to write where the tree stands at the edge, if it has an anchor there


def resolve_edges(tree: Tree, around: Tree | None, line_break: Characters) -> Tree:
    """The tree for the whole text: with `around` before and after it, except where an anchor forbids that.

    `around` is any text, or None if the pattern itself has to match all. `line_break` is one character.
    """
    if not has_assertions(tree):
        return tree if around is None else concatenate([around, tree, around])
    for at_end in (False, True):
        edge = _Edge(at_end, around, line_break)
        tree = edge.written(fold(tree, edge.place, edge.children))
    return tree


class _Edge:
    """The beginning of the text or, `at_end`, its end."""

    def __init__(self, at_end: bool, around: Tree | None, line_break: Characters) -> None:
        self._at_end = at_end
        self._around = around
        self._anchors: dict[bool, Tree] = {False: NOTHING, True: NOTHING}
        if around is not None:
            to_line = concatenate([line_break, around] if at_end else [around, line_break])
            self._anchors[True] = Alternation((NOTHING, to_line))

    def written(self, placed: _Placed) -> Tree:
        if placed.at_edge is not None:
            return placed.at_edge
        if self._around is None:
            return placed.tree
        return concatenate([placed.tree, self._around] if self._at_end else [self._around, placed.tree])

    def children(self, tree: Tree) -> tuple[Tree, ...]:
        """The trees inside that may stand at the edge."""
        if isinstance(tree, Concatenation):
            return tree.items[-1:] if self._at_end else tree.items[:1]
        if isinstance(tree, Alternation):
            return tree.options
        if isinstance(tree, Repetition) and (tree.min, tree.max) == (0, 1):
            return (tree.body,)
        return ()

    def place(self, tree: Tree, children: list[_Placed]) -> _Placed:
        if isinstance(tree, Anchor) and tree.at_end == self._at_end:
            return _Placed(tree, self._anchors[tree.multiline])
        if isinstance(tree, Concatenation) and children:
            return _Placed(tree, self._first(tree, children[0].at_edge))
        if isinstance(tree, Alternation) and any(child.at_edge is not None for child in children):
            return _Placed(tree, Alternation(tuple(map(self.written, children))))
        if isinstance(tree, Repetition) and (tree.min, tree.max) == (0, 1):
            return _Placed(tree, self._optional(children[0]))
        return _Placed(tree, None)

    def _optional(self, body: _Placed) -> Tree | None:
        if body.at_edge is None:
            return None
        return Alternation((body.at_edge, self.written(_Placed(NOTHING, None))))

    def _first(self, tree: Concatenation, at_edge: Tree | None) -> Tree | None:
        if at_edge is None:
            return None
        if self._at_end:
            return concatenate([*tree.items[:-1], at_edge])
        return concatenate([at_edge, *tree.items[1:]])
