"""Regular languages as values: sets of texts with the operations of sets.

A language is held as the minimal deterministic automaton over characters, made by the native core. Every
operation that makes a new one takes at most two seconds of processor time and an automaton of at most
100,000 states; beyond that it raises GrammarLimitError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Self

from grammar_core import _native
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges
from grammar_core.ir.nodes import (
    EMPTY,
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Literal,
    Regex,
    Repeat,
    RuleRef,
    Substring,
    child_expressions,
)
from grammar_core.ir.nodes import Sequence as SequenceNode
from grammar_core.ir.traversal import transform_expression
from grammar_core.lowering import lower_expression
from grammar_core.passes.expand_substring import expand_substring

Labels = tuple[CharClass | RuleRef, ...]
_REGULAR = (Literal, CharClass, SequenceNode, Choice, Repeat, Regex, Automaton, Substring)


class RegularLanguage:
    """An immutable set of texts.

    letters = RegularLanguage.from_expression(parse_regex("[a-z]+"))
    letters.subtract(RegularLanguage.of_texts(["if", "else"])).to_expression()
    """

    __slots__ = ("_dfa", "_lengths")

    def __init__(self, dfa: _native.Dfa) -> None:
        self._dfa = dfa
        self._lengths: tuple[int, int | None] | None = None

    @classmethod
    def from_expression(cls, expr: Expr) -> Self:
        """What the expression matches. It holds neither rules nor tokens nor tag dispatch: ValueError."""
        try:
            program = lower_expression(_prepared(expr))
        except KeyError as error:  # a rule that labels an edge
            raise ValueError(f"a regular language has no rules, such as {error}") from None
        return cls(_native.Dfa.from_program(*program))

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Self:
        """Just these texts."""
        literals = tuple(Literal(text.encode()) for text in texts)
        return cls.from_expression(Choice(literals) if literals else CharClass(()))

    @staticmethod
    def everything() -> RegularLanguage:
        """Every text."""
        return _everything()

    def intersect(self, other: RegularLanguage) -> RegularLanguage:
        """The texts in both; the language itself where the other has all of its texts."""
        return self._combined(self._dfa.intersect(other._dfa), other)

    def union(self, other: RegularLanguage) -> RegularLanguage:
        """The texts in either."""
        return self._combined(self._dfa.unite(other._dfa), other)

    def subtract(self, other: RegularLanguage) -> RegularLanguage:
        """The texts that are not in `other`."""
        return self._combined(self._dfa.subtract(other._dfa), other)

    def complement(self) -> RegularLanguage:
        """Every text that is not in the language."""
        return RegularLanguage(self._dfa.complement())

    def with_length(self, low: int, high: int | None) -> RegularLanguage:
        """The texts of `low` to `high` characters (None: any number)."""
        return RegularLanguage(self._dfa.with_length(low, high))

    def contains(self, text: str) -> bool:
        """Whether the text is in the language. Half a surrogate pair never is."""
        return self._dfa.contains(text)

    def is_empty(self) -> bool:
        """Whether there is no text."""
        return self._dfa.is_empty()

    def is_universal(self) -> bool:
        """Whether there is every text."""
        return self._dfa.is_universal()

    @property
    def state_count(self) -> int:
        """States of the automaton; what leads nowhere is no state."""
        return self._dfa.state_count

    def length_range(self) -> tuple[int, int | None]:
        """Characters of the shortest and of the longest text, None if there is no longest one.

        ValueError if there is no text.
        """
        if self._lengths is None:
            self._refuse_empty()
            self._lengths = self._dfa.length_range()
        return self._lengths

    def can_be_extended(self) -> bool:
        """Whether every text is the beginning of one that has one more character."""
        return self._dfa.can_be_extended()

    def is_endless(self) -> bool:
        """Whether the beginning of a text is always that of endlessly many. True where there is no text."""
        return self._dfa.is_endless()

    def exceeds(self, low: int, high: int | None) -> bool:
        """Whether there are texts of less than `low` or more than `high` characters (None: any number)."""
        if self.is_empty() or (not low and high is None):
            return False
        shortest, longest = self.length_range()
        return shortest < low or (high is not None and (longest is None or longest > high))

    def counts(self, low: int, high: int | None) -> bool:
        """Whether `to_counted_automaton` keeps the bounds, and they say something."""
        if not self.exceeds(low, high):
            return False
        shortest, _ = self.length_range()
        if high is not None and high < max(1, shortest):
            return False
        return low <= shortest or self.can_be_extended()

    def within(self, low: int, high: int | None) -> Expr:
        """The texts of `low` to `high` characters, which are counted where that can be.

        Raises GrammarLimitError.
        """
        if self.counts(low, high):
            return self.to_counted_automaton(lambda ranges: (CharClass(ranges),), low, high)
        return (self.with_length(low, high) if self.exceeds(low, high) else self).to_expression()

    def shortest_text(self) -> str:
        """The first, by code points, of the shortest texts. ValueError if there is no text."""
        self._refuse_empty()
        return self._dfa.shortest_text()

    def texts(self, limit: int) -> list[str] | None:
        """All texts in the order of their code points; None if there are more than `limit`."""
        return self._dfa.all_texts(limit)

    def to_expression(self) -> Expr:
        """The language as an expression: an automaton, unless it is trivial."""
        if self.is_empty():
            return CharClass(())
        return self.to_automaton(lambda ranges: (CharClass(ranges),))

    def to_automaton(
        self,
        labels: Callable[[Ranges], Labels],
        *,
        repeated: Callable[[Labels, int, int | None], RuleRef] | None = None,
    ) -> Expr:
        """The automaton with one edge for each of the labels that are to stand for a set of characters.

        What would be many states in a row that only count characters is one edge with the label `repeated`
        makes of their labels and the least and the largest count, if it is given.
        """
        accepting, edges, states = self._dfa.edges(labels, repeated)
        if not edges:
            return EMPTY if accepting else CharClass(())
        return Automaton(edges, accepting, states)

    def to_counted_automaton(self, labels: Callable[[Ranges], Labels], low: int, high: int | None) -> Expr:
        """The texts of `low` to `high` characters (None: any number), with the characters counted.

        ValueError if none has such a length, but perhaps the empty one, or if a text of fewer characters may
        have no longer one.
        """
        shortest, _ = self.length_range()
        if low > shortest and not self.can_be_extended():
            raise ValueError("lengths up to the bounds are not counted in this language")
        automaton = self.to_automaton(labels)
        if not isinstance(automaton, Automaton) or (high is not None and high < max(1, shortest)):
            raise ValueError("no text of this language has such a length")
        return CountedAutomaton(automaton, low if low > shortest else 0, high)

    def _combined(self, dfa: _native.Dfa, other: RegularLanguage) -> RegularLanguage:
        """The language of what two automata came to, which may be one of them."""
        if dfa is self._dfa:
            return self
        return other if dfa is other._dfa else RegularLanguage(dfa)

    def _refuse_empty(self) -> None:
        if self.is_empty():
            raise ValueError("there is no text in this language")


def _prepared(expr: Expr) -> Expr:
    """The expression with macros expanded."""
    pending, has_macro = [expr], False
    while pending:
        node = pending.pop()
        if not isinstance(node, _REGULAR):
            raise ValueError(f"a {type(node).__name__} is not part of a regular language")
        has_macro |= isinstance(node, Substring)
        # The labels of an automaton, which may be many, are characters or rules; those are refused later.
        if not isinstance(node, Automaton):
            pending += child_expressions(node)
    if not has_macro:
        return expr
    return transform_expression(expr, lambda e: expand_substring(e) if isinstance(e, Substring) else e)


@lru_cache(maxsize=1)
def _everything() -> RegularLanguage:
    return RegularLanguage.from_expression(Repeat(CharClass(ANY_CHARACTER), 0, None))
