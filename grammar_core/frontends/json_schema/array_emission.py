"""Array shapes to expressions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from grammar_core.deadline import check, check_now
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.endless_items import endless_items
from grammar_core.frontends.json_schema.errors import JsonSchemaLimitError
from grammar_core.frontends.json_schema.expansion import item_goal
from grammar_core.frontends.json_schema.finite_items import finite_constants
from grammar_core.frontends.json_schema.goals import ANY, NEVER, Goal, complement, join
from grammar_core.frontends.json_schema.item_counts import (
    count_caps,
    counted_goals,
    counts_after,
    is_complete,
)
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.shapes import ArrayShape, ItemRule
from grammar_core.ir.nodes import (
    EMPTY,
    Automaton,
    Choice,
    Edge,
    Expr,
    Literal,
    Member,
    Members,
    Repeat,
    RuleRef,
    Sequence,
)

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.emission import Emitter

MAX_COUNTED_STATES = 5_000
MAX_UNIQUE_ARRAYS = 2_000
MAX_UNIQUE_MEMBERS = 5_000
MAX_UNIQUE_STEPS = 20_000
MAX_ITEM_CLASSES = 8
_OPEN, _CLOSE = Literal(b"["), Literal(b"]")


def emit(emitter: Emitter, shape: ArrayShape, depth: int) -> list[Expr]:
    """Expressions that together match the arrays of the shape."""
    shape = _settled(emitter, shape)
    if shape.max is not None and shape.min > shape.max:
        return []
    if shape.unique is not None and (shape.max is None or shape.max > 1) and not _is_distinct(emitter, shape):
        items = _unique_items(emitter, shape, depth)
    else:
        items = _free_items(emitter, shape, depth)
    return _brackets(emitter, items, shape.min == 0 and all(c.min == 0 for c in shape.contains), depth)


def any_array(emitter: Emitter, value: RuleRef) -> Expr:
    """Arrays of any length with these items."""
    items = Sequence((value, Repeat(Sequence((emitter.layout.comma, value)), 0, None)))
    gap = emitter.layout.gap
    inside = items if gap is None else Sequence((items, gap))
    return _enclosed(emitter, Choice((EMPTY, inside)))


def _settled(emitter: Emitter, shape: ArrayShape) -> ArrayShape:
    """The shape with its length cut to where no further item can be."""
    if emitter.is_strict and shape.declared and not shape.is_open:
        shape = replace(shape, rules=(*shape.rules, ItemRule(shape.declared, None, NEVER)))
    high = shape.max
    starts = sorted({0, *(rule.start for rule in shape.rules)})
    for start in starts:
        if item_goal(shape, start) is NEVER and (high is None or high > start):
            high = start
            break
    return shape if high == shape.max else replace(shape, max=high)


def _boundary(shape: ArrayShape) -> int:
    """The first position from which on all items have the same goal."""
    ends = [rule.start if rule.stop is None else rule.stop for rule in shape.rules]
    ends += (contains.start for contains in shape.contains)
    boundary = max(ends, default=0)
    return boundary if shape.max is None else min(boundary, shape.max)


def _free_items(emitter: Emitter, shape: ArrayShape, depth: int) -> Expr | None:
    """One item or more of a shape, whether unique or not; None if there can be none."""
    is_counted = shape.contains or any(rule.unless for rule in shape.rules)
    return (_counted_items if is_counted else _plain_items)(emitter, shape, depth)


def _plain_items(emitter: Emitter, shape: ArrayShape, depth: int) -> Expr | None:
    """One item or more, without brackets; None if there can be none."""
    if shape.max == 0:
        return None
    comma = _comma(emitter, depth)
    boundary = _boundary(shape)
    pieces: list[Expr] = []
    if shape.max is None or shape.max > boundary:
        goal = item_goal(shape, boundary)
        item = emitter.item(goal, depth + 1)
        low = max(shape.min - boundary, 0)
        high = None if shape.max is None else shape.max - boundary
        if boundary:
            pieces = [Repeat(Sequence((comma, item)), low, high)]
        else:
            further = None if high is None else high - 1
            pieces = (
                [item] if further == 0 else [item, Repeat(Sequence((comma, item)), max(low - 1, 0), further)]
            )
    for i in range(boundary - 1, -1, -1):
        check_now()
        item = emitter.item(item_goal(shape, i), depth + 1)
        pieces = [item, *pieces] if i == 0 else [comma, item, *pieces]
        if i >= shape.min and i > 0:
            pieces = [Repeat(Sequence(tuple(pieces)), 0, 1)]
    return Sequence(tuple(pieces))


# --- items of which some are counted


def _item_classes(emitter: Emitter, shape: ArrayShape) -> list[tuple[Goal, dict[Goal, bool]]]:
    """A partition of all values by the goals that are counted or spared."""
    counted = counted_goals(shape)
    if len(counted) > MAX_ITEM_CLASSES:
        raise JsonSchemaLimitError(
            f"More than {MAX_ITEM_CLASSES} contains apply to one array",
            limit="item_classes",
            value=MAX_ITEM_CLASSES,
            pointer=pointer_of(shape.path),
            keyword="contains",
        )
    classes = []
    for bits in product((True, False), repeat=len(counted)):
        meets = dict(zip(counted, bits, strict=True))
        goal = ANY
        for one, is_met in meets.items():
            goal = join(goal, one if is_met else complement(one))
        if goal is not NEVER:
            classes.append((goal, meets))
    return classes


def _goal_in_class(shape: ArrayShape, index: int, goal: Goal, meets: dict[Goal, bool]) -> Goal:
    for rule in shape.rules:
        covers = rule.start <= index and (rule.stop is None or index < rule.stop)
        if covers and not any(meets[spared] for spared in rule.unless):
            goal = join(goal, rule.goal)
    return goal


def _counted_items(emitter: Emitter, shape: ArrayShape, depth: int) -> Expr | None:
    """An automaton: a state is a position, as far as it matters, and how many items met each contains."""
    classes = _item_classes(emitter, shape)
    boundary = _boundary(shape)
    last = max(boundary, shape.min if shape.max is None else shape.max)
    caps = count_caps(shape)
    if last > boundary and last > 64 and boundary == 0 and len(shape.contains) == 1:
        found = _counted_members(emitter, shape, classes, depth)
        if found is not None:
            return found
    comma = _comma(emitter, depth)
    start = (0, (0,) * len(caps))
    numbers = {start: 0}
    pending = [start]
    edges: list[Edge] = []
    accepting = []
    while pending:
        check_now()
        state = pending.pop()
        position, counts = state
        if is_complete(shape, position, counts):
            accepting.append(numbers[state])
        if shape.max is not None and position >= shape.max:
            continue
        for class_goal, meets in classes:
            goal = _goal_in_class(shape, position, class_goal, meets)
            following = counts_after(shape, position, counts, caps, meets)
            if following is None or emitter.expander.is_void(goal):
                continue
            target = (min(position + 1, max(last, 1)), following)
            if target not in numbers:
                if len(numbers) >= MAX_COUNTED_STATES:
                    raise _too_many_states(shape)
                numbers[target] = len(numbers)
                pending.append(target)
            item = emitter.item(goal, depth + 1)
            label = emitter.define("item", item if position == 0 else Sequence((comma, item)))
            edges.append((numbers[state], numbers[target], label))
    accepting = [state for state in accepting if state]
    if not accepting:
        return None
    return Automaton(tuple(edges), tuple(accepting), len(numbers))


def _too_many_states(shape: ArrayShape) -> JsonSchemaLimitError:
    path = next((c.path for c in shape.contains), shape.path)
    return JsonSchemaLimitError(
        f"contains with minItems, maxItems and other contains needs more than {MAX_COUNTED_STATES:,} states",
        limit="counted_states",
        value=MAX_COUNTED_STATES,
        pointer=pointer_of(path),
        keyword="contains",
    )


def _counted_members(
    emitter: Emitter, shape: ArrayShape, classes: list[tuple[Goal, dict[Goal, bool]]], depth: int
) -> Expr | None:
    """For one contains that asks for one item, in an array whose length has large bounds."""
    (contains,) = shape.contains
    if contains.min != 1 or contains.max is not None:
        return None
    specs = []
    for class_goal, meets in classes:
        goal = _goal_in_class(shape, 0, class_goal, meets)
        if not emitter.expander.is_void(goal):
            rule = emitter.define("item", emitter.item(goal, depth + 1))
            specs.append(Member(rule, meets[contains.goal], True))
    if not any(spec.required for spec in specs):
        return None
    return Members(tuple(specs), _comma(emitter, depth), False, max(shape.min, 1), shape.max, ())


# --- items of which no two are equal


def _is_distinct(emitter: Emitter, shape: ArrayShape) -> bool:
    """Whether items at different positions can never be equal."""
    if shape.max is None or shape.max > 16:
        return False
    goals = [item_goal(shape, i) for i in range(shape.max)]
    return all(
        emitter.expander.is_void(join(goals[i], goals[j])) for j in range(len(goals)) for i in range(j)
    )


class _Value(NamedTuple):
    """One value as an item: its goal, and which of the goals that are counted or spared it meets."""

    goal: Goal
    meets: dict[Goal, bool]


def _unique_items(emitter: Emitter, shape: ArrayShape, depth: int) -> Expr | None:
    assert shape.unique is not None
    is_uniform = not _boundary(shape)
    values = _finite_values_at(emitter, shape, 0) if is_uniform else None
    if values is None and is_uniform and not shape.contains and not any(r.unless for r in shape.rules):
        endless = endless_items(emitter, shape, _comma(emitter, depth), depth)
        if endless is not None:
            return endless
    if values is None:
        return _unique_arrays(emitter, shape, depth)
    shape = _without_uniform(shape, values)
    selections = _selections(shape, list(values.values()))
    if selections is None:
        emitter.expander.refuse("uniqueItems", shape.unique, "allows too many choices of items with contains")
        return _free_items(emitter, shape, depth)
    options: list[Expr] = []
    for required, optional in selections:
        if len(required) + len(optional) < max(shape.min, 1) or (shape.max or shape.min) < shape.min:
            continue
        specs = [
            Member(emitter.define("item", emitter.item(goal, depth + 1)), is_required, False)
            for goals, is_required in ((required, True), (optional, False))
            for goal in goals
        ]
        comma = _comma(emitter, depth)
        options.append(Members(tuple(specs), comma, False, max(shape.min, 1), shape.max, ()))
    return choice(options) if options else None


def _without_uniform(shape: ArrayShape, values: dict[str, _Value]) -> ArrayShape:
    """The shape with the counts of what every value meets as those of all items."""
    uniform = [c for c in shape.contains if all(value.meets[c.goal] for value in values.values())]
    highs = [high for high in (shape.max, *(c.max for c in uniform)) if high is not None]
    return replace(
        shape,
        contains=tuple(c for c in shape.contains if c not in uniform),
        min=max(shape.min, *(c.min for c in uniform), 0),
        max=min(highs, default=None),
    )


def _selections(shape: ArrayShape, values: list[_Value]) -> list[tuple[list[Goal], list[Goal]]] | None:
    """Which values come and which may come, for each choice that contains leaves; None if they are too many.

    No array is in two of the selections.
    """
    found: list[tuple[list[Goal], list[Goal]]] = []
    caps = count_caps(shape)
    pending: list[tuple[int, tuple[int, ...], list[Goal], list[Goal]]] = [(0, (0,) * len(caps), [], [])]
    for _ in range(MAX_UNIQUE_STEPS):
        check()
        if not pending:
            return found
        index, counts, required, optional = pending.pop()
        if index == len(values):
            if is_complete(shape, shape.min, counts):
                if found and (len(found) + 1) * len(values) > MAX_UNIQUE_MEMBERS:
                    return None
                found.append((required, optional))
            continue
        value = values[index]
        is_settled = all(
            not value.meets[c.goal] or (c.max is None and count >= c.min)
            for c, count in zip(shape.contains, counts, strict=True)
        )
        if is_settled:
            pending.append((index + 1, counts, required, [*optional, value.goal]))
            continue
        if _can_complete(shape, counts, values[index + 1 :]):
            pending.append((index + 1, counts, required, optional))
        following = counts_after(shape, 0, counts, caps, value.meets)
        if following is not None and (shape.max is None or len(required) < shape.max):
            pending.append((index + 1, following, [*required, value.goal], optional))
    return None


def _can_complete(shape: ArrayShape, counts: tuple[int, ...], values: list[_Value]) -> bool:
    """Whether there are values enough for every contains."""
    return all(
        count + sum(value.meets[c.goal] for value in values) >= c.min
        for c, count in zip(shape.contains, counts, strict=True)
    )


def _unique_arrays(emitter: Emitter, shape: ArrayShape, depth: int) -> Expr | None:
    """Every array, if they are few."""
    unique: Path = shape.unique
    caps = count_caps(shape)
    arrays: list[tuple[dict[str, Goal], tuple[int, ...]]] = [({}, (0,) * len(caps))]
    complete: list[dict[str, Goal]] = []
    length = 0
    while arrays and (shape.max is None or length < shape.max):
        values = _finite_values_at(emitter, shape, length)
        if values is None or len(complete) > MAX_UNIQUE_ARRAYS:
            emitter.expander.refuse(
                "uniqueItems", unique, "can only be enforced for endless strings and items of few values"
            )
            return _free_items(emitter, shape, depth)
        longer = []
        for array, counts in arrays:
            for identifier, value in values.items():
                check()
                following = counts_after(shape, length, counts, caps, value.meets)
                if identifier not in array and following is not None:
                    longer.append(({**array, identifier: value.goal}, following))
        arrays = longer
        length += 1
        complete += (array for array, counts in arrays if is_complete(shape, length, counts))
        if len(arrays) > MAX_UNIQUE_ARRAYS:
            emitter.expander.refuse("uniqueItems", unique, "allows too many different arrays")
            return _free_items(emitter, shape, depth)
    comma = _comma(emitter, depth)
    options: list[Expr] = []
    for array in complete:
        pieces: list[Expr] = []
        for goal in array.values():
            pieces += [comma] if pieces else []
            pieces.append(emitter.item(goal, depth + 1))
        options.append(Sequence(tuple(pieces)))
    return choice(options) if options else None


def _finite_values_at(emitter: Emitter, shape: ArrayShape, index: int) -> dict[str, _Value] | None:
    """An item's values by their identities; None if they are too many, or what they meet is not known."""
    common = item_goal(shape, index)
    constants = finite_constants(emitter, common)
    if constants is None:
        return None
    expander = emitter.expander
    values: dict[str, _Value] = {}
    for identifier, constant in constants.items():
        meets: dict[Goal, bool] = {}
        for counted in counted_goals(shape):
            meets[counted] = expander.is_void(join(constant, complement(counted)))
            if not meets[counted] and not expander.is_void(join(constant, counted)):
                return None
        goal = _goal_in_class(shape, index, join(common, constant), meets)
        if not expander.is_void(goal):
            values[identifier] = _Value(goal, meets)
    return values


# --- brackets


def _comma(emitter: Emitter, depth: int) -> RuleRef:
    layout = emitter.layout
    return layout.comma if layout.indent is None else emitter.indented_comma(depth + 1)


def _brackets(emitter: Emitter, items: Expr | None, may_be_empty: bool, depth: int) -> list[Expr]:
    layout = emitter.layout
    if items is None:
        if not may_be_empty:
            return []
        return [Literal(b"[]") if layout.gap is None else _enclosed(emitter, EMPTY)]
    if layout.indent is not None:
        full: Expr = Sequence((_OPEN, layout.line(depth + 1), items, layout.line(depth), _CLOSE))
        return [Choice((Literal(b"[]"), full)) if may_be_empty else full]
    inside = items if layout.gap is None else Sequence((items, layout.gap))
    return [_enclosed(emitter, Choice((EMPTY, inside)) if may_be_empty else inside)]


def _enclosed(emitter: Emitter, inside: Expr) -> Expr:
    """The inside, which ends with its own gap, between brackets."""
    gap = emitter.layout.gap
    begin, end = emitter.array_brackets
    return Sequence((begin, inside, end)) if gap is None else Sequence((begin, gap, inside, end))
