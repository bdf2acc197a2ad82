"""Keywords that apply schemas to the same value: allOf, anyOf, oneOf, not, if, $ref, dependentSchemas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from grammar_core.deadline import check
from grammar_core.frontends.json_schema import array_keywords, object_keywords, scalar_keywords
from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import ANY, Goal, complement
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.values import ARRAY, NULL, NUMBER, OBJECT, type_of

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.expansion import Expander

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
COMBINING = frozenset(
    (
        *(*_REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"),
        *("unevaluatedProperties", "unevaluatedItems"),
    )
)
"""Keywords that make more of a schema than what it says itself."""
_UNEVALUATED = {OBJECT: "unevaluatedProperties", ARRAY: "unevaluatedItems"}


def expansion_of(expander: Expander, sub: Subschema, kind: str, tracked: bool) -> list[Any]:
    """The alternatives of `sub` among values of type `kind`."""
    schema = sub.schema
    if "$ref" in schema and not sub.dialect.has_ref_siblings:
        return expander.expand(expander.reference(sub), kind, tracked)
    unevaluated = _UNEVALUATED.get(kind)
    closes = unevaluated is not None and unevaluated in schema and sub.dialect.draft >= 2019
    inner = tracked or closes
    alternatives = own_alternatives(expander, sub, kind)
    for factor in _factors(expander, sub, kind, inner):
        if not alternatives:
            break
        alternatives = expander.meet_all(kind, alternatives, factor(), sub.index, inner)
    if closes:
        assert unevaluated is not None
        close = object_keywords.close if kind == OBJECT else array_keywords.close
        goal = expander.child(sub, schema[unevaluated], unevaluated)
        alternatives = [close(shape, goal) for shape in alternatives]
    if inner and not tracked:
        alternatives = [shape.without_evaluated() for shape in alternatives]
    return alternatives


def complement_of(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    """The alternatives of what `sub` does not allow, among values of type `kind`."""
    schema = sub.schema
    if "$ref" in schema and not sub.dialect.has_ref_siblings:
        return expander.expand(complement(expander.reference(sub)), kind)
    lists = [_own_complement(expander, sub, kind)]
    unevaluated = _UNEVALUATED.get(kind)
    if unevaluated in schema and sub.dialect.draft >= 2019 and schema[unevaluated] is not True:
        expander.refuse(unevaluated, (sub.path, unevaluated), "cannot be complemented (not, oneOf or if)")
        return [FULL[kind]]
    for keyword in _REFERENCES:
        if _has_reference(sub, keyword):
            lists.append(expander.expand(complement(expander.reference(sub, keyword)), kind))
    for i, part in enumerate(sub.listing("allOf") or ()):
        lists.append(expander.expand(complement(expander.child(sub, part, "allOf", i)), kind))
    if "anyOf" in schema:
        lists.append(_none_of(expander, sub, "anyOf", kind))
    if "oneOf" in schema:
        lists += (_none_of(expander, sub, "oneOf", kind), _two_of(expander, sub, kind))
    if "not" in schema:
        lists.append(expander.expand(expander.child(sub, schema["not"], "not"), kind))
    if _has_condition(sub):
        lists += _failed_condition(expander, sub, kind)
    if kind == OBJECT:
        for name, goal in _dependent_schemas(expander, sub):
            present = [ObjectShape(required=(name,))]
            lists.append(expander.meet_all(kind, present, expander.expand(complement(goal), kind), sub.index))
    return expander.unite(kind, lists, sub.index)


# --- keywords of one type


def own_alternatives(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    """What the keywords that assert something themselves allow."""
    if not _has_type(sub, kind):
        return []
    if kind == NULL or kind == "boolean":
        return _constants(expander, sub, kind, [FULL[kind]])
    if kind == OBJECT:
        return _constants(expander, sub, kind, object_keywords.alternatives(expander, sub))
    if kind == ARRAY:
        return _constants(expander, sub, kind, array_keywords.alternatives(expander, sub))
    return _constants(expander, sub, kind, scalar_keywords.alternatives(expander, sub, kind))


def _own_complement(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    if not _has_type(sub, kind):
        return [FULL[kind]]
    lists = [_other_than_constants(expander, sub, kind)]
    if kind == OBJECT:
        lists.append(object_keywords.complement_alternatives(expander, sub))
    elif kind == ARRAY:
        lists.append(array_keywords.complement_alternatives(expander, sub))
    elif kind in (NUMBER, "string"):
        lists.append(scalar_keywords.complement_alternatives(expander, sub, kind))
    return expander.unite(kind, lists, sub.index)


def _has_type(sub: Subschema, kind: str) -> bool:
    types = sub.types() if sub.dialect.validates else None
    return types is None or kind in types or (kind == NUMBER and "integer" in types)


def _allowed_values(sub: Subschema) -> list[tuple[str, list[Any]]]:
    """Lists of values of which the value must be one, with the keyword of each."""
    lists: list[tuple[str, list[Any]]] = []
    if not sub.dialect.validates:
        return lists
    if "const" in sub.schema and sub.dialect.draft > 4:
        lists.append(("const", [sub.schema["const"]]))
    enum = sub.listing("enum", may_be_empty=True)
    if enum is not None:
        lists.append(("enum", enum))
    return lists


def _constants(expander: Expander, sub: Subschema, kind: str, alternatives: list[Any]) -> list[Any]:
    """The alternatives that are also among the values of const and enum."""
    for keyword, values in _allowed_values(sub):
        if not alternatives:
            break
        same = [value for value in values if type_of(value) == kind]
        found = _equal_to(expander, sub, kind, same, keyword)
        alternatives = expander.meet_all(kind, alternatives, found, sub.index)
    return alternatives


def _equal_to(expander: Expander, sub: Subschema, kind: str, values: list[Any], keyword: str) -> list[Any]:
    if not values:
        return []
    if kind == NULL:
        return [True]
    if kind == "boolean":
        return [frozenset(values)]
    if kind == OBJECT:
        return [object_keywords.equal_to(expander, sub, value, keyword) for value in values]
    if kind == ARRAY:
        return [array_keywords.equal_to(expander, sub, value, keyword) for value in values]
    return [scalar_keywords.one_of(kind, values)]


def _other_than_constants(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    lists = []
    for keyword, values in _allowed_values(sub):
        same = [value for value in values if type_of(value) == kind]
        if not same:
            return [FULL[kind]]
        lists.append(_different_from(expander, sub, kind, same, keyword))
    return expander.unite(kind, lists, sub.index)


def _different_from(
    expander: Expander, sub: Subschema, kind: str, values: list[Any], keyword: str
) -> list[Any]:
    if kind == NULL:
        return []
    if kind == "boolean":
        rest = frozenset((True, False)) - frozenset(values)
        return [rest] if rest else []
    if kind in (NUMBER, "string"):
        return [scalar_keywords.one_of(kind, values).complement()]
    differ = object_keywords.different_from if kind == OBJECT else array_keywords.different_from
    alternatives = [FULL[kind]]
    for value in values:
        alternatives = expander.meet_all(kind, alternatives, differ(expander, sub, value, keyword), sub.index)
    return alternatives


# --- applicators


def _silent(expander: Expander, goal: Goal, kind: str) -> list[Any]:
    """The alternatives of a goal that only fails schemas, and so evaluates nothing."""
    found = expander.expand(goal, kind)
    return [shape.without_evaluated() for shape in found] if kind in _UNEVALUATED else found


def _has_reference(sub: Subschema, keyword: str) -> bool:
    if keyword not in sub.schema:
        return False
    if keyword == "$ref":
        return True
    return sub.dialect.draft == (2020 if keyword == "$dynamicRef" else 2019)


def _has_condition(sub: Subschema) -> bool:
    schema = sub.schema
    return "if" in schema and ("then" in schema or "else" in schema) and sub.dialect.draft >= 7


def _factors(expander: Expander, sub: Subschema, kind: str, tracked: bool) -> list[Callable[[], list[Any]]]:
    """What else must hold, each to be worked out only if something is left."""
    schema = sub.schema
    factors: list[Callable[[], list[Any]]] = []
    for keyword in _REFERENCES:
        if _has_reference(sub, keyword):
            factors.append(partial(_referenced, expander, sub, keyword, kind, tracked))
    for i, part in enumerate(sub.listing("allOf") or ()):
        factors.append(partial(expander.expand, expander.child(sub, part, "allOf", i), kind, tracked))
    if "anyOf" in schema:
        factors.append(lambda: _any_of(expander, sub, kind, tracked))
    if "oneOf" in schema:
        factors.append(lambda: _one_of(expander, sub, kind, tracked))
    if "not" in schema:
        factors.append(lambda: _silent(expander, complement(expander.child(sub, schema["not"], "not")), kind))
    if _has_condition(sub) or ("if" in schema and tracked and sub.dialect.draft >= 7):
        factors.append(lambda: _condition(expander, sub, kind, tracked))
    if kind == OBJECT:
        for name, goal in _dependent_schemas(expander, sub):
            factors.append(partial(_dependent, expander, sub, name, goal, tracked))
    return factors


def _referenced(expander: Expander, sub: Subschema, keyword: str, kind: str, tracked: bool) -> list[Any]:
    return expander.expand(expander.reference(sub, keyword), kind, tracked)


def _branches(expander: Expander, sub: Subschema, keyword: str) -> list[Goal]:
    branches = sub.listing(keyword)
    assert branches is not None
    return [expander.child(sub, branch, keyword, i) for i, branch in enumerate(branches)]


def _any_of(expander: Expander, sub: Subschema, kind: str, tracked: bool) -> list[Any]:
    branches = _branches(expander, sub, "anyOf")
    if not tracked:
        return expander.unite(kind, (expander.expand(goal, kind) for goal in branches), sub.index)
    # What several branches evaluate together is evaluated: so every set of branches is an alternative. More
    # evaluated means less asked of the rest, so it does no harm that other branches may hold as well.
    sets: list[Any] = []
    for goal in branches:
        found = expander.expand(goal, kind, tracked)
        sets += found + expander.meet_all(kind, sets, found, sub.index, tracked)
    return sets


def _one_of(expander: Expander, sub: Subschema, kind: str, tracked: bool) -> list[Any]:
    branches = [goal for goal in _branches(expander, sub, "oneOf") if kind in expander.types(goal)]
    found = [expander.expand(goal, kind, tracked) for goal in branches]
    live = [i for i, alternatives in enumerate(found) if alternatives]
    overlaps: dict[int, list[int]] = {i: [] for i in live}
    marks = {i: [_marks(expander, shape) for shape in found[i]] for i in live} if kind == OBJECT else {}
    for position, i in enumerate(live):
        for j in live[position + 1 :]:
            check()
            if marks and all(_are_told_apart(one, other) for one in marks[i] for other in marks[j]):
                continue
            if expander.meet_all(kind, found[i], found[j], sub.index):
                overlaps[i].append(j)
                overlaps[j].append(i)
    lists = []
    for i in live:
        alternatives = found[i]
        for j in overlaps[i]:
            alternatives = expander.meet_all(
                kind, alternatives, _silent(expander, complement(branches[j]), kind), sub.index, tracked
            )
        lists.append(alternatives)
    return expander.unite(kind, lists, sub.index, tracked)


class _Marks(NamedTuple):
    """What tells objects apart at once: keys that must be there, and keys with few constant values."""

    required: frozenset[str]
    values: dict[str, frozenset[str]]


def _marks(expander: Expander, shape: ObjectShape) -> _Marks:
    constants = ((name, expander.constants_of(goal)) for name, goal in shape.named.items())
    return _Marks(frozenset(shape.required), {name: values for name, values in constants if values})


def _are_told_apart(one: _Marks, other: _Marks) -> bool:
    """Whether some key must be there and has different values in both."""
    return any(
        name in other.values
        and (name in one.required or name in other.required)
        and values.isdisjoint(other.values[name])
        for name, values in one.values.items()
    )


def _none_of(expander: Expander, sub: Subschema, keyword: str, kind: str) -> list[Any]:
    alternatives = [FULL[kind]]
    for goal in _branches(expander, sub, keyword):
        alternatives = expander.meet_all(
            kind, alternatives, expander.expand(complement(goal), kind), sub.index
        )
    return alternatives


def _two_of(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    """What meets at least two branches of oneOf."""
    found = [expander.expand(goal, kind) for goal in _branches(expander, sub, "oneOf")]
    pairs = ((found[i], found[j]) for j in range(len(found)) for i in range(j))
    return expander.unite(kind, (expander.meet_all(kind, a, b, sub.index) for a, b in pairs), sub.index)


def _condition_goals(expander: Expander, sub: Subschema) -> tuple[Goal, Goal, Goal]:
    condition = expander.child(sub, sub.schema["if"], "if")
    then, otherwise = (
        expander.child(sub, sub.schema[keyword], keyword) if keyword in sub.schema else ANY
        for keyword in ("then", "else")
    )
    return condition, then, otherwise


def _condition(expander: Expander, sub: Subschema, kind: str, tracked: bool) -> list[Any]:
    condition, then, otherwise = _condition_goals(expander, sub)
    holds = expander.meet_all(
        kind,
        expander.expand(condition, kind, tracked),
        expander.expand(then, kind, tracked),
        sub.index,
        tracked,
    )
    fails = expander.meet_all(
        kind,
        _silent(expander, complement(condition), kind),
        expander.expand(otherwise, kind, tracked),
        sub.index,
        tracked,
    )
    return expander.unite(kind, (holds, fails), sub.index, tracked)


def _failed_condition(expander: Expander, sub: Subschema, kind: str) -> list[list[Any]]:
    condition, then, otherwise = _condition_goals(expander, sub)
    return [
        expander.meet_all(
            kind, expander.expand(test, kind), expander.expand(complement(goal), kind), sub.index
        )
        for test, goal in ((condition, then), (complement(condition), otherwise))
    ]


def _dependent_schemas(expander: Expander, sub: Subschema) -> list[tuple[str, Goal]]:
    found: list[tuple[str, Goal]] = []
    if sub.dialect.draft >= 2019:
        for name, schema in sub.mapping("dependentSchemas").items():
            found.append((name, expander.child(sub, schema, "dependentSchemas", name)))
    if "dependencies" in sub.schema:
        for name, schema in sub.mapping("dependencies").items():
            if not isinstance(schema, list):
                found.append((name, expander.child(sub, schema, "dependencies", name)))
    return found


def _dependent(expander: Expander, sub: Subschema, name: str, goal: Goal, tracked: bool) -> list[Any]:
    absent = object_keywords.absent(name)
    present = [ObjectShape(required=(name,))]
    met = expander.meet_all(OBJECT, present, expander.expand(goal, OBJECT, tracked), sub.index, tracked)
    return [absent, *met]
