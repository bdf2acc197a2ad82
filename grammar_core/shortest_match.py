"""Where a text has first become one that a part of a grammar matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from grammar_core.deadline import check
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.derivation_graph import CountOf, DerivationGraph, Leaf, OneOf
from grammar_core.ir.nodes import CharClass, Literal

MAX_THREADS = 20_000
"""Ways to read a text that are followed at a time."""

# What is left to match: a part, how far it is, and the thread that comes after it; None when nothing is left.
# How far: characters read of a literal, or the least and the greatest count left of a repetition.
_Thread: TypeAlias = tuple[int, Any, Any] | None


def shortest_match(graph: DerivationGraph, part: int, text: Iterable[str], at_least: int = 0) -> int | None:
    """How many characters of `text`, the fewest from `at_least` on, the part matches; None if none do."""
    threads = _expand(graph, [(part, None, None)])
    length = 0
    for character in text:
        if None in threads and length >= at_least:
            break
        live = [thread for thread in threads if thread is not None]
        threads = _expand(graph, [after for thread in live for after in _read(graph, thread, character)])
        length += 1
    return length if None in threads and length >= at_least else None


def _read(graph: DerivationGraph, thread: _Thread, character: str) -> list[_Thread]:
    """The thread after the character, if it can be read."""
    assert thread is not None
    number, progress, rest = thread
    part = graph.parts[number]
    assert isinstance(part, Leaf)
    if isinstance(part.expr, CharClass):
        point = ord(character)
        return [rest] if any(low <= point <= high for low, high in part.expr.ranges) else []
    assert isinstance(part.expr, Literal)
    read = progress or 0
    return [(number, read + 1, rest)] if part.expr.value.decode()[read] == character else []


def _expand(graph: DerivationGraph, threads: list[_Thread]) -> set[_Thread]:
    """The threads at the next character to read, or at the end."""
    seen: set[_Thread] = set(threads)
    pending = list(seen)
    expanded: set[_Thread] = set()
    while pending:
        check()
        thread = pending.pop()
        following = None if thread is None else _unfold(graph, *thread)
        if following is None:
            expanded.add(thread)
            continue
        fresh = [after for after in following if after not in seen]
        seen.update(fresh)
        pending += fresh
        if len(seen) > MAX_THREADS:
            message = f"A lazy rule can be read in more than {MAX_THREADS:,} ways at a time"
            raise GrammarLimitError(message, limit="threads", value=MAX_THREADS)
    return expanded


def _unfold(graph: DerivationGraph, number: int, progress: Any, rest: _Thread) -> list[_Thread] | None:
    """The threads of the parts of a part; None for one that is read character by character."""
    part = graph.parts[number]
    if isinstance(part, Leaf):
        is_over = isinstance(part.expr, Literal) and (progress or 0) == len(part.expr.value.decode())
        return [rest] if is_over else None
    if isinstance(part, CountOf):
        low, high = progress or (part.min, part.max)
        after: list[_Thread] = [rest] if low == 0 else []
        if high != 0:
            left = (max(low - 1, 0), None if high is None else high - 1)
            after.append((part.part, None, (number, left, rest)))
        return after
    if isinstance(part, OneOf):
        return [(option, None, rest) for option in part.parts]
    for child in reversed(part.parts):
        rest = (child, None, rest)
    return [rest]
