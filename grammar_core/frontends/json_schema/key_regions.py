"""The keys of an object without a name of their own, divided by the sets of keys that its rules speak of."""

from __future__ import annotations

from collections.abc import Sized
from functools import reduce
from itertools import product
from typing import NamedTuple, TypeAlias

from grammar_core.deadline import check_now
from grammar_core.frontends.json_schema.errors import JsonSchemaLimitError
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, join
from grammar_core.frontends.json_schema.key_sets import (
    Atom,
    LanguageKeys,
    PatternKeys,
    atom_of,
    has_region,
    parts,
)
from grammar_core.frontends.json_schema.paths import pointer_of
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.texts import TextLanguage

MAX_REGIONS = 100
"""Parts into which patterns and propertyNames divide the keys of one object."""

Texts: TypeAlias = tuple[TextLanguage, ...]


class Region(NamedTuple):
    """Keys without a name of their own that are in the same sets, and what their values have to meet."""

    memberships: dict[Atom, bool]
    languages: Texts
    goal: Goal


_Divided: TypeAlias = list[tuple[dict[Atom, bool], Texts]]
"""Combinations of sets in which there is a key, and the languages of their keys."""


class Regions:
    """The regions of the shapes of one grammar. Keys that are divided alike are divided once."""

    def __init__(self) -> None:
        self._others: dict[frozenset[str], TextLanguage] = {}
        self._in_some: dict[tuple[frozenset[str], tuple[Atom, ...]], _Divided] = {}
        self._in_none: dict[tuple[frozenset[str], tuple[Atom, ...]], TextLanguage] = {}

    def of(self, shape: ObjectShape, names: list[str]) -> list[Region]:
        """The keys but `names`, divided by the sets that they are in, without parts that may not be there."""
        atoms: dict[Atom, Texts] = {}
        for keys in (*(keys for keys, _ in shape.rules), *(keys for keys, _, _ in shape.witnesses)):
            for part in parts(keys):
                if isinstance(part, PatternKeys):
                    atoms[atom_of(part)] = (part.language,)
                elif isinstance(part, LanguageKeys):
                    atoms[atom_of(part)] = part.languages
        others = self._others_than(names)
        in_none = dict.fromkeys(atoms, False)
        if not shape.witnesses and _is_same_everywhere(shape, list(atoms)):
            return [Region({}, (others,), _goal_in_region(shape, in_none))]
        key = (frozenset(names), tuple(atoms))
        if key not in self._in_some:
            self._in_some[key] = _in_some(shape, atoms, others)
        regions = _allowed(shape, self._in_some[key])
        if _goal_in_region(shape, in_none) is not NEVER:
            if key not in self._in_none:
                self._in_none[key] = _in_none(atoms, others)
            regions += _allowed(shape, [(in_none, (self._in_none[key],))])
            _check_number(shape, regions)
        return _merged(regions) if not shape.witnesses else regions

    def _others_than(self, names: list[str]) -> TextLanguage:
        if not names:
            return TextLanguage.all()
        key = frozenset(names)
        if key not in self._others:
            self._others[key] = TextLanguage.of_values(names).complement()
        return self._others[key]


def _allowed(shape: ObjectShape, divided: _Divided) -> list[Region]:
    """The regions in which there may be a key."""
    regions = (Region(m, languages, _goal_in_region(shape, m)) for m, languages in divided)
    allowed = (region for region in regions if region.goal is not NEVER)
    nonempty = (region._replace(languages=_nonempty(region.languages)) for region in allowed)
    return [region for region in nonempty if region.languages]


def _goal_in_region(shape: ObjectShape, memberships: dict[Atom, bool]) -> Goal:
    goal: Goal = ANY
    for keys, rule in shape.rules:
        if rule and has_region(keys, memberships):
            goal = join(goal, rule)
    return goal


def _is_same_everywhere(shape: ObjectShape, atoms: list[Atom]) -> bool:
    """Whether the goal of a key without a name of its own does not depend on the sets that it is in."""
    if len(atoms) > 3:
        return False
    goals = {
        _goal_in_region(shape, dict(zip(atoms, bits, strict=True)))
        for bits in product((True, False), repeat=len(atoms))
    }
    return len(goals) == 1 and NEVER not in goals


def _in_some(shape: ObjectShape, atoms: dict[Atom, Texts], others: TextLanguage) -> _Divided:
    """The keys that are in a set, set by set; settled, so that no step is done again.

    Of only one set they stay a description, from which more may be told.
    """
    if len(atoms) == 1:
        ((atom, inside),) = atoms.items()
        return [({atom: True}, tuple(others.intersect(part) for part in inside))]
    found: _Divided = []
    before: dict[Atom, bool] = {}
    for atom, inside in atoms.items():
        first = tuple(others.intersect(part).settled() for part in inside)  # in this set and none before it
        divided: _Divided = []
        for memberships, languages in found:
            check_now()
            met, outside = _split(languages, inside)
            divided += [({**memberships, atom: True}, met), ({**memberships, atom: False}, outside)]
            for one in met:
                first = tuple(language.without(one) for language in first)
        divided.append(({**before, atom: True}, first))
        nonempty = ((m, _nonempty(languages)) for m, languages in divided)
        found = [(memberships, languages) for memberships, languages in nonempty if languages]
        before[atom] = False
        _check_number(shape, found)
    return found


def _in_none(atoms: dict[Atom, Texts], others: TextLanguage) -> TextLanguage:
    """The keys that are in no set, of which the automaton is large and often not asked for."""
    languages = [part for inside in atoms.values() for part in inside]
    if len(atoms) == 1:
        return reduce(TextLanguage.intersect, (part.complement() for part in languages), others)
    in_some = _united(languages)
    return others if in_some is None else others.intersect(in_some.complement()).settled()


def _split(languages: Texts, inside: Texts) -> tuple[Texts, Texts]:
    """What of the languages is inside and is not empty, and what is not inside."""
    met: list[TextLanguage] = []
    for part in inside:
        rest: list[TextLanguage] = []
        for one in languages:
            check_now()
            both = one.intersect(part).settled()
            if both.is_empty():
                rest.append(one)
            else:
                met.append(both)
                rest.append(one.without(part))
        languages = tuple(rest)
    return tuple(met), languages


def _united(languages: list[TextLanguage]) -> TextLanguage | None:
    """The strings in any of the languages; two of about the same size at a time."""
    while len(languages) > 1:
        check_now()
        pairs = zip(languages[::2], languages[1::2], strict=False)
        odd = languages[len(languages) - len(languages) % 2 :]
        languages = [*(one.union(other) for one, other in pairs), *odd]
    return languages[0] if languages else None


def _nonempty(languages: Texts) -> Texts:
    return tuple(language for language in languages if not language.is_empty())


def _check_number(shape: ObjectShape, found: Sized) -> None:
    if len(found) > MAX_REGIONS:
        raise JsonSchemaLimitError(
            f"patternProperties divide the keys of one object into more than {MAX_REGIONS} parts",
            limit="key_sets",
            value=MAX_REGIONS,
            pointer=pointer_of((shape.path, "patternProperties")),
            keyword="patternProperties",
        )


def _merged(regions: list[Region]) -> list[Region]:
    """One region for all with the same goal."""
    by_goal: dict[Goal, Region] = {}
    for region in regions:
        same = by_goal.get(region.goal)
        languages = region.languages if same is None else same.languages + region.languages
        by_goal[region.goal] = region._replace(languages=languages)
    return list(by_goal.values())
