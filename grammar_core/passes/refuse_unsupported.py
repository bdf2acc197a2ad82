"""Refuses what the native core cannot enforce yet, by name, so that nothing is accepted and ignored.

The table says what that is; an entry is deleted when the core learns to enforce it.
"""

from __future__ import annotations

from collections.abc import Iterable

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.ir.nodes import Rule

SUPPORTS_LOOKAHEAD = False


def refuse_unsupported(rules: Iterable[Rule]) -> None:
    """Raise UnsupportedFeatureError for the first rule that asks for what cannot be enforced."""
    for rule in rules:
        if rule.lookahead is not None and not SUPPORTS_LOOKAHEAD:
            raise UnsupportedFeatureError(f'Rule "{rule.name}" has a lookahead (= …), which is not supported')
