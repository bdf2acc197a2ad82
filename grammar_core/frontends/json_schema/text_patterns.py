"""Regular sets of strings whose automaton may never be needed."""

from __future__ import annotations

from grammar_core.ir.nodes import Expr
from grammar_core.regular import RegularLanguage


class TextPattern:
    """A regular set of strings as an expression; the automaton is made when it is first asked for.

    `name` is that of the rule that a grammar gets for it, if it is to have one.
    """

    __slots__ = ("_language", "expression", "name")

    def __init__(
        self, expression: Expr, language: RegularLanguage | None = None, *, name: str | None = None
    ) -> None:
        self.expression = expression
        self.name = name
        self._language = language

    @property
    def language(self) -> RegularLanguage:
        """The same set as an automaton. Raises GrammarLimitError."""
        if self._language is None:
            self._language = RegularLanguage.from_expression(self.expression)
        return self._language
