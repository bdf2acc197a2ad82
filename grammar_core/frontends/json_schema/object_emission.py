"""Object shapes to expressions: a rule for every key or set of keys, and how they follow one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from grammar_core.deadline import check, check_now
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, join
from grammar_core.frontends.json_schema.key_regions import Region
from grammar_core.frontends.json_schema.key_sets import (
    KeySet,
    NamedKeys,
    OtherKeys,
    PatternKeys,
    has_key,
    has_region,
    parts,
)
from grammar_core.frontends.json_schema.paths import Path
from grammar_core.frontends.json_schema.remembered import matching
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.ir.nodes import (
    EMPTY,
    Choice,
    Expr,
    Literal,
    Member,
    Members,
    RuleRef,
    Sequence,
    matches_nothing,
)

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.emission import Emitter

MAX_WITNESSES = 5
MAX_VARIANTS = 500
_OPEN, _CLOSE = Literal(b"{"), Literal(b"}")


def emit(emitter: Emitter, shape: ObjectShape, depth: int) -> list[Expr]:
    """Expressions that together match the objects of the shape."""
    if shape.max is not None and shape.min > shape.max:
        return []
    if emitter.is_strict and shape.is_declared and not shape.is_open:
        shape = replace(shape, rules=(*shape.rules, (_unnamed(shape), NEVER)))
    if _is_plain(shape):
        return _plain_object(emitter, shape, depth)
    names = _all_names(shape)
    goals = {name: shape.goal_of(name) for name in names}
    regions = emitter.regions.of(shape, names)
    found = []
    for wanted, witnesses in _variants(emitter, shape, goals, regions):
        check_now()
        expr = _object(emitter, shape, {**goals, **wanted}, wanted.keys(), regions, witnesses, depth)
        if expr is not None:
            found.append(expr)
    return found


def _is_plain(shape: ObjectShape) -> bool:
    """Whether at most one rule concerns the keys without a name of their own, and nothing but it."""
    if shape.witnesses or shape.implications or len(shape.rules) > 1:
        return False
    if not shape.rules:
        return True
    keys, _ = shape.rules[0]
    if not isinstance(keys, OtherKeys) or len(keys.sets) > 1:
        return False
    return not keys.sets or (isinstance(keys.sets[0], NamedKeys) and keys.sets[0].names <= shape.named.keys())


def _named_in(keys: KeySet) -> frozenset[str]:
    """The keys that a plain rule does not concern."""
    assert isinstance(keys, OtherKeys)
    return keys.sets[0].names if keys.sets and isinstance(keys.sets[0], NamedKeys) else frozenset()


def _plain_object(emitter: Emitter, shape: ObjectShape, depth: int) -> list[Expr]:
    required = set(shape.required)
    others = shape.rules[0][1] if shape.rules else ANY
    goals = shape.named
    if not goals.keys() >= required or (shape.rules and _named_in(shape.rules[0][0]) != goals.keys()):
        goals = {**goals, **dict.fromkeys(shape.required, others)}
        goals = {name: shape.goal_of(name) for name in goals}
    specs: list[Member] = []
    for name, goal in goals.items():
        check()
        value = None if goal is NEVER else emitter.value(goal, depth + 1, name)
        if value is not None and not matches_nothing(value):
            specs.append(Member(emitter.named_member(name, value), name in required, False))
        elif name in required:
            return []
    if others is not NEVER:
        language = TextLanguage.of_values(goals).complement() if goals else TextLanguage.all()
        rule = emitter.other_member(language, emitter.value(others, depth + 1, "extra"))
        specs.append(Member(rule, False, True, emitter.tells_apart(language)))
    expr = _assemble(emitter, shape, specs, (), depth)
    return [] if expr is None else [expr]


def any_object(emitter: Emitter, value: RuleRef) -> Expr:
    """Objects of any keys with these values."""
    key = emitter.key_language(TextLanguage.all())
    member = emitter.add("json_member", Sequence((key, emitter.layout.colon, value)))
    members = Members(
        (Member(member, False, True, emitter.tells_apart(TextLanguage.all())),),
        emitter.layout.comma,
        True,
        1,
        None,
        (),
    )
    gap = emitter.layout.gap
    inside = members if gap is None else Sequence((members, gap))
    return _braces(emitter, Choice((EMPTY, inside)))


def _unnamed(shape: ObjectShape) -> KeySet:
    named = NamedKeys(frozenset((*shape.named, *shape.required)))
    patterns = [part for keys, _ in shape.rules for part in parts(keys) if isinstance(part, PatternKeys)]
    return OtherKeys((named, *patterns))


def _all_names(shape: ObjectShape) -> list[str]:
    """Every key that is spoken of, in order of mention."""
    names = dict.fromkeys(shape.named)
    for keys, _ in shape.rules:
        for part in parts(keys):
            if isinstance(part, NamedKeys):
                names.update(dict.fromkeys(sorted(part.names - names.keys())))
    for keys, _, _ in shape.witnesses:
        for part in parts(keys):
            if isinstance(part, NamedKeys):
                names.update(dict.fromkeys(sorted(part.names - names.keys())))
    names.update(dict.fromkeys(shape.required))
    for name, other in shape.implications:
        names.update({name: None, other: None})
    return list(names)


# --- witnesses


def _variants(
    emitter: Emitter, shape: ObjectShape, goals: dict[str, Goal], regions: list[Region]
) -> Iterator[tuple[dict[str, Goal], list[tuple[int, Goal]]]]:
    """Ways to choose the key that every witness asks for: named ones, which are then required and have these
    goals, and regions of which some key has a value that meets a goal."""
    if not shape.witnesses:
        yield {}, []
        return
    if len(shape.witnesses) > MAX_WITNESSES:
        path = shape.witnesses[MAX_WITNESSES][2]
        emitter.expander.refuse(_keyword(path), path, "is complemented together with too many others")
        yield {}, []
        return
    choices = []
    for keys, goal, _ in shape.witnesses:
        options: list[tuple[str | int, Goal]] = [(name, goal) for name in goals if has_key(keys, name)]
        options += ((i, goal) for i, region in enumerate(regions) if has_region(keys, region.memberships))
        choices.append(options)
    if prod(map(len, choices)) > MAX_VARIANTS:
        path = shape.witnesses[0][2]
        emitter.expander.refuse(_keyword(path), path, "is complemented in too many ways")
        yield {}, []
        return
    for picks in product(*choices):
        wanted: dict[str, Goal] = {}
        places: list[tuple[int, Goal]] = []
        for place, goal in picks:
            if isinstance(place, str):
                wanted[place] = join(wanted.get(place, goals[place]), goal)
            else:
                places.append((place, join(regions[place].goal, goal)))
        yield from ((wanted, shared) for shared in _shared_places(places))


def _shared_places(places: list[tuple[int, Goal]]) -> Iterator[list[tuple[int, Goal]]]:
    """The ways to let one key of a region be what several witnesses ask for."""
    if not places:
        yield []
        return
    (region, goal), rest = places[0], places[1:]
    for others in _shared_places(rest):
        yield [(region, goal), *others]
        for i, (other, wanted) in enumerate(others):
            if other == region:
                yield [*others[:i], (region, join(goal, wanted)), *others[i + 1 :]]


def _keyword(path: Path) -> str:
    """The keyword of a witness: in the end of its path, or before the pattern."""
    assert path is not None
    before, last = path
    is_pattern = before is not None and before[1] == "patternProperties"
    return "patternProperties" if is_pattern else str(last)


# --- expressions


def _object(
    emitter: Emitter,
    shape: ObjectShape,
    goals: dict[str, Goal],
    wanted: object,
    regions: list[Region],
    witnesses: list[tuple[int, Goal]],
    depth: int,
) -> Expr | None:
    required = {*shape.required, *wanted}  # type: ignore[misc]
    expander = emitter.expander
    specs: list[Member] = []
    index: dict[str, int] = {}
    for name, goal in goals.items():
        if goal is NEVER:
            if name in required:
                return None
            continue
        value = emitter.value(goal, depth + 1, name)
        if matches_nothing(value):
            if name in required:
                return None
            continue
        index[name] = len(specs)
        rule = emitter.named_member(name, value)
        specs.append(Member(rule, name in required, False))
    implications = []
    for name, other in shape.implications:
        if name not in index:
            continue
        if other not in index:
            if name in required:
                return None
            del specs[index[name]]
            return _without(emitter, shape, goals, name, wanted, regions, witnesses, depth)
        implications.append((index[name], index[other]))
    for place, goal in witnesses:
        if expander.is_void(goal):
            return None
        specs += _region_members(emitter, regions[place], goal, depth, required=True)
    for region in regions:
        specs += _region_members(emitter, region, region.goal, depth, required=False)
    return _assemble(emitter, shape, specs, tuple(implications), depth)


def _without(
    emitter: Emitter,
    shape: ObjectShape,
    goals: dict[str, Goal],
    name: str,
    wanted: object,
    regions: list[Region],
    witnesses: list[tuple[int, Goal]],
    depth: int,
) -> Expr | None:
    """The object when a key may not be there because what it implies may not."""
    return _object(emitter, shape, {**goals, name: NEVER}, wanted, regions, witnesses, depth)


def _region_members(
    emitter: Emitter, region: Region, goal: Goal, depth: int, *, required: bool
) -> list[Member]:
    key = (id(region), goal, depth, required)
    known = emitter.region_members.get(key)
    if known is None:
        members = _new_region_members(emitter, region, goal, depth, required=required)
        known = emitter.region_members[key] = (region, members)
    return known[1]


def _new_region_members(
    emitter: Emitter, region: Region, goal: Goal, depth: int, *, required: bool
) -> list[Member]:
    value = emitter.value(goal, depth + 1, "extra")
    pattern = _only_pattern(region)
    if pattern is not None:
        emitter.note_pattern(region.languages[0], pattern)
    rules = [emitter.other_member(language, value) for language in region.languages]
    if required and len(rules) > 1:
        is_distinct = all(map(emitter.tells_apart, region.languages))
        return [Member(emitter.add("extra", Choice(tuple(rules))), True, True, is_distinct)]
    return [
        Member(rule, required, True, emitter.tells_apart(language))
        for rule, language in zip(rules, region.languages, strict=True)
    ]


def _only_pattern(region: Region) -> str | None:
    """The pattern that alone tells the keys of the region."""
    inside = [atom for atom, is_inside in region.memberships.items() if is_inside]
    if len(region.memberships) != 1 or not inside or not isinstance(inside[0], str):
        return None
    is_whole = len(region.languages) == 1 and region.languages[0] is matching(inside[0])
    return inside[0] if is_whole else None


def _assemble(
    emitter: Emitter,
    shape: ObjectShape,
    specs: list[Member],
    implications: tuple[tuple[int, int], ...],
    depth: int,
) -> Expr | None:
    low, high = shape.min, shape.max
    may_be_empty = low == 0 and not any(spec.required for spec in specs)
    if not specs or high == 0:
        return _empty(emitter) if may_be_empty else None
    if not any(spec.repeatable for spec in specs) and low > len(specs):
        return None
    layout = emitter.layout
    comma = layout.comma if layout.indent is None else emitter.indented_comma(depth + 1)
    members = Members(tuple(specs), comma, not emitter.any_order, max(low, 1), high, implications)
    if layout.indent is not None:
        full: Expr = Sequence((_OPEN, layout.line(depth + 1), members, layout.line(depth), _CLOSE))
        return Choice((Literal(b"{}"), full)) if may_be_empty else full
    if layout.gap is None:
        return _braces(emitter, Choice((EMPTY, members)) if may_be_empty else members)
    inside = Sequence((members, layout.gap))
    return _braces(emitter, Choice((EMPTY, inside)) if may_be_empty else inside)


def _empty(emitter: Emitter) -> Expr:
    return Literal(b"{}") if emitter.layout.gap is None else _braces(emitter, EMPTY)


def _braces(emitter: Emitter, inside: Expr) -> Expr:
    """The inside, which ends with its own gap, between braces."""
    gap = emitter.layout.gap
    begin, end = emitter.object_brackets
    return Sequence((begin, inside, end)) if gap is None else Sequence((begin, gap, inside, end))
