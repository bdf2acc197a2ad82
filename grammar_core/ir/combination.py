"""Grammars put together: rules of all of them under names of their own, and a new root."""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.ir.nodes import Expr, Rule, RuleOptions, RuleRef
from grammar_core.ir.right_linear import FreeNames
from grammar_core.ir.traversal import transform_rule

_ROOT = "root"


def gather_rules(grammars: Iterable[tuple[tuple[Rule, ...], str]]) -> tuple[list[Rule], list[RuleRef]]:
    """The rules of all grammars, given as rules and root, and a reference to the root of each.

    A name that was taken before, or is `root`, gets a number. The first rule of the result is to be put
    before them: rule ids in options are counted with it.
    """
    grammars = list(grammars)
    taken = {rule.name for rules, _ in grammars for rule in rules} | {_ROOT}
    free = FreeNames(set(taken))
    used = {_ROOT}
    gathered: list[Rule] = []
    roots: list[RuleRef] = []
    for rules, root in grammars:
        names = {rule.name: free.new(rule.name) if rule.name in used else rule.name for rule in rules}
        used.update(names.values())
        roots.append(RuleRef(names[root]))
        before = len(gathered) + 1
        is_renamed = any(old != new for old, new in names.items())
        gathered += (_moved(rule, names if is_renamed else None, before) for rule in rules)
    return gathered, roots


def _moved(rule: Rule, names: dict[str, str] | None, rules_before: int) -> Rule:
    """The rule with other names, if there are any, and its rule ids counted anew."""
    if names is None:
        options = _shifted_options(rule, rules_before)
        return rule if options is rule.options else rule._replace(options=options)

    def renamed(expr: Expr) -> Expr:
        return RuleRef(names[expr.name]) if isinstance(expr, RuleRef) else expr

    moved = transform_rule(rule, renamed)
    return moved._replace(name=names[rule.name], options=_shifted_options(rule, rules_before))


def _shifted_options(rule: Rule, rules_before: int) -> RuleOptions:
    """The options of the rule when so many rules are put before all that it counts."""
    body, marker = rule.options.capture_hidden_body_rule_id, rule.options.capture_hidden_marker_rule_id
    if body is None or marker is None:
        return rule.options
    return rule.options._replace(
        capture_hidden_body_rule_id=body + rules_before, capture_hidden_marker_rule_id=marker + rules_before
    )
