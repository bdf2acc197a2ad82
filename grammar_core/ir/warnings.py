"""Rules that are of no use: most likely the author's mistakes, though the grammar can be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from grammar_core.ir.derivation_graph import DerivationGraph
from grammar_core.ir.nodes import Rule, RuleRef, marker_rule_ids
from grammar_core.ir.traversal import walk_rule


class GrammarWarning(NamedTuple):
    """A rule that is never used (`unreachable`), or that matches no finite text (`unproductive`)."""

    rule: str
    kind: Literal["unreachable", "unproductive"]

    @property
    def message(self) -> str:
        """What is wrong, in words."""
        if self.kind == "unreachable":
            return f'Rule "{self.rule}" is never used'
        return f'Rule "{self.rule}" cannot match any finite text'

    def __str__(self) -> str:
        return self.message


def find_warnings(rules: Iterable[Rule], root: str) -> tuple[GrammarWarning, ...]:
    """The warnings about rules, in the order of the rules."""
    rules = tuple(rules)
    reachable = _reachable(rules, root)
    graph = DerivationGraph(rules)
    warnings: list[GrammarWarning] = []
    for rule in rules:
        if rule.name not in reachable:
            warnings.append(GrammarWarning(rule.name, "unreachable"))
        if graph.cost_of_rule(rule.name) is None:
            warnings.append(GrammarWarning(rule.name, "unproductive"))
    return tuple(warnings)


def _reachable(rules: tuple[Rule, ...], root: str) -> set[str]:
    by_name = {rule.name: rule for rule in rules}
    reached, pending = {root}, [root]
    while pending:
        rule = by_name[pending.pop()]
        named = {expr.name for expr in walk_rule(rule) if isinstance(expr, RuleRef)}
        named.update(rules[rule_id].name for rule_id in marker_rule_ids(rule.options))
        pending += named - reached
        reached |= named
    return reached
