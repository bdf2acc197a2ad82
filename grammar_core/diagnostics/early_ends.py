"""Rules that may end before their marker, written so that the places where they may are visible."""

from __future__ import annotations

from grammar_core.ir.derivation_graph import DerivationGraph
from grammar_core.ir.nodes import EMPTY, Rule, RuleRef, Sequence, marker_rule_ids


def ends_early(rule: Rule) -> bool:
    """Whether the rule may end before its marker once its characters are used up."""
    return rule.options.max_chars is not None and bool(marker_rule_ids(rule.options))


def split_markers(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules, of which those that may end early are what stands before the marker and the marker.

    A rule that ends early before anything is read is the empty text.
    """
    if not any(map(ends_early, rules)):
        return rules
    graph = DerivationGraph(rules)
    return tuple(_split(rule, rules, graph) if ends_early(rule) else rule for rule in rules)


def _split(rule: Rule, rules: tuple[Rule, ...], graph: DerivationGraph) -> Rule:
    body, marker = (rules[rule_id].name for rule_id in marker_rule_ids(rule.options))
    cost = graph.cost_of_rule(body)
    if rule.options.max_chars == 0 and cost is not None and cost.characters == 0:
        return rule._replace(body=EMPTY)
    return rule._replace(body=Sequence((RuleRef(body), RuleRef(marker))))
