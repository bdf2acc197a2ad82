"""The same language without the empty text.

Ignored text comes after a lexeme, and a lexeme that matched nothing is none: otherwise it could be ignored
before the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grammar_core.deadline import check
from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.lark.errors import DIALECT
from grammar_core.frontends.lark.limits import MAX_NONEMPTY_SIZE
from grammar_core.ir.nodes import (
    Automaton,
    Choice,
    Expr,
    Literal,
    Regex,
    Repeat,
    RuleRef,
    Sequence,
    Substring,
    TagDispatch,
    TokenTagDispatch,
    child_expressions,
)
from grammar_core.passes.expand_substring import expand_substring
from grammar_core.passes.expand_tag_dispatch import expand_tag_dispatch
from grammar_core.passes.expand_token_tag_dispatch import expand_token_tag_dispatch


class Nonempty(NamedTuple):
    """An expression that does not match the empty text, and whether the one it was made of does."""

    expr: Expr
    was_nullable: bool


class _Part(NamedTuple):
    """An expression, and what it matches other than the empty text; None for nothing."""

    expr: Expr
    is_nullable: bool
    nonempty: Expr | None
    size: int = 1
    nonempty_size: int = 1


def _no_rules(name: str) -> bool:
    return False


def without_empty(
    expr: Expr,
    is_nullable: Callable[[str], bool] = _no_rules,
    nonempty_rule: Callable[[str], RuleRef] = RuleRef,
) -> Nonempty | None:
    """What the expression matches other than the empty text; None if that is nothing.

    `is_nullable` tells whether a rule matches the empty text, `nonempty_rule` is asked for a rule of what
    else one does that does. Raises GrammarLimitError.
    """
    if isinstance(expr, Literal):
        return Nonempty(expr, False) if expr.value else None
    part = _Eliminator(is_nullable, nonempty_rule).run(expr)
    return None if part.nonempty is None else Nonempty(part.nonempty, part.is_nullable)


def is_nullable(expr: Expr, is_rule_nullable: Callable[[str], bool] = _no_rules) -> bool:
    """Whether the expression matches the empty text. Raises GrammarLimitError."""
    return _Eliminator(is_rule_nullable, RuleRef).run(expr).is_nullable


class _Eliminator:
    def __init__(self, is_nullable: Callable[[str], bool], nonempty_rule: Callable[[str], RuleRef]) -> None:
        self._is_nullable = is_nullable
        self._nonempty_rule = nonempty_rule

    def run(self, expr: Expr) -> _Part:
        finished: list[_Part] = []
        pending: list[tuple[Expr, bool]] = [(expr, False)]
        while pending:
            check()
            current, is_done = pending.pop()
            current = current if is_done else _expanded(current)
            children = () if isinstance(current, Automaton) else child_expressions(current)
            if children and not is_done:
                pending.append((current, True))
                pending.extend((child, False) for child in reversed(children))
                continue
            begin = len(finished) - len(children)
            finished[begin:] = [self._part(current, finished[begin:])]
        return finished[0]

    def _part(self, expr: Expr, parts: list[_Part]) -> _Part:
        if isinstance(expr, Literal):
            return _Part(expr, not expr.value, expr if expr.value else None)
        if isinstance(expr, RuleRef):
            nullable = self._is_nullable(expr.name)
            return _Part(expr, nullable, self._nonempty_rule(expr.name) if nullable else expr)
        if isinstance(expr, Sequence):
            return self._sequence(expr, parts)
        if isinstance(expr, Choice):
            return self._choice(expr, parts)
        if isinstance(expr, Repeat):
            return self._repeat(expr, parts[0])
        if isinstance(expr, Regex):
            return parts[0]._replace(expr=expr) if parts[0].is_nullable else _whole(expr, parts)
        if isinstance(expr, Automaton):
            return self._automaton(expr)
        return _Part(expr, False, expr)

    def _sequence(self, expr: Sequence, parts: list[_Part]) -> _Part:
        """The first item that matches something, after ones that match nothing; then the items after it."""
        if not all(part.is_nullable for part in parts):
            return _whole(expr, parts)
        options: list[Expr] = []
        after, size = sum(part.size for part in parts), 0
        for index, part in enumerate(parts):
            after -= part.size
            if part.nonempty is not None:
                size += part.nonempty_size + after + 1
                self._check(size)
                options.append(Sequence((part.nonempty, *(later.expr for later in parts[index + 1 :]))))
        return _Part(expr, True, _choice(options), _size(parts), size)

    def _choice(self, expr: Choice, parts: list[_Part]) -> _Part:
        if not any(part.is_nullable for part in parts):
            return _whole(expr, parts)
        options = [part.nonempty for part in parts if part.nonempty is not None]
        size = sum(part.nonempty_size for part in parts) + 1
        self._check(size)
        return _Part(expr, True, _choice(options), _size(parts), size)

    def _repeat(self, expr: Repeat, body: _Part) -> _Part:
        if expr.max == 0 or body.nonempty is None:
            return _Part(expr, body.is_nullable or not expr.min or expr.max == 0, None, body.size + 1)
        if expr.min and not body.is_nullable:
            return _whole(expr, [body])
        return _Part(expr, True, Repeat(body.nonempty, 1, expr.max), body.size + 1, body.nonempty_size + 1)

    def _automaton(self, expr: Automaton) -> _Part:
        """A first state of its own, which accepts nothing and is never come back to."""
        size = len(expr.edges) + 1
        if 0 not in expr.accepting:
            return _Part(expr, False, expr, size, size)
        moved = [(source + 1, target + 1, label) for source, target, label in expr.edges]
        first = [(0, target + 1, label) for source, target, label in expr.edges if source == 0]
        self._check(size)
        accepting = tuple(state + 1 for state in expr.accepting)
        nonempty = Automaton((*first, *moved), accepting, expr.state_count + 1) if first else None
        return _Part(expr, True, nonempty, size, size + len(first))

    def _check(self, size: int) -> None:
        if size > MAX_NONEMPTY_SIZE:
            raise GrammarLimitError(
                f"A terminal can be empty in more than {MAX_NONEMPTY_SIZE:,} ways, too many with %ignore",
                limit="nonempty_size",
                value=MAX_NONEMPTY_SIZE,
                dialect=DIALECT,
            )


def _whole(expr: Expr, parts: list[_Part]) -> _Part:
    """The part of an expression that never matches the empty text."""
    size = _size(parts)
    return _Part(expr, False, expr, size, size)


def _size(parts: list[_Part]) -> int:
    return 1 + sum(part.size for part in parts)


def _expanded(expr: Expr) -> Expr:
    if isinstance(expr, Substring):
        return expand_substring(expr)
    if isinstance(expr, TagDispatch):
        return expand_tag_dispatch(expr)
    return expand_token_tag_dispatch(expr) if isinstance(expr, TokenTagDispatch) else expr


def _choice(options: list[Expr]) -> Expr | None:
    if len(options) < 2:
        return options[0] if options else None
    return Choice(tuple(options))
