"""Refuses what the native core cannot enforce yet, by name, so that nothing is accepted and ignored.

The tables say what that is; an entry is deleted when the core learns to enforce it.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.ir.nodes import NO_OPTIONS, Expr, Rule, TokenSet, TokenTagDispatch
from grammar_core.ir.traversal import node_kinds

UNSUPPORTED_OPTIONS = frozenset(
    {
        "max_tokens",
        "max_chars",
        "capture",
        "lazy",
        "temperature",
        "capture_hidden_suffix_bytes",
        "capture_hidden_stop_bytes",
        "capture_hidden_body_rule_id",
        "capture_hidden_marker_rule_id",
        "stop_capture",
    }
)

UNSUPPORTED_NODES: MappingProxyType[type[Expr], str] = MappingProxyType(
    {
        TokenSet: "Token and ExcludeToken",
        TokenTagDispatch: "TokenTagDispatch",
    }
)

SUPPORTS_LOOKAHEAD = False


def refuse_unsupported(rules: Iterable[Rule]) -> None:
    """Raise UnsupportedFeatureError for the first rule that asks for what cannot be enforced."""
    rules = tuple(rules)
    for rule in rules:
        if rule.options != NO_OPTIONS:
            _refuse_options(rule)
        if rule.lookahead is not None and not SUPPORTS_LOOKAHEAD:
            raise UnsupportedFeatureError(f'Rule "{rule.name}" has a lookahead (= …), which is not supported')
    if node_kinds(rules) & UNSUPPORTED_NODES.keys():
        _refuse_nodes(rules)


def _refuse_options(rule: Rule) -> None:
    for option, value in rule.options._asdict().items():
        if option in UNSUPPORTED_OPTIONS and value is not None and value is not False:
            raise UnsupportedFeatureError(
                f'Rule "{rule.name}" has the option {option}, which is not supported'
            )


def _refuse_nodes(rules: tuple[Rule, ...]) -> None:
    for rule in rules:
        for kind in node_kinds([rule]):
            if kind in UNSUPPORTED_NODES:
                what = UNSUPPORTED_NODES[kind]
                raise UnsupportedFeatureError(f'Rule "{rule.name}" uses {what}, which is not supported')
