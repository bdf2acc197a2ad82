"""Refuses what the native core cannot enforce yet, by name, so that nothing is accepted and ignored.

The table says what that is; an entry is deleted when the core learns to enforce it.
"""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.ir.nodes import NO_OPTIONS, Rule

UNSUPPORTED_OPTIONS = frozenset(
    {
        "capture_hidden_suffix_bytes",
        "capture_hidden_stop_bytes",
        "capture_hidden_body_rule_id",
        "capture_hidden_marker_rule_id",
        "stop_capture",
    }
)

SUPPORTS_LOOKAHEAD = False


def refuse_unsupported(rules: Iterable[Rule]) -> None:
    """Raise UnsupportedFeatureError for the first rule that asks for what cannot be enforced."""
    for rule in rules:
        if rule.options != NO_OPTIONS:
            _refuse_options(rule)
        if rule.lookahead is not None and not SUPPORTS_LOOKAHEAD:
            raise UnsupportedFeatureError(f'Rule "{rule.name}" has a lookahead (= …), which is not supported')


def _refuse_options(rule: Rule) -> None:
    for option, value in rule.options._asdict().items():
        if option in UNSUPPORTED_OPTIONS and value is not None and value is not False:
            raise UnsupportedFeatureError(
                f'Rule "{rule.name}" has the option {option}, which is not supported'
            )
