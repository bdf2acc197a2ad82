"""Fields that only say more about a constraint which another field states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grammar_core.frontends.json_schema.frontend import check_options
from server.constraints.constraint import Constraint
from server.constraints.sources import EbnfSource, JsonSource, LarkSource
from server.errors import ApiError, invalid_request
from server.schemas.constraint_fields import ConstraintFields
from server.schemas.response_format import StructuredOutputs


def with_options(
    request: ConstraintFields, constraint: Constraint | None, *, has_tools: bool
) -> Constraint | None:
    """The constraint as the options change it. Those about JSON are also about the arguments of tools.

    Raises:
        ApiError: 400 for an option that belongs to another kind of constraint or that is given twice.
    """
    if request.named_grammars is not None:
        constraint = _with_named_grammars(request.named_grammars, constraint)
    if request.grammar_rules is not None:
        constraint = _with_rules(request.grammar_rules, constraint)
    return _with_json_options(request, constraint, has_tools)


def _with_named_grammars(named: dict[str, str], constraint: Constraint | None) -> Constraint:
    if constraint is None or not isinstance(constraint.source, LarkSource):
        raise _misplaced("named_grammars", "a Lark grammar such as guided_lark")
    return replace(constraint, source=replace(constraint.source, named=tuple(named.items())))


def _with_rules(rules: dict[str, str | list[str]], constraint: Constraint | None) -> Constraint:
    if constraint is None or not isinstance(constraint.source, EbnfSource):
        raise _misplaced("grammar_rules", "a grammar in EBNF: guided_grammar or grammar_ref")
    for name, body in rules.items():
        if not body:
            param = f"grammar_rules.{name}"
            raise invalid_request(f"{param} is empty; it needs at least one text.", param=param)
    replacements = tuple(
        (name, body if isinstance(body, str) else tuple(body)) for name, body in rules.items()
    )
    return replace(constraint, source=replace(constraint.source, replacements=replacements))


def _with_json_options(
    request: ConstraintFields, constraint: Constraint | None, has_tools: bool
) -> Constraint | None:
    for param, changes in _json_options(request).items():
        if constraint is None and has_tools and param.startswith("guided_"):
            continue
        if constraint is None or not isinstance(constraint.source, JsonSource):
            raise _misplaced(param, "a JSON constraint such as guided_json")
        constraint = replace(constraint, source=replace(constraint.source, **changes))
    return constraint


def _json_options(request: ConstraintFields) -> dict[str, dict[str, Any]]:
    """By field that is set, what it changes in the constraint's source."""
    outputs = request.structured_outputs or StructuredOutputs()
    options = _white_space(request, outputs)
    if outputs.disable_additional_properties:
        options["structured_outputs.disable_additional_properties"] = {"closed": True}
    for param, keywords in (
        ("guided_json_loosen", request.guided_json_loosen),
        ("structured_outputs.loosen", outputs.loosen),
    ):
        if keywords is not None:
            options[param] = {"loosen": loosened(keywords, param)}
    return options


def _white_space(request: ConstraintFields, outputs: StructuredOutputs) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {}
    for param, pattern in (
        ("guided_whitespace_pattern", request.guided_whitespace_pattern),
        ("structured_outputs.whitespace_pattern", outputs.whitespace_pattern),
    ):
        if pattern is not None:
            given[param] = {"whitespace": pattern, "whitespace_param": param}
    if outputs.disable_any_whitespace:
        given["structured_outputs.disable_any_whitespace"] = {"whitespace": None}
    if len(given) > 1:
        message = f"The white space is determined twice, by {' and '.join(given)}."
        raise invalid_request(message, param=list(given)[1], code="conflicting_constraints")
    return given


def loosened(keywords: list[str], param: str) -> tuple[str, ...]:
    """Keywords that need not be enforced where that is impossible. Raises ApiError, 400, for others."""
    try:
        check_options("natural", keywords)
    except ValueError as error:
        raise invalid_request(f"{error}.", param=param) from None
    return tuple(sorted(set(keywords)))


def _misplaced(param: str, wanted: str) -> ApiError:
    return invalid_request(f"'{param}' only goes with {wanted}.", param=param)
