"""Keys that come again in lists whose keys differ.

A chart cannot tell: what has come is not in its items. So texts of grammars with such lists are also read
by the engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from grammar_core.errors import GrammarError
from grammar_core.ir.nodes import Members, Rule
from grammar_core.ir.traversal import walk_rule
from grammar_core.tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from grammar_core.compiled_grammar import CompiledGrammar

_BYTES = [*(bytes([byte]) for byte in range(256)), b""]


class Repetitions:
    """Finds them in texts of one grammar."""

    def __init__(self, rules: tuple[Rule, ...], root: str) -> None:
        self._rules = rules
        self._root = root

    def find(self, data: bytes) -> int | None:
        """Where the quote is that ends a key for the second time in `data`, which is possible otherwise."""
        from grammar_core.matcher import GrammarMatcher

        if self._compiled is None:
            return None
        matcher = GrammarMatcher(self._compiled)
        places = (place for place in range(len(data)) if not matcher.accept_string(data[place : place + 1]))
        return next(places, None)

    @property
    def are_left_out(self) -> bool:
        """Whether there may be some that are not found, because the grammar names tokens."""
        return self._are_possible and self._compiled is None

    @cached_property
    def _are_possible(self) -> bool:
        return any(member.distinct for members in _members(self._rules) for member in members.members)

    @cached_property
    def _compiled(self) -> CompiledGrammar | None:
        from grammar_core.compiler import GrammarCompiler
        from grammar_core.grammar import Grammar

        if not self._are_possible:
            return None
        info = TokenizerInfo(_BYTES, stop_token_ids=[256])
        try:
            return GrammarCompiler(info).compile_grammar(Grammar(self._rules, self._root))
        except GrammarError:
            return None


def _members(rules: Iterable[Rule]) -> Iterable[Members]:
    return (expr for rule in rules for expr in walk_rule(rule) if isinstance(expr, Members))
