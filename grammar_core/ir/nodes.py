"""The nodes of a grammar: what every frontend produces and every pass reads.

All nodes are immutable and cheap to build. They are named tuples, whose equality ignores the class
(`Sequence(x) == Choice(x)`), so dispatch on `type(node)`, never with `==`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE = 0xD800
LAST_SURROGATE = 0xDFFF


class Literal(NamedTuple):
    """Exactly these bytes, which are valid UTF-8; b"" is the empty string."""

    value: bytes


class CharClass(NamedTuple):
    """One character of a set, as sorted, disjoint, non-adjacent, inclusive code point ranges.

    Negation is already resolved and surrogates (U+D800 to U+DFFF) are never inside.
    """

    ranges: tuple[tuple[int, int], ...]


class RuleRef(NamedTuple):
    """Whatever the named rule matches."""

    name: str


class Sequence(NamedTuple):
    """The items one after another; no items is the empty string."""

    items: tuple[Expr, ...]


class Choice(NamedTuple):
    """Any one of the options, of which there is at least one."""

    options: tuple[Expr, ...]


class Repeat(NamedTuple):
    """The body at least `min` and at most `max` times; `max` None is unbounded."""

    body: Expr
    min: int
    max: int | None


class Automaton(NamedTuple):
    """A finite automaton: the texts along the edges from state 0 to an accepting state.

    An edge is (source state, target state, label). All states are numbers from 0 on.
    """

    edges: tuple[tuple[int, int, CharClass | RuleRef], ...]
    accepting: tuple[int, ...]


Expr: TypeAlias = Literal | CharClass | RuleRef | Sequence | Choice | Repeat | Automaton


class Rule(NamedTuple):
    """A named expression."""

    name: str
    body: Expr


EMPTY = Sequence(())


def child_expressions(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `expr`, in text order."""
    if isinstance(expr, Sequence):
        return expr.items
    if isinstance(expr, Choice):
        return expr.options
    if isinstance(expr, Automaton):
        return tuple(label for _, _, label in expr.edges)
    return (expr.body,) if isinstance(expr, Repeat) else ()
