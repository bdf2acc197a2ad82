"""Languages of short patterns and of formats, which recur and whose automata take time."""

from __future__ import annotations

from functools import lru_cache

from grammar_core.frontends.json_schema.texts import TextLanguage

_MAX_LENGTH = 200


def matching(pattern: str) -> TextLanguage:
    """The strings in which the pattern is found. Raises GrammarError."""
    return _remembered(pattern) if len(pattern) <= _MAX_LENGTH else TextLanguage.matching(pattern)


@lru_cache(maxsize=256)
def _remembered(pattern: str) -> TextLanguage:
    return TextLanguage.matching(pattern)


@lru_cache(maxsize=64)
def formatted(name: str) -> TextLanguage:
    """The strings of the format. Raises GrammarError."""
    return TextLanguage.format(name)
