"""Substring as an automaton, of as many states as the chunks have characters."""

from __future__ import annotations

from grammar_core.ir.nodes import Automaton, CharClass, Edge, Substring


def expand_substring(substring: Substring) -> Automaton:
    """A chain of all the characters that may be entered before any chunk and left behind any.

    State 0 stands before every chunk, state n behind character number n of the chunks put together.
    """
    edges: list[Edge] = []
    accepting = [0]
    state = 0
    for chunk in substring.chunks:
        for index, character in enumerate(chunk):
            label = CharClass(((ord(character), ord(character)),))
            if index == 0 and state > 0:
                edges.append((0, state + 1, label))
            edges.append((state, state + 1, label))
            state += 1
        if chunk:
            accepting.append(state)
    return Automaton(tuple(edges), tuple(accepting), state + 1)
