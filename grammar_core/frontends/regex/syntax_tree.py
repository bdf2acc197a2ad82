"""The parsed form of a regular expression: flags, escapes and classes are already resolved.

Nodes are named tuples, whose equality ignores the class: dispatch on the type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

from grammar_core.ir.char_ranges import Ranges


class Text(NamedTuple):
    """Exactly these characters."""

    value: str


class Characters(NamedTuple):
    """One character of a set; of the empty set, no text at all."""

    ranges: Ranges


class Concatenation(NamedTuple):
    """The items one after another; no items is the empty string."""

    items: tuple[Tree, ...]


class Alternation(NamedTuple):
    """Any one of the options."""

    options: tuple[Tree, ...]


class Repetition(NamedTuple):
    """The body at least `min` and at most `max` times; `max` None is unbounded."""

    body: Tree
    min: int
    max: int | None


class Anchor(NamedTuple):
    """The beginning or the end of the text; with `multiline`, of a line."""

    at_end: bool
    multiline: bool


class Look(NamedTuple):
    """The body matches, or does not match, from here on (`behind`: up to here)."""

    body: Tree
    behind: bool
    negated: bool


Tree: TypeAlias = Text | Characters | Concatenation | Alternation | Repetition | Anchor | Look

NOTHING = Concatenation(())

_Result = TypeVar("_Result")


def child_trees(tree: Tree) -> tuple[Tree, ...]:
    """The trees directly inside `tree`, in text order."""
    if isinstance(tree, Concatenation):
        return tree.items
    if isinstance(tree, Alternation):
        return tree.options
    return (tree.body,) if isinstance(tree, (Repetition, Look)) else ()


def fold(
    tree: Tree,
    combine: Callable[[Tree, list[_Result]], _Result],
    children_of: Callable[[Tree], tuple[Tree, ...]] = child_trees,
) -> _Result:
    """What `combine` makes of the tree, bottom up: it gets a node and the results for its children.

    `children_of`: those of its children that it asks for.
    """
    results: list[_Result] = []
    pending: list[tuple[Tree, bool]] = [(tree, False)]
    while pending:
        node, is_done = pending.pop()
        children = children_of(node)
        if children and not is_done:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children))
            continue
        begin = len(results) - len(children)
        results[begin:] = [combine(node, results[begin:])]
    return results[0]


def concatenate(items: list[Tree]) -> Tree:
    """The items one after another, without needless nesting."""
    kept = [item for item in items if type(item) is not Concatenation or item.items]
    return kept[0] if len(kept) == 1 else Concatenation(tuple(kept))


def has_assertions(tree: Tree) -> bool:
    """Whether anything in the tree matches a place rather than characters."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (Anchor, Look)):
            return True
        pending += child_trees(node)
    return False
