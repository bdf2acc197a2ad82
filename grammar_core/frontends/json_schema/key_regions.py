"""The keys of an object without a name of their own, divided by the sets of keys that its rules speak of."""

from __future__ import annotations

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


def regions_of(shape: ObjectShape, names: list[str]) -> list[Region]:
    """The keys but `names`, divided by the sets that they are in, without parts that may not be there."""
    atoms: dict[Atom, Texts] = {}
    for keys in (*(keys for keys, _ in shape.rules), *(keys for keys, _, _ in shape.witnesses)):
        for part in parts(keys):
            if isinstance(part, PatternKeys):
                atoms[atom_of(part)] = (part.language,)
            elif isinstance(part, LanguageKeys):
                atoms[atom_of(part)] = part.languages
    others = TextLanguage.of_values(names).complement() if names else TextLanguage.all()
    if not shape.witnesses and _is_same_everywhere(shape, list(atoms)):
        return [Region({}, (others,), _goal_in_region(shape, dict.fromkeys(atoms, False)))]
    divide = _divided_by_one if len(atoms) == 1 else _divided_by_all
    regions = [
        Region(memberships, languages, _goal_in_region(shape, memberships))
        for memberships, languages in divide(shape, atoms, others)
    ]
    regions = [region for region in regions if region.goal is not NEVER]
    return _merged(regions) if not shape.witnesses else regions


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


_Divided: TypeAlias = list[tuple[dict[Atom, bool], Texts]]
"""Combinations of sets in which there is a key, and the languages of their keys."""


def _divided_by_one(shape: ObjectShape, atoms: dict[Atom, Texts], others: TextLanguage) -> _Divided:
    """What is in the only set and what is not: as descriptions, from which more may be told."""
    ((atom, inside),) = atoms.items()
    met = tuple(others.intersect(part) for part in inside)
    outside = others
    for part in inside:
        outside = outside.intersect(part.complement())
    divided = (({atom: True}, met), ({atom: False}, (outside,)))
    allowed = ((m, languages) for m, languages in divided if _goal_in_region(shape, m) is not NEVER)
    nonempty = ((m, _nonempty(languages)) for m, languages in allowed)
    return [(memberships, languages) for memberships, languages in nonempty if languages]


def _divided_by_all(shape: ObjectShape, atoms: dict[Atom, Texts], others: TextLanguage) -> _Divided:
    """Set by set; languages are settled, so that no step is done again.

    Keys of none of the sets come last, since their automaton is large and often not asked for.
    """
    found: _Divided = []
    in_none: dict[Atom, bool] = {}
    for atom, inside in atoms.items():
        first = tuple(others.intersect(part).settled() for part in inside)  # in this set and none before it
        divided: _Divided = []
        for memberships, languages in found:
            check_now()
            met, outside = _split(languages, inside)
            divided += [({**memberships, atom: True}, met), ({**memberships, atom: False}, outside)]
            for one in met:
                first = tuple(language.without(one) for language in first)
        divided.append(({**in_none, atom: True}, first))
        nonempty = ((m, _nonempty(languages)) for m, languages in divided)
        found = [(memberships, languages) for memberships, languages in nonempty if languages]
        in_none[atom] = False
        _check_number(shape, found)
    if _goal_in_region(shape, in_none) is not NEVER:
        in_some = _united([part for inside in atoms.values() for part in inside])
        rest = others if in_some is None else others.intersect(in_some.complement()).settled()
        if not rest.is_empty():
            found.append((in_none, (rest,)))
            _check_number(shape, found)
    return found


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


def _check_number(shape: ObjectShape, found: _Divided) -> None:
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
