"""Expressions over decoded strings as expressions over the texts of JSON strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from weakref import WeakMethod

from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.json_schema.string_spelling import (
    character,
    escapes,
    needed_escapes,
    plain_character,
    quoted,
    unescaped,
)
from grammar_core.frontends.json_schema.text_patterns import TextPattern
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    Edge,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Sequence,
)
from grammar_core.ir.traversal import transform_expression
from grammar_core.regular import RegularLanguage

MAX_CHARACTER_SETS = 4_000
"""Sets of characters on the edges of the automata of one value's strings. Each has escapes of its own."""

Define = Callable[[str, Expr], RuleRef]
"""Gives an expression a rule: the reference to it. The same one for the same name and expression."""


class Speller:
    """Writes characters in every way that JSON allows; when `is_plain`, escaped only where they must be."""

    def __init__(self, define: Define, *, is_plain: bool) -> None:
        self._define = define
        self._is_plain = is_plain
        self._labels: dict[Ranges, tuple[CharClass | RuleRef, ...]] = {}
        self._characters: dict[Ranges, Expr] = {}
        self._known_before = 0

    def free_string(self) -> Expr:
        """Every string, with its quotes."""
        body = plain_character(ANY_CHARACTER) if self._is_plain else character(ANY_CHARACTER)
        name = "json_plain_string" if self._is_plain else "json_string"
        return self._define(name, quoted(Repeat(body, 0, None)))

    def named(self, pattern: TextPattern) -> Expr:
        """The strings of a pattern that has a name, without quotes: a rule."""
        assert pattern.name is not None
        return self._define(pattern.name, self.automaton(pattern.language))

    def automaton(self, language: RegularLanguage) -> Expr:
        """The strings of the language, without quotes."""
        self._known_before = len(self._labels)
        return language.to_automaton(self._labels_of, repeated=self._repeated)

    def counted(self, language: RegularLanguage, low: int, high: int | None) -> Expr:
        """The strings of the language that have so many characters, where those can be counted."""
        self._known_before = len(self._labels)
        return language.to_counted_automaton(self._labels_of, low, high)

    def _repeated(self, labels: tuple[CharClass | RuleRef, ...], least: int, most: int | None) -> RuleRef:
        one = labels[0] if len(labels) == 1 else Choice(labels)
        return self._define("json_characters", Repeat(one, least, most))

    def expression(self, expr: Expr) -> Expr:
        """The strings that a regular expression matches, without quotes."""
        self._known_before = len(self._labels)
        return transform_expression(expr, self._spell, opaque=(Automaton,))

    def _spell(self, expr: Expr) -> Expr:
        if isinstance(expr, CharClass):
            return self._character(expr.ranges)
        if isinstance(expr, Literal):
            characters = expr.value.decode()
            return Sequence(tuple(self._character(((ord(one), ord(one)),)) for one in characters))
        if isinstance(expr, Automaton):
            return expr._replace(edges=tuple(self._spelled_edges(expr)))
        return expr

    def _spelled_edges(self, automaton: Automaton) -> Iterator[Edge]:
        for source, target, label in automaton.edges:
            assert isinstance(label, CharClass), "a set of strings has no rules"
            for spelled in self._labels_of(label.ranges):
                yield source, target, spelled

    def _character(self, ranges: Ranges) -> Expr:
        found = self._characters.get(ranges)
        if found is None:
            found = plain_character(ranges) if self._is_plain else character(ranges)
            if not isinstance(found, CharClass):
                found = self._define("json_character", found)
            self._characters[ranges] = found
        return found

    def _labels_of(self, ranges: Ranges) -> tuple[CharClass | RuleRef, ...]:
        found = self._labels.get(ranges)
        if found is None:
            if len(self._labels) - self._known_before >= MAX_CHARACTER_SETS:
                raise GrammarLimitError(
                    f"The strings need more than {MAX_CHARACTER_SETS:,} sets of characters",
                    limit="character_sets",
                    value=MAX_CHARACTER_SETS,
                    dialect="JSON schema",
                )
            itself = unescaped(ranges)
            escaped = needed_escapes(ranges) if self._is_plain else escapes(ranges)
            found = (itself,) if itself.ranges else ()
            if escaped is not None:
                found = (*found, self._define("json_escape", escaped))
            self._labels[ranges] = found
        return found


def without_hold(method: Define) -> Define:
    """The bound method without a hold on its object, for what that object has itself.

    A circle of the two would leave all that is made on the way from a schema to rules to the collector, which
    takes several times as long as to let go of it at once.
    """
    reference = WeakMethod(method)

    def define(hint: str, body: Expr) -> RuleRef:
        found = reference()
        assert found is not None, "the object is still in use"
        return found(hint, body)

    return define
