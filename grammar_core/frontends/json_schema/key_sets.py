"""Sets of object keys, as the keywords of objects describe them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from grammar_core.frontends.json_schema.texts import TextLanguage


class NamedKeys(NamedTuple):
    """These keys."""

    names: frozenset[str]


class PatternKeys(NamedTuple):
    """Keys in which the pattern is found."""

    pattern: str
    language: TextLanguage


class LanguageKeys(NamedTuple):
    """Keys that belong to one of the languages; `number` tells equal ones."""

    number: int
    languages: tuple[TextLanguage, ...]


class OtherKeys(NamedTuple):
    """Keys of none of these sets."""

    sets: tuple[KeySet, ...]


KeySet: TypeAlias = NamedKeys | PatternKeys | LanguageKeys | OtherKeys
ALL_KEYS = OtherKeys(())

Atom: TypeAlias = str | int
"""What tells a PatternKeys or LanguageKeys: its pattern or number."""


def has_key(keys: KeySet, name: str) -> bool:
    """Whether `name` is in the set."""
    if isinstance(keys, NamedKeys):
        return name in keys.names
    if isinstance(keys, PatternKeys):
        return keys.language.contains(name)
    if isinstance(keys, LanguageKeys):
        return any(language.contains(name) for language in keys.languages)
    return not any(has_key(inner, name) for inner in keys.sets)


def has_region(keys: KeySet, region: dict[Atom, bool]) -> bool:
    """Whether keys without a name of their own, in the sets that `region` says, are in the set."""
    if isinstance(keys, NamedKeys):
        return False
    if isinstance(keys, PatternKeys):
        return region[keys.pattern]
    if isinstance(keys, LanguageKeys):
        return region[keys.number]
    return not any(has_region(inner, region) for inner in keys.sets)


def parts(keys: KeySet) -> Iterator[KeySet]:
    """The sets that the set is described by, of any kind but OtherKeys."""
    if isinstance(keys, OtherKeys):
        for inner in keys.sets:
            yield from parts(inner)
    else:
        yield keys


def atom_of(keys: PatternKeys | LanguageKeys) -> Atom:
    """What tells the set from others."""
    return keys.pattern if isinstance(keys, PatternKeys) else keys.number
