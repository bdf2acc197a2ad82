"""OtherTexts as an automaton: the difference of two regular languages."""

from __future__ import annotations

from grammar_core.ir.nodes import Expr, OtherTexts, Repeat
from grammar_core.regular import RegularLanguage


def expand_other_texts(others: OtherTexts) -> Expr:
    """The automaton of all texts but those. Raises GrammarLimitError."""
    every = RegularLanguage.from_expression(Repeat(others.item, 0, None))
    return every.subtract(RegularLanguage.of_texts(others.texts)).to_expression()
