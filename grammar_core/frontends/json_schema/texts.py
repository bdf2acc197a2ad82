"""Sets of strings, as the values of JSON strings after their escapes are resolved (values and lengths only)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.ir.char_ranges import complement_ranges
from grammar_core.ir.nodes import Automaton, CharClass, Choice, Edge, Expr, Literal, Repeat, Sequence

_HEX = CharClass(((48, 57), (65, 70), (97, 102)))
_PLAIN = CharClass(complement_ranges(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C))))


class TextLanguage:
    """An immutable set of strings."""

    def __init__(
        self,
        values: tuple[str, ...] | None = None,
        low: int = 0,
        high: int | None = None,
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.values, self.low, self.high, self.excluded = values, low, high, excluded

    @staticmethod
    def all() -> TextLanguage:
        return _ALL

    @staticmethod
    def of_values(values: Iterable[str]) -> TextLanguage:
        return TextLanguage(tuple(dict.fromkeys(values)))

    @staticmethod
    def matching(pattern: str) -> TextLanguage:
        raise UnsupportedFeatureError("patterns are not supported")

    @staticmethod
    def format(name: str) -> TextLanguage:
        return _ALL

    @staticmethod
    def length(low: int, high: int | None) -> TextLanguage:
        return TextLanguage(None, low, high)

    def intersect(self, other: TextLanguage) -> TextLanguage:
        if self.values is not None:
            return TextLanguage(tuple(v for v in self.values if other.contains(v)))
        if other.values is not None:
            return other.intersect(self)
        highs = [h for h in (self.high, other.high) if h is not None]
        return TextLanguage(
            None, max(self.low, other.low), min(highs, default=None), self.excluded | other.excluded
        )

    def complement(self) -> TextLanguage:
        if self.values is not None:
            return TextLanguage(excluded=frozenset(self.values))
        if self is _ALL:
            return TextLanguage(())
        if not self.excluded and not self.low and self.high is not None:
            return TextLanguage(None, self.high + 1)
        if not self.excluded and self.high is None:
            return TextLanguage(None, 0, self.low - 1)
        raise UnsupportedFeatureError("no complement")

    def is_empty(self) -> bool:
        return self.values == () or (self.high is not None and self.high < self.low)

    def is_all(self) -> bool:
        return self is _ALL

    def contains(self, text: str) -> bool:
        if self.values is not None:
            return text in self.values
        return (
            self.low <= len(text)
            and (self.high is None or len(text) <= self.high)
            and text not in self.excluded
        )

    def finite_values(self, limit: int) -> list[str] | None:
        return list(self.values) if self.values is not None else None

    def to_key_expression(self, lexical: str, define: Any) -> Expr:
        return self.to_expression(lexical, define)

    def to_expression(self, lexical: str, define: Any) -> Expr:
        if self.values is not None:
            options = tuple(Literal(json.dumps(v, ensure_ascii=False).encode()) for v in self.values)
            return options[0] if len(options) == 1 else Choice(options) if options else CharClass(())
        escape = Sequence(
            (
                Literal(b"\\"),
                Choice(
                    (
                        CharClass(tuple(sorted((ord(c),) * 2 for c in '"\\/bfnrt'))),
                        Sequence((Literal(b"u"), Repeat(_HEX, 4, 4))),
                    )
                ),
            )
        )
        char = define("json_character", Choice((_PLAIN, escape)))
        if not self.excluded:
            return define(
                "json_string", Sequence((Literal(b'"'), Repeat(char, self.low, self.high), Literal(b'"')))
            )
        states = {"": 0}
        for text in self.excluded:
            for i in range(len(text) + 1):
                states.setdefault(text[:i], len(states))
        sink = len(states)
        edges: list[Edge] = [(sink, sink, char)]
        for prefix, state in states.items():
            nexts = {p[-1]: s for p, s in states.items() if p and p[:-1] == prefix}
            for c, target in nexts.items():
                edges.append((state, target, CharClass(((ord(c), ord(c)),))))
            plain = CharClass(
                complement_ranges(
                    (
                        *sorted((ord(c), ord(c)) for c in nexts if c not in '"\\'),
                        (0, 0x1F),
                        (0x22, 0x22),
                        (0x5C, 0x5C),
                    )
                )
            )
            edges.append((state, sink, plain))
        accepting = [s for p, s in states.items() if p not in self.excluded]
        return Sequence((Literal(b'"'), Automaton(tuple(edges), (*accepting, sink), sink + 1), Literal(b'"')))


_ALL = TextLanguage()
