"""Where the markers of rules begin that do not say it: those that dispatches end with."""

from __future__ import annotations

from grammar_core.errors import GrammarError
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import (
    NO_OPTIONS,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleOptions,
    Sequence,
    TagDispatch,
    child_expressions,
    marker_rule_ids,
)
from grammar_core.ir.right_linear import FreeNames

_ANY_TEXT = Repeat(CharClass(ANY_CHARACTER), 0, None)


def resolve_markers(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules, in their places, with rules added that tell the markers of dispatches.

    A rule that is a TagDispatch ends with a marker where it ends with a tag whose rule is empty: free text
    without a tag has none. Raises GrammarError where a marker cannot be told.
    """
    if not any(rule.options is not NO_OPTIONS and _hides(rule.options) for rule in rules):
        return rules
    names = FreeNames({rule.name for rule in rules})
    by_name = {rule.name: rule for rule in rules}
    resolved, added = list(rules), list[Rule]()
    for index, rule in enumerate(rules):
        if not _hides(rule.options):
            continue
        _check_options(rule)
        dispatch = _unwrapped(rule.body)
        if not isinstance(dispatch, TagDispatch) or marker_rule_ids(rule.options):
            continue
        body_id = len(rules) + len(added)
        added.append(Rule(names.new(f"{rule.name}_body"), _ANY_TEXT))
        added.append(Rule(names.new(f"{rule.name}_marker"), _tags(rule, dispatch, by_name)))
        options = rule.options._replace(
            capture_hidden_body_rule_id=body_id, capture_hidden_marker_rule_id=body_id + 1
        )
        resolved[index] = rule._replace(options=options)
    return (*resolved, *added)


def _hides(options: RuleOptions) -> bool:
    return (
        options.capture_hidden_suffix_bytes is not None
        or options.capture_hidden_stop_bytes is not None
        or options.capture_hidden_body_rule_id is not None
        or options.stop_capture is not None
    )


def _check_options(rule: Rule) -> None:
    options = rule.options
    has_budget = options.max_tokens is not None or options.max_chars is not None
    # What may end early is followed inside of one frame, which only lazy rules have for all of their body.
    if has_budget and not options.lazy and marker_rule_ids(options):
        raise GrammarError(f'Rule "{rule.name}" has a budget and rules for its marker, but is not lazy')
    if not marker_rule_ids(options) and (
        options.capture_hidden_suffix_bytes is None and options.capture_hidden_stop_bytes is None
    ):
        raise GrammarError(f'Rule "{rule.name}" has a stop_capture, but no marker that it could capture')


def _tags(rule: Rule, dispatch: TagDispatch, by_name: dict[str, Rule]) -> Choice:
    """The tags that a dispatch may end with."""
    length = max(rule.options.capture_hidden_suffix_bytes or 0, rule.options.capture_hidden_stop_bytes or 0)
    tags = [
        Literal(tag.encode())
        for tag, after in dispatch.tags
        if len(tag.encode()) == length and _is_empty(by_name[after.name].body)
    ]
    if not tags:
        raise GrammarError(
            f'Rule "{rule.name}" has a marker of {length} bytes, but its TagDispatch has no tag of so many '
            "bytes whose rule is empty"
        )
    return Choice(tuple(tags))


def _is_empty(body: Expr) -> bool:
    expr = _unwrapped(body)
    return (isinstance(expr, Literal) and not expr.value) or (type(expr) is Sequence and not expr.items)


def _unwrapped(expr: Expr) -> Expr:
    while type(expr) in (Sequence, Choice) and len(child_expressions(expr)) == 1:
        expr = child_expressions(expr)[0]
    return expr
