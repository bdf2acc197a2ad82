"""Bounds on the length of the whole text that a pattern has as lookaheads at its beginning."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.regex.syntax_tree import (
    Anchor,
    Characters,
    Concatenation,
    Look,
    Repetition,
    Tree,
)

_START = Anchor(at_end=False, multiline=False)
_END = Anchor(at_end=True, multiline=False)


class LengthBounds(NamedTuple):
    """The text has `min` to `max` characters (None: any number), all of them in every set."""

    min: int = 0
    max: int | None = None
    characters: tuple[Characters, ...] = ()


def split_length_bounds(tree: Tree, *, at_start: bool = False) -> tuple[Tree, LengthBounds]:
    """The pattern without such lookaheads, and what they say. `at_start`: it matches from the beginning on.

    What stands before the first character all holds at one place. If that is the beginning of the text, a
    lookahead for characters of one set up to the end says how long the text may be.
    """
    items = _parts(tree)
    leading = 0
    while leading < len(items) and isinstance(items[leading], (Anchor, Look)):
        leading += 1
    bounds, kept = LengthBounds(), []
    is_anchored = at_start or any(_is(item, _START) for item in items[:leading])
    for item in items[:leading]:
        found = _whole_text(item)
        if found is None or not (is_anchored or found.is_anchored):
            kept.append(item)
            continue
        is_anchored = True
        highs = [high for high in (bounds.max, found.body.max) if high is not None]
        assert isinstance(found.body.body, Characters)
        bounds = LengthBounds(
            max(bounds.min, found.body.min),
            min(highs, default=None),
            (*bounds.characters, found.body.body),
        )
    if not bounds.characters:
        return tree, bounds
    return Concatenation((_START, *kept, *items[leading:])), bounds


class _WholeText(NamedTuple):
    body: Repetition
    is_anchored: bool


def _whole_text(item: Tree) -> _WholeText | None:
    """Of a lookahead for characters of one set up to the end of the text."""
    if not isinstance(item, Look) or item.behind or item.negated:
        return None
    items = _parts(item.body)
    is_anchored = bool(items) and _is(items[0], _START)
    rest = items[1:] if is_anchored else items
    if len(rest) != 2 or not _is(rest[1], _END):
        return None
    body = rest[0]
    if not isinstance(body, Repetition) or not isinstance(body.body, Characters):
        return None
    return _WholeText(body, is_anchored)


def _parts(tree: Tree) -> list[Tree]:
    """What stands one after another, also in groups."""
    parts: list[Tree] = []
    pending = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, Concatenation):
            pending += reversed(part.items)
        else:
            parts.append(part)
    return parts


def _is(tree: Tree, anchor: Anchor) -> bool:
    return isinstance(tree, Anchor) and tree == anchor
