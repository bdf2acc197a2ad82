"""TagDispatch as an automaton, after A. Aho and M. Corasick, "Efficient string matching", 1975.

A state of free text is the longest end of the text so far that begins a tag or an excluded string. Where
a tag is complete its rule is called; where an excluded string is complete there is no way on.
"""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.deadline import check
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.nodes import (
    FIRST_SURROGATE,
    LAST_SURROGATE,
    MAX_CODE_POINT,
    Automaton,
    CharClass,
    Edge,
    RuleRef,
    TagDispatch,
)

MAX_EDGES = 1_000_000
"""Edges of one dispatch: about its characters times the different characters that tags begin with."""

_ROOT = 0


class _Trie:
    """The tags and excluded strings by their common beginnings, up to where one of them is complete.

    For each node: its children by character, the node of its longest proper end that is in the trie, the
    rules that tags complete there call, and whether an excluded string is complete there.
    """

    def __init__(self, dispatch: TagDispatch) -> None:
        self.children: list[dict[str, int]] = [{}]
        self.rules: list[tuple[RuleRef, ...]] = [()]
        self.is_excluded = [False]
        for tag, rule in dispatch.tags:
            node = self._insert(tag)
            if rule not in self.rules[node]:
                self.rules[node] += (rule,)
        for exclude in dispatch.excludes:
            self.is_excluded[self._insert(exclude)] = True
        self.moves = self._link()

    def is_free_text(self, node: int) -> bool:
        """Whether the text may end, and free text go on, in this state."""
        return not self.rules[node] and not self.is_excluded[node]

    def _insert(self, text: str) -> int:
        node = _ROOT
        check()
        for character in text:
            following = self.children[node].get(character)
            if following is None:
                following = len(self.children)
                self.children[node][character] = following
                self.children.append({})
                self.rules.append(())
                self.is_excluded.append(False)
            node = following
        return node

    def _link(self) -> dict[int, dict[str, int]]:
        """For each node of free text, in breadth-first order, the characters that do not lead to the root."""
        moves = {_ROOT: self.children[_ROOT]}
        fallbacks = [_ROOT] * len(self.children)
        pending = [_ROOT]
        edge_count = 0
        for node in pending:  # grows as nodes are reached
            check()
            if not self.is_free_text(node):
                continue
            fallback = moves[fallbacks[node]] if node else {}
            if node:
                moves[node] = {**fallback, **self.children[node]}
                edge_count += len(moves[node])
                _check_size(edge_count)
            for character, child in self.children[node].items():
                fallbacks[child] = fallback.get(character, _ROOT)
                self._inherit(child, fallbacks[child])
                pending.append(child)
        return moves

    def _inherit(self, node: int, fallback: int) -> None:
        """Take over what is complete in the end of this node's text; of several tags the longest counts."""
        self.rules[node] = self.rules[node] or self.rules[fallback]
        self.is_excluded[node] = self.is_excluded[node] or self.is_excluded[fallback]


def _check_size(edge_count: int) -> None:
    if edge_count > MAX_EDGES:
        raise GrammarLimitError(
            f"A TagDispatch needs more than {MAX_EDGES:,} edges", limit="dispatch_edges", value=MAX_EDGES
        )


def expand_tag_dispatch(dispatch: TagDispatch) -> Automaton:
    """The automaton of the dispatch: a state for each beginning of a tag, one for each rule to be called."""
    trie = _Trie(dispatch)
    states = {node: state for state, node in enumerate(trie.moves)}
    calls: dict[tuple[RuleRef, ...], int] = {}
    edges: list[Edge] = []
    letters = {c: CharClass(((ord(c), ord(c)),)) for moves in trie.moves.values() for c in moves}
    for node, state in states.items():
        check()
        moves = trie.moves[node]
        edges.append((state, 0, _all_but(moves)))
        for character, target in moves.items():
            if trie.is_excluded[target]:
                continue
            rules = trie.rules[target]
            end = calls.setdefault(rules, len(states) + len(calls)) if rules else states[target]
            edges.append((state, end, letters[character]))
    last = len(states) + len(calls)
    after_call = 0 if dispatch.loop else last
    edges += ((call, after_call, rule) for rules, call in calls.items() for rule in rules)
    accepting = [*states.values(), *([] if dispatch.loop else [last])]
    return Automaton(tuple(edges), tuple(accepting), last if dispatch.loop else last + 1)


def _all_but(characters: Iterable[str]) -> CharClass:
    """The class of all other characters."""
    ranges = []
    begin = 0
    for point in (*sorted(map(ord, characters)), MAX_CODE_POINT + 1):
        # Surrogates are no characters; only one range can span them.
        if begin < FIRST_SURROGATE and point > LAST_SURROGATE:
            ranges.append((begin, FIRST_SURROGATE - 1))
            begin = LAST_SURROGATE + 1
        if begin < point:
            ranges.append((begin, point - 1))
        begin = point + 1
    return CharClass(tuple(ranges))
