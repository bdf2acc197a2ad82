"""Which schema is to blame when a document allows no value at all.

That it allows none comes out when its rules are written or compiled, and only then is it read once more, by
an emitter that knows whose values every rule has. The rules that have no text lead from the root's to the
deepest of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial
from typing import Any

from grammar_core.deadline import check
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.choices import NOTHING
from grammar_core.frontends.json_schema.documents import Documents
from grammar_core.frontends.json_schema.emission import Emitter
from grammar_core.frontends.json_schema.errors import EmptySchemaError
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.goals import NEVER, Goal
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.frontends.json_schema.leaves import RECURRING
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.shapes import ArrayShape, ObjectShape
from grammar_core.ir.derivation_graph import CountOf, DerivationGraph, Leaf
from grammar_core.ir.nodes import Expr, Members, Rule, RuleRef
from grammar_core.ir.traversal import transform_rule, walk_rule

_ALLOWS_NOTHING = "The schema allows no value"
_MAX_NAMED = 3
"""Schemas of one contradiction that the error names."""


def refuse_empty(
    text: str,
    documents: Mapping[str, Any],
    *,
    any_order: bool,
    is_strict: bool,
    loosen: frozenset[str],
) -> None:
    """Raise EmptySchemaError, with the place of the schema to blame, if the schema has no valid value.

    Nothing is raised for other schemas, nor where the search would go beyond a limit, of time for instance.
    """
    try:
        expander = _Expander(Documents(text, documents), loosen=loosen)
        emitter = _Emitter(expander, any_order=any_order, is_strict=is_strict)
        error = emitter.find_contradiction(expander.root_goal())
    except (GrammarError, RecursionError):
        return  # that there is no value is known, and has its own error
    if error is not None:
        raise error


class _Expander(Expander):
    """Keeps the shapes that ask for members or items that cannot be, which are then found among the rules."""

    def is_void_shape(self, shape: ObjectShape | ArrayShape) -> bool:
        return self._void_depth > 0 and super().is_void_shape(shape)

    def simplified(self, goal: Goal) -> Goal:
        return goal


class _Emitter(Emitter):
    """Writes the values of every goal as a rule, also where there are none."""

    def __init__(self, expander: Expander, *, any_order: bool, is_strict: bool) -> None:
        super().__init__(
            expander,
            build_layout(LayoutOptions(any_whitespace=False)),
            lexical="natural",
            any_order=any_order,
            is_strict=is_strict,
            recurring=RECURRING,
        )
        self._rule_of_goal: dict[Goal, RuleRef] = {}
        self._goal_of_rule: dict[str, Goal] = {}

    def value(self, goal: Goal, depth: int, hint: str = "value") -> Expr:
        if goal is NEVER:  # which has no place
            return NOTHING
        found = self._rule_of_goal.get(goal)
        if found is None:
            found = self.add(hint, super().value(goal, depth, hint))
            self._rule_of_goal[goal] = found
            self._goal_of_rule[found.name] = goal
        return found

    def find_contradiction(self, root: Goal) -> EmptySchemaError | None:
        """The error of the schema to blame; None if there is a value."""
        if root is NEVER:
            return EmptySchemaError("The schema is false, which allows no value")
        reference = self.value(root, 0)
        assert isinstance(reference, RuleRef)
        while self._pending:
            check()
            self._pending.pop()()
        graph = _graph((*self.rules, *self.layout.rules), reference.name)
        if graph is None:
            return None
        goals = {graph.rule_parts[name]: goal for name, goal in self._goal_of_rule.items()}
        part, is_endless = _deepest(graph, goals.keys(), graph.rule_parts[reference.name])
        return self._error(goals[part], is_endless)

    def _error(self, goal: Goal, is_endless: bool) -> EmptySchemaError:
        paths = [self.expander.subschema(literal).path for literal in sorted(goal, key=abs)]
        path = paths[0]
        if is_endless:
            why = "each that is valid here would have another such one in it, without end"
        elif len(paths) > 1:
            places = " and at ".join(pointer_of(other) or "the root" for other in paths[1:_MAX_NAMED])
            why = f"nothing meets what is said here and at {places}"
        else:
            path = self._false_member(goal) or path
            why = "nothing is valid here"
        if path is None and len(paths) == 1 and not is_endless:
            return EmptySchemaError(_ALLOWS_NOTHING)
        return EmptySchemaError(f"{_ALLOWS_NOTHING}: {why}", pointer=pointer_of(path))

    def _false_member(self, goal: Goal) -> Path:
        """The place of a required member whose schema is false, if that is the contradiction."""
        sub = self.expander.only_subschema(goal)
        if sub is None:
            return None
        members = sub.mapping("properties")
        name = next((name for name in sub.names("required") if members.get(name) is False), None)
        return None if name is None else ((sub.path, "properties"), name)


def _graph(rules: tuple[Rule, ...], root: str) -> DerivationGraph | None:
    """The graph of the rules; None if the root has a text."""
    while True:
        graph = DerivationGraph(rules)
        if graph.cost_of_rule(root) is None:
            return graph
        # The graph does not count the members that can be, of which some lists need more than there are.
        if not any(_is_too_short(expr, graph) for rule in rules for expr in walk_rule(rule)):
            return None
        rules = tuple(transform_rule(rule, partial(_without_short, graph=graph)) for rule in rules)


def _without_short(expr: Expr, graph: DerivationGraph) -> Expr:
    return NOTHING if _is_too_short(expr, graph) else expr


def _is_too_short(expr: Expr, graph: DerivationGraph) -> bool:
    """Whether it is a list with fewer members than it needs."""
    check()
    if not isinstance(expr, Members):
        return False
    possible = [member for member in expr.members if graph.cost_of_rule(member.rule.name) is not None]
    return len(possible) < expr.min and not any(member.repeatable for member in possible)


def _deepest(graph: DerivationGraph, values: Set[int], root: int) -> tuple[int, bool]:
    """The first part of `values`, from the root's, without one that has no text below it.

    Where all have such ones they are in each other: then one of the innermost circle, and True.
    """
    seen: set[int] = set()
    circular: int | None = None
    pending = [root]
    while pending:
        check()
        part = pending.pop()
        if part in seen:
            continue
        seen.add(part)
        below = _below(graph, values, part)
        if not below:
            return part, False
        new = [other for other in below if other not in seen]
        if not new and circular is None:
            circular = part
        pending.extend(reversed(new))
    assert circular is not None
    return circular, True


def _below(graph: DerivationGraph, values: Set[int], part: int) -> list[int]:
    """The parts of `values` nearest below a part that have no text either, in their order."""
    found: list[int] = []
    seen: set[int] = set()
    pending = _children(graph, part)
    while pending:
        check()
        inner = pending.pop()
        if inner in seen or inner in graph.cheapest:
            continue
        seen.add(inner)
        if inner in values:
            found.append(inner)
        else:
            pending += _children(graph, inner)
    return found


def _children(graph: DerivationGraph, number: int) -> list[int]:
    """The parts of a part, the last one first."""
    part = graph.parts[number]
    if isinstance(part, Leaf):
        return []
    return [part.part] if isinstance(part, CountOf) else part.parts[::-1]
