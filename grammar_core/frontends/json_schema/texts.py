"""Sets of strings, as the values of JSON strings after their escapes are resolved.

A set stays a description (bounds on the length, patterns, formats, given values, excluded values) for as
long as that is enough. A finite automaton is made of it only for what needs one: two patterns, a pattern
with bounds on the length that its form does not absorb, a complement, the question whether there is any text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Literal as OneOf

from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.formats import format_pattern
from grammar_core.frontends.json_schema.length_bounds import bound_length, most_copies
from grammar_core.frontends.json_schema.patterns import read_pattern
from grammar_core.frontends.json_schema.speller import Define, Speller
from grammar_core.frontends.json_schema.string_spelling import natural_literal, quoted
from grammar_core.frontends.json_schema.text_patterns import TextPattern
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import CharClass, Expr, Repeat
from grammar_core.regular import RegularLanguage

Lexical = OneOf["natural", "any"]
_FEW_COPIES = 32
"""Repetitions up to this one become states; others are counted if it is clear where they end."""
_MANY_COPIES = 2_000
"""Repetitions beyond this one are counted even if it is not."""
_FEW_CHARACTERS = 4
"""Bounds on the length up to this one become states."""
_FREE_TEXT = TextPattern(Repeat(CharClass(ANY_CHARACTER), 0, None))


class TextLanguage:
    """An immutable set of strings. Lengths count characters (code points).

    Strings with half of a surrogate pair alone are in no set: they are not text.
    """

    __slots__ = ("_excluded", "_high", "_language", "_low", "_parts", "_patterns", "_values", "_whole")

    def __init__(
        self,
        values: dict[str, None] | None = None,
        low: int = 0,
        high: int | None = None,
        patterns: tuple[TextPattern, ...] = (),
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        """The given values if there are any; else what all the rest allows."""
        self._values = values
        self._low = low
        self._high = high
        self._patterns = patterns
        self._parts: tuple[TextPattern | RegularLanguage, ...] = patterns  # automata of several where known
        self._excluded = excluded
        self._language: RegularLanguage | None = None
        self._whole: RegularLanguage | None = None

    @staticmethod
    def all() -> TextLanguage:
        """Every string."""
        return _ALL

    @staticmethod
    def none() -> TextLanguage:
        """No string."""
        return _NONE

    @staticmethod
    def of_values(values: Iterable[str]) -> TextLanguage:
        """Just these strings."""
        return TextLanguage({value: None for value in values if _is_text(value)})

    @staticmethod
    def matching(pattern: str) -> TextLanguage:
        """The strings in which a regular expression of ECMAScript is found (flag u, unanchored).

        Raises RegexError with the column, GrammarLimitError.
        """
        read = read_pattern(pattern)
        is_bounded = read.min > 0 or read.max is not None
        language = TextLanguage.length(read.min, read.max) if is_bounded else _ALL
        for expression in read.expressions:
            if bound_length(expression, 0, None) != _FREE_TEXT.expression:
                language = language.intersect(TextLanguage(patterns=(TextPattern(expression),)))
        return language

    @staticmethod
    def format(name: str) -> TextLanguage:
        """The strings of a format of the standard; every string for other names, which only annotate.

        Raises UnsupportedFeatureError for formats whose strings are no regular set.
        """
        pattern = format_pattern(name)
        return _ALL if pattern is None else TextLanguage(patterns=(pattern,))

    @staticmethod
    def length(low: int, high: int | None) -> TextLanguage:
        """The strings of `low` to `high` characters (None: any number)."""
        if high is not None and high < low:
            return _NONE
        if high == 0:
            return TextLanguage({"": None})
        return TextLanguage(low=low, high=high)

    def intersect(self, other: TextLanguage) -> TextLanguage:
        """The strings in both."""
        if self is _ALL or other is _ALL:
            return other if self is _ALL else self
        if self._values is not None and other._values is not None:
            fewer, more = sorted((self._values, other._values), key=len)
            return TextLanguage({value: None for value in fewer if value in more})
        if self._values is not None:
            return TextLanguage({value: None for value in self._values if other.contains(value)})
        if other._values is not None:
            return other.intersect(self)
        low = max(self._low, other._low)
        highs = [high for high in (self._high, other._high) if high is not None]
        high = min(highs, default=None)
        if high is not None and high < low:
            return _NONE
        new = tuple(pattern for pattern in other._patterns if pattern not in self._patterns)
        both = TextLanguage(None, low, high, self._patterns + new, self._excluded | other._excluded)
        both._parts = self._known_parts() + (other._known_parts() if new else ())
        return both

    def complement(self) -> TextLanguage:
        """Every string that is not in the set. Raises GrammarLimitError."""
        if self._values is not None:
            return TextLanguage(excluded=frozenset(self._values))
        if not self._patterns and not self._excluded:
            if self._high is None:
                return TextLanguage.length(0, self._low - 1) if self._low else _NONE
            if not self._low:
                return TextLanguage.length(self._high + 1, None)
        if not self._patterns and self._high is None and not self._low:
            return TextLanguage(dict.fromkeys(sorted(self._excluded)))
        return _of_language(self.language.complement())

    def union(self, other: TextLanguage) -> TextLanguage:
        """The strings in either. Raises GrammarLimitError."""
        if self._values is not None and other._values is not None:
            return TextLanguage({**self._values, **other._values})
        if _ALL in (self, other):
            return _ALL
        if self._values == {} or other._values == {}:
            return other if self._values == {} else self
        return _of_language(self.language.union(other.language))

    def without(self, other: TextLanguage) -> TextLanguage:
        """The strings that are not in the other set, settled. Raises GrammarLimitError."""
        if self._values is not None or other._values is not None:
            return self.intersect(other.complement()).settled()
        return _of_language(self.language.subtract(other.language))

    def is_empty(self) -> bool:
        """Whether there is no string. Raises GrammarLimitError."""
        if self._values is not None:
            return not self._values
        if not self._patterns:
            return False
        whole = self._of_any_length
        low, high = self._low, self._high
        if whole.is_empty() or (not low and high is None):
            return whole.is_empty()
        shortest, longest = whole.length_range()
        if low <= shortest:
            return high is not None and high < shortest
        if high is None or (longest is not None and longest <= high):
            return longest is not None and longest < low
        return not whole.counts(low, high) and self.language.is_empty()

    def is_all(self) -> bool:
        """Whether there is every string. Raises GrammarLimitError."""
        if self._values is not None or self._excluded or self._low or self._high is not None:
            return False
        return all(pattern.language.is_universal() for pattern in self._patterns)

    def contains(self, text: str) -> bool:
        """Whether the string is in the set."""
        if self._values is not None:
            return text in self._values
        if len(text) < self._low or (self._high is not None and len(text) > self._high):
            return False
        if text in self._excluded or not _is_text(text):
            return False
        return all(pattern.language.contains(text) for pattern in self._patterns)

    def finite_values(self, limit: int) -> list[str] | None:
        """Every string; None if there are more than `limit`. Raises GrammarLimitError."""
        if self._values is not None:
            return list(self._values) if len(self._values) <= limit else None
        return self.language.texts(limit) if self._patterns else None

    def is_endless(self) -> bool:
        """Whether the beginning of a string of the set is always that of endlessly many.

        Raises GrammarLimitError.
        """
        if self._values is not None or self._high is not None:
            return False
        return not self._patterns or self._of_any_length.is_endless()

    @property
    def language(self) -> RegularLanguage:
        """The set as an automaton. Raises GrammarLimitError."""
        if self._language is None:
            self._language = self._build_language()
        return self._language

    def to_expression(self, lexical: Lexical, define: Define) -> Expr:
        """The JSON strings, quotes included, whose values are in the set. `define` makes rules.

        Given values are spelled in one way unless `lexical` is "any", and everything else in all ways.
        Raises GrammarLimitError.
        """
        return self.spelled(lexical, Speller(define, is_plain=False))

    def to_key_expression(self, lexical: Lexical, define: Define) -> Expr:
        """The same for keys of objects: unless `lexical` is "any", escaped only where they must be."""
        return self.spelled(lexical, Speller(define, is_plain=lexical == "natural"))

    def spelled(self, lexical: Lexical, speller: Speller) -> Expr:
        """The JSON strings, quotes included, whose values are in the set, in the spellings of `speller`.

        Given values are spelled in one way unless `lexical` is "any". Raises GrammarLimitError.
        """
        if self._values is None:
            return speller.free_string() if self.is_unrestricted() else quoted(self._body(speller))
        if not self._values:
            return CharClass(())
        if lexical == "natural":
            return choice(tuple(natural_literal(value) for value in self._values))
        return quoted(speller.automaton(self.language))

    def is_spelled_by_automaton(self) -> bool:
        """Whether the set is spelled as an automaton, or as one whose characters are counted."""
        return self._values is None and (bool(self._excluded) or len(self._patterns) > 1)

    @property
    def bounds(self) -> tuple[int, int | None]:
        """The bounds on the length that the description has."""
        return self._low, self._high

    def joined(self, other: TextLanguage) -> TextLanguage:
        """The strings in either of two sets with the same bounds. Raises GrammarLimitError."""
        whole = _of_language(self._of_any_length.union(other._of_any_length))
        if whole is _NONE:
            return self
        return whole.intersect(TextLanguage.length(self._low, self._high))

    def given_values(self) -> list[str] | None:
        """The strings, if the set was given as a list of them."""
        return None if self._values is None else list(self._values)

    def bounds_only(self) -> tuple[int, int | None] | None:
        """The bounds on the length, if the set says nothing else."""
        says_more = self._values is not None or self._patterns or self._excluded
        return None if says_more else (self._low, self._high)

    def excluded_only(self) -> frozenset[str] | None:
        """The strings that are not in the set, where the description says nothing else."""
        is_plain = self._values is None and not self._patterns and not self._low and self._high is None
        return self._excluded if is_plain else None

    def settled(self) -> TextLanguage:
        """The same set, described by its automaton."""
        return self if self._values is not None else _of_language(self.language)

    def is_unrestricted(self) -> bool:
        """Whether the description says nothing."""
        return self is _ALL or not (
            self._values is not None
            or self._patterns
            or self._excluded
            or self._low
            or self._high is not None
        )

    def _body(self, speller: Speller) -> Expr:
        if self._excluded or len(self._patterns) > 1:
            return self._automaton(speller)
        pattern = self._patterns[0] if self._patterns else _FREE_TEXT
        if pattern.name is not None and not self._low and self._high is None:
            return speller.named(pattern)
        counted = bound_length(pattern.expression, self._low, self._high)
        if counted is not None and (not self._patterns or most_copies(counted) > _FEW_COPIES):
            return speller.expression(counted)
        if not self._low and self._high is None and most_copies(pattern.expression) > _MANY_COPIES:
            return speller.expression(pattern.expression)
        return self._automaton(speller)

    def _automaton(self, speller: Speller) -> Expr:
        whole = self._of_any_length
        if max(self._low, self._high or 0) > _FEW_CHARACTERS and whole.counts(self._low, self._high):
            return speller.counted(whole, self._low, self._high)
        return speller.automaton(self.language)

    @property
    def _of_any_length(self) -> RegularLanguage:
        """All but the bounds on the length, as an automaton."""
        if self._whole is None:
            whole = _meet([part.language if isinstance(part, TextPattern) else part for part in self._parts])
            excluded = [text for text in self._excluded if whole.contains(text)]
            self._whole = whole.subtract(RegularLanguage.of_texts(excluded)) if excluded else whole
        return self._whole

    def _known_parts(self) -> tuple[TextPattern | RegularLanguage, ...]:
        """What the patterns and excluded values come to, as one automaton if that has been made."""
        return self._parts if self._whole is None else (self._whole,)

    def _build_language(self) -> RegularLanguage:
        if self._values is not None:
            return RegularLanguage.of_texts(self._values)
        whole = self._of_any_length
        return whole.with_length(self._low, self._high) if whole.exceeds(self._low, self._high) else whole


def join_automata(languages: list[TextLanguage]) -> list[TextLanguage]:
    """The same strings, with the sets that are spelled as automata in one of them for each pair of bounds.

    What a text may be read as is then one state, not one for each set.
    """
    by_bounds: dict[tuple[int, int | None], list[TextLanguage]] = {}
    for language in languages:
        if language.is_spelled_by_automaton():
            by_bounds.setdefault(language.bounds, []).append(language)
    kept = [language for language in languages if not language.is_spelled_by_automaton()]
    try:
        return kept + [reduce(TextLanguage.joined, sets) for sets in by_bounds.values()]
    except GrammarLimitError:
        return languages


def _meet(languages: list[RegularLanguage]) -> RegularLanguage:
    """What is in all of them."""
    return reduce(RegularLanguage.intersect, languages) if languages else RegularLanguage.everything()


def _of_language(language: RegularLanguage) -> TextLanguage:
    if language.is_empty():
        return _NONE
    if language.is_universal():
        return _ALL
    return TextLanguage(patterns=(TextPattern(None, language),))


def _is_text(value: str) -> bool:
    """Whether the string can be encoded: it has no half of a surrogate pair."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_ALL = TextLanguage()
_NONE = TextLanguage({})
