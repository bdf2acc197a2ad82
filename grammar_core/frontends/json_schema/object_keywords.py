"""Keywords of objects, as shapes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, complement
from grammar_core.frontends.json_schema.key_sets import (
    ALL_KEYS,
    KeySet,
    LanguageKeys,
    NamedKeys,
    OtherKeys,
    PatternKeys,
)
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.paths import Path
from grammar_core.frontends.json_schema.remembered import matching
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.values import OBJECT, STRING

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.expansion import Expander

_KEYWORDS = (
    *("properties", "patternProperties", "additionalProperties", "required", "minProperties"),
    *("maxProperties", "propertyNames", "dependentRequired", "dependencies", "unevaluatedProperties"),
)


def alternatives(expander: Expander, sub: Subschema) -> list[ObjectShape]:
    """What the keywords of objects ask, as a list of one shape or none."""
    schema = sub.schema
    if schema.keys().isdisjoint(_KEYWORDS):
        return [FULL[OBJECT]]
    named = {
        name: expander.child(sub, value, "properties", name)
        for name, value in sub.mapping("properties").items()
    }
    rules: list[tuple[KeySet, Goal]] = []
    patterns: list[KeySet] = []
    for keys, goal, _ in _pattern_rules(expander, sub):
        patterns.append(keys)
        rules.append((keys, goal))
    evaluated: list[KeySet] = [NamedKeys(frozenset(named)), *patterns]
    if "additionalProperties" in schema:
        goal = expander.child(sub, schema["additionalProperties"], "additionalProperties")
        if goal:
            rules.append((_others(named, patterns), goal))
        evaluated = [ALL_KEYS]
    if "propertyNames" in schema and sub.dialect.draft > 4:
        languages = _key_language(expander, sub)
        if languages is not None:
            rules.append((OtherKeys((languages,)), NEVER))
    is_open = "additionalProperties" in schema or "unevaluatedProperties" in schema
    shape = ObjectShape(
        named,
        tuple(rules),
        *(_counts(sub) if sub.dialect.validates else _NO_COUNTS),
        evaluated=tuple(evaluated),
        is_open=is_open,
        is_declared=bool(named or patterns),
        path=sub.path,
    )
    return [] if expander.is_void_shape(shape) else [shape]


_Counts: TypeAlias = tuple[
    tuple[str, ...], tuple[tuple[str, str], ...], tuple[tuple[KeySet, Goal, Path], ...], int, int | None
]
_NO_COUNTS: _Counts = ((), (), (), 0, None)


def _counts(sub: Subschema) -> _Counts:
    """Required keys, implications, no witnesses, and the bounds of the number of keys."""
    low, high = sub.count("minProperties"), sub.count("maxProperties")
    return sub.names("required"), tuple(_implications(sub)), (), low or 0, high


def _others(named: dict[str, Goal], patterns: list[KeySet]) -> OtherKeys:
    """The keys that additionalProperties speaks of."""
    return OtherKeys((NamedKeys(frozenset(named)), *patterns) if named else tuple(patterns))


def _pattern_rules(expander: Expander, sub: Subschema) -> list[tuple[PatternKeys, Goal, str]]:
    rules = []
    for pattern, schema in sub.mapping("patternProperties").items():
        language = expander.attempt(sub, "patternProperties", partial(matching, pattern), None)
        if language is not None:
            goal = expander.child(sub, schema, "patternProperties", pattern)
            rules.append((PatternKeys(pattern, language), goal, pattern))
    return rules


def _key_language(expander: Expander, sub: Subschema) -> LanguageKeys | None:
    """The keys that propertyNames allows; None if it allows all."""
    goal = expander.child(sub, sub.schema["propertyNames"], "propertyNames")
    return LanguageKeys(min(goal), tuple(expander.expand(goal, STRING))) if goal else None


def _implications(sub: Subschema) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    if sub.dialect.draft >= 2019:
        for name, others in sub.mapping("dependentRequired").items():
            pairs += ((name, other) for other in sub.checked_names("dependentRequired", others))
    if "dependencies" in sub.schema:
        for name, others in sub.mapping("dependencies").items():
            if isinstance(others, list):
                pairs += ((name, other) for other in sub.checked_names("dependencies", others))
    return [(name, other) for name, other in pairs if name != other]


def close(shape: ObjectShape, goal: Goal) -> ObjectShape:
    """The shape whose keys that are not evaluated meet `goal`, after which all are evaluated."""
    rule = (OtherKeys(shape.evaluated), goal)
    return replace(
        shape, rules=(*shape.rules, rule) if goal else shape.rules, evaluated=(ALL_KEYS,), is_open=True
    )


# --- complements


def absent(name: str) -> ObjectShape:
    """Objects without the key."""
    return ObjectShape({name: NEVER})


def present(name: str, goal: Goal = ANY) -> ObjectShape:
    """Objects in which the key has a value that meets `goal`."""
    return ObjectShape({name: goal}, required=(name,))


def complement_alternatives(expander: Expander, sub: Subschema) -> list[ObjectShape]:
    """Objects for which one of the keywords does not hold."""
    schema = sub.schema
    found: list[ObjectShape] = []
    if schema.keys().isdisjoint(_KEYWORDS):
        return found
    named = {
        name: expander.child(sub, value, "properties", name)
        for name, value in sub.mapping("properties").items()
    }
    required = set(sub.names("required")) if sub.dialect.validates else set()
    for name, goal in named.items():
        if name in required:  # it is not there, or its value does not meet the goal
            found.append(ObjectShape({name: complement(goal)}))
        elif goal:
            found.append(present(name, complement(goal)))
    patterns: list[KeySet] = []
    for keys, goal, pattern in _pattern_rules(expander, sub):
        patterns.append(keys)
        if goal:
            path: Path = ((sub.path, "patternProperties"), pattern)
            found.append(_witness(keys, complement(goal), path))
    if "additionalProperties" in schema:
        goal = expander.child(sub, schema["additionalProperties"], "additionalProperties")
        if goal:
            path = (sub.path, "additionalProperties")
            found.append(_witness(_others(named, patterns), complement(goal), path))
    if "propertyNames" in schema and sub.dialect.draft > 4:
        languages = _key_language(expander, sub)
        if languages is not None:
            found.append(_witness(OtherKeys((languages,)), ANY, (sub.path, "propertyNames")))
    if sub.dialect.validates:
        found += (absent(name) for name in sub.names("required") if name not in named)
        found += _count_complements(sub)
    return [shape for shape in found if not expander.is_void_shape(shape)]


def _witness(keys: KeySet, goal: Goal, path: Path) -> ObjectShape:
    """Objects in which some key of the set has a value that meets the goal."""
    return ObjectShape(witnesses=((keys, goal, path),), min=1)


def _count_complements(sub: Subschema) -> list[ObjectShape]:
    found: list[ObjectShape] = []
    low, high = sub.count("minProperties"), sub.count("maxProperties")
    if low:
        found.append(ObjectShape(max=low - 1))
    if high is not None:
        found.append(ObjectShape(min=high + 1))
    found += (present(name).meet(absent(other)) for name, other in _implications(sub))
    return found


# --- one value


def equal_to(expander: Expander, sub: Subschema, value: dict[str, Any], keyword: str) -> ObjectShape:
    """The object that equals `value`, its keys in its order."""
    named = {name: expander.constant(inner, sub, keyword) for name, inner in value.items()}
    others = OtherKeys((NamedKeys(frozenset(named)),))
    return ObjectShape(named, ((others, NEVER),), tuple(named), path=sub.path, evaluated=())


def different_from(
    expander: Expander, sub: Subschema, value: dict[str, Any], keyword: str
) -> list[ObjectShape]:
    """Objects that do not equal `value`."""
    found: list[ObjectShape] = []
    for name, inner in value.items():
        found += (absent(name), present(name, complement(expander.constant(inner, sub, keyword))))
    others = OtherKeys((NamedKeys(frozenset(value)),))
    found.append(_witness(others, ANY, (sub.path, keyword)))
    return found
